//! The NoSQL door: the Azure Cosmos DB REST API over the engine. The only crate that knows that
//! protocol.

mod account;
mod batch;
mod call;
mod charge;
mod container;
mod containers;
mod continuation;
mod dispatch;
mod door;
mod epk;
mod etag;
mod failure;
mod headers;
mod http;
mod item;
mod limits;
mod link;
mod names;
mod operation;
mod partition_key;
mod patch;
mod reply;
mod rid;
mod routes;
mod session;
mod shown;
mod throttle;

pub use auth::{Keys, WELL_KNOWN_KEY};
pub use door::{Door, Settings};
pub use http::{Certificate, NoCertificate, serve};
