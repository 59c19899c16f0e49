//! Reads and writes a collection over the MongoDB API.

mod connection;
mod sink;
mod source;

pub use sink::MongoSink;
pub use source::{Find, MongoSource};
