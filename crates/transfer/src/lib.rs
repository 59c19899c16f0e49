//! Implementation of `ebb export` and `ebb import`: copies collections and containers to files and
//! back, as a client of either API. It depends on no engine, terminal or command line.
//!
//! ```text
//! extended     documents as JSON: Extended JSON in both forms, and plain JSON
//! table        documents as CSV: columns, and conversion of their texts
//! texts        a JSON file as texts of one document each: lines, or elements of an array
//! input        a file as a sequence of documents or errors, with positions
//! files        creation of files, never through a symbolic link
//! identity     detection of changed files
//! state        progress of a run, saved next to the file
//! input_file   the file of an import, compared with the saved state
//! mongo        a collection over the MongoDB API: reads pages, writes batches
//! nosql        a container over the NoSQL API: the same
//! exporting    pages to a file
//! importing    a file to batches, refused documents to a separate file
//! ```
//!
//! Errors are messages for the user of the command line.

mod endpoint;
mod exporting;
mod extended;
mod files;
mod format;
mod identity;
mod importing;
mod input;
mod input_file;
mod interfaces;
mod mongo;
mod nosql;
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
pub use interfaces::{Mode, Outcome, Page, RunMonitor, Sink, Source};
pub use mongo::{Find, MongoSink, MongoSource};
pub use nosql::{NoSqlSink, NoSqlSource};
pub use tls::{http_authority, http_without_verification, with_advice};
