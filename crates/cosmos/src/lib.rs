//! The NoSQL door: the Azure Cosmos DB REST API over the engine. The only crate that knows that
//! protocol.

mod batch;
mod charge;
mod container;
mod continuation;
mod epk;
mod etag;
mod failure;
mod headers;
mod item;
mod limits;
mod link;
mod names;
mod partition_key;
mod patch;
mod reply;
mod rid;
mod session;
