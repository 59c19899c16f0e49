//! What `ebb export` and `ebb import` do: collections and containers to files and back, by requests that any
//! client could send. It knows both APIs as a client does, no engine, no terminal and no command line.
//!
//! ```text
//! extended     documents as JSON: Extended JSON in both forms, and plain JSON
//! table        documents as CSV: columns, and what a text in them means
//! texts        a file of JSON as texts of one document each: lines, or elements of an array
//! input        a file as entries: a place in it, a document or why it is none
//! files        files that a run makes, never through a link
//! identity     what tells a file from another one under its name
//! state        how far it came, kept beside the file
//! input_file   the file of an import, compared with what the state says of it
//! mongo        a collection over the MongoDB API: pages out, batches in
//! nosql        a container over the NoSQL API: the same
//! exporting    pages to a file
//! importing    a file to batches, what is refused to a file of its own
//! ```
//!
//! Errors are sentences for the person who typed the command.

mod endpoint;
mod exporting;
mod extended;
mod files;
mod format;
mod identity;
mod importing;
mod input;
mod input_file;
mod limits;
mod mongo;
mod nosql;
mod place;
mod refusals;
mod state;
mod table;
mod texts;
mod tls;

pub use endpoint::{Login, MongoAddress, NoSqlAddress};
pub use exporting::{Export, Exported, export};
pub use format::Format;
pub use importing::{Earlier, Import, Imported, import};
pub use input::TableRules;
pub use mongo::{Find, MongoSink, MongoSource};
pub use nosql::{NoSqlSink, NoSqlSource};
pub use place::{Mode, Outcome, Page, Sink, Source, Watch};
pub use tls::{http_authority, with_advice};
