//! The NoSQL door: the Azure Cosmos DB REST API over the engine. The only crate that knows that
//! protocol.

mod account;
mod batch;
mod binary;
mod call;
mod charge;
mod compat;
mod container;
mod containers;
mod continuation;
mod dispatch;
mod door;
mod epk;
mod etag;
mod failure;
mod grant;
mod headers;
mod http;
mod item;
mod limits;
mod link;
mod measured;
mod names;
mod operation;
mod pages;
mod partition_key;
mod patch;
mod permission;
mod place;
mod reply;
mod rid;
mod routes;
mod session;
mod shown;
mod throttle;

pub use auth::{Hosts, Keys, Right, WELL_KNOWN_KEY};
pub use compat::compat;
pub use door::{Door, Settings};
pub use http::{Certificate, NoCertificate, Stream, serve};
pub use pages::{PageAnswer, Pages};
