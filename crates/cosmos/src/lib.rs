//! The NoSQL door: the Azure Cosmos DB REST API over the engine. The only crate that knows that
//! protocol.

mod charge;
mod container;
mod continuation;
mod epk;
mod etag;
mod failure;
mod headers;
mod limits;
mod link;
mod names;
mod partition_key;
mod reply;
mod rid;
mod session;
