//! Measures a server with growing numbers of documents: loading, reading, restart and expiry. Each
//! number of documents has a server and directory of its own, so that the measurements do not
//! affect each other:
//!
//! ```text
//! start │ load │ rest │ read by key, by index │ kill -9, start │ change TTL │ half expires while read
//! ```
//!
//! Expiry of half of the documents is measured if the server's clock can be moved.

mod documents;
mod readers;
mod run;

pub(crate) use run::run_growth;

const COLLECTION: &str = "growth";
