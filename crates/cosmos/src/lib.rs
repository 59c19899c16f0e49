//! The NoSQL door: the Azure Cosmos DB REST API over the engine. The only crate that knows that
//! protocol.

mod charge;
mod continuation;
mod epk;
mod etag;
mod failure;
mod limits;
mod partition_key;
mod rid;
mod session;
