//! A log-structured merge tree made for data that expires. It stores spaces of keys in memtables,
//! tables and body files, and leaves the log, the threads and the rules of expiry to its owner.
//!
//! ```text
//!  apply ──▶ memtable ──flush──▶ first runs ──merge──▶ level 1 ──merge──▶ level 2 ...
//!               ▲                    │ keys, small values, starts of large values
//!  publish ──▶ view                  └──▶ body files: rests of large values, by group of ends
//!               │
//!  get, scan ◀──┘ memtables and version, loaded without a lock
//! ```
//!
//! * Versions are immutable and exchanged by a pointer. No thread does I/O while it holds a lock
//!   that a reader or the writer takes (`shared.rs`).
//! * A snapshot keeps the versions of keys that it sees, not files or memtables (`pins.rs`).
//! * The list of files is one log of edits; startup reads nothing else (`manifest.rs`).
//! * Values of the same group share body files. A file whose values have all ended is removed
//!   without being read (`expire.rs`).

mod block;
mod body_file;
mod body_writer;
mod cache;
mod codec;
mod compaction;
mod disk;
mod entry;
mod error;
mod expire;
mod figures;
mod file_writer;
mod files;
mod flush;
mod frame;
mod group;
mod hooks;
mod job;
mod key_filter;
mod manifest;
mod memtable;
mod merge;
mod metadata;
mod options;
mod picker;
mod pins;
mod recovery;
mod rewrite;
mod run_cursor;
mod shared;
mod snapshot;
mod space;
mod table;
mod table_writer;
mod trash;
mod tree;
mod untrusted;
mod value;
mod verify;
mod version;

#[cfg(test)]
mod tests;

pub use disk::{Disk, DiskFile, Folder};
pub use error::{Damage, Error, Result};
pub use expire::Expired;
pub use figures::{SpaceFigures, TreeFigures};
pub use files::Caching;
pub use flush::FlushReport;
pub use hooks::{DropFilter, End, Hooks, KeepAll, Placement};
pub use job::{Job, JobKind, JobReport};
pub use metadata::Ending;
pub use options::{KEY_BYTES_MAX, Layout, Options, VALUE_BYTES_MAX};
pub use snapshot::{Direction, Scan, Snapshot};
pub use space::SpaceMemory;
pub use tree::{Tree, Write};
#[doc(hidden)]
pub use untrusted::parse_untrusted;
pub use verify::verify_closed;
