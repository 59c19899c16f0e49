//! A server at growing numbers of documents: what it costs to load, read, start and forget them. Each
//! number has a server and a directory of its own, so that none pays for another:
//!
//! ```text
//! start │ load │ rest │ read by key, by index │ kill -9, start │ change TTL │ half expires while read
//! ```
//!
//! What becomes of the expired half is measured where the server's clock can be moved.

mod documents;
mod readers;
mod run;

pub(crate) use run::run_growth;

/// The collection that grows.
const COLLECTION: &str = "growth";
