//! A journal of entries: the commits in order, made durable before they are acknowledged. It is
//! independent of trees, collections and documents, and applies nothing.
//!
//! ```text
//!  append ──▶ group of entries ──one write, one sync──▶ newest segment ──▶ answer
//!                                                           │ full: next spare one
//!             ┌─────────┬─────────┬─────────┬───────────────┘
//!             │ 5       │ 6       │ 7       │ 8 …         segments by generation, on disk
//!             └─────────┴─────────┴─────────┴─────
//!  truncate ─▶ 5 becomes a spare segment             read ──▶ entries after a number
//! ```
//!
//! [`Journal`] is the contract. [`LocalJournal`] stores it in local files; [`MemoryJournal`] keeps
//! it in memory and injects faults, for tests of its users. [`laws`] tests any journal.

mod contract;
mod disk;
mod entry;
mod errors;
mod folder_opener;
mod group;
pub mod laws;
mod local;
mod log;
mod memory;
mod options;
mod pool;
mod read_buffer;
mod recovery;
mod repair;
mod scan;
mod segment;
mod segment_header;
mod writer;

#[cfg(test)]
mod tests;

pub use contract::{AppendFailure, Journal, JournalExtent, OpenJournal};
pub use entry::{EncodedEntry, Entry, Mutation};
pub use folder_opener::JournalFolder;
pub use local::LocalJournal;
pub use memory::{Fault, MemoryJournal, MemoryJournals};
pub use options::JournalOptions;
pub use segment_header::FLOORS_BYTES_MAX;
