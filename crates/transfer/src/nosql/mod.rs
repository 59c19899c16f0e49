//! Reads and writes a container over the NoSQL API.

mod item;
mod service;
mod sink;
mod source;

pub use sink::NoSqlSink;
pub use source::NoSqlSource;
