//! The embedded store: an LSM tree per space that follows a journal. One committer thread gives every
//! commit its place and makes entries of what is waiting; each entry is durable in the journal before
//! it is in a tree, and in its trees before anybody sees it. It is not a network server and knows
//! nothing of documents.
//!
//! ```text
//!  commits ──▶ committer ──entries──▶ appender ──▶ journal, one write and one sync a group
//!                                        │
//!                                        ▼
//!                                     applier ──▶ memory of the trees, then visible
//!                                                    │ flusher: budgets of journal and memory
//!                                                    ▼
//!                                                  tables ◀── compactor (levels, drop filter)
//!  archiver: copies the journal for backups, where that is asked for
//!  keeper: looks at the disk, opens the store again after a failure
//!  writeback: starts the writing of growing tables
//! ```
//!
//! One opening is a `generation.rs`; what lasts over all of them is in `lasting.rs`. A failed write or
//! sync of the journal ends a generation, since nobody knows what it left on the disk.

mod appender;
mod applier;
mod archive;
mod archive_file;
mod archiver;
mod base;
mod budget;
mod committer;
mod compactor;
mod compactor_mailbox;
mod directory;
mod durable_watermark;
mod entry_maker;
mod entry_reader;
mod errors;
mod filter;
mod filter_progress;
mod flusher;
mod following;
#[doc(hidden)]
pub mod fuzzing;
mod generation;
mod images;
mod inner;
mod inputs;
mod keeper;
mod lasting;
mod manifest;
mod messages;
mod metrics;
mod open;
mod options;
mod outputs;
mod piece_checker;
mod pins;
mod place;
mod published;
mod replay;
mod reserve;
mod room;
mod shared;
mod snapshot;
mod store;
mod thread;
mod trees;
mod wiping;
mod writeback;

pub use base::BaseReader;
pub use entry_reader::EntryReader;
pub use images::Images;
pub use manifest::damaged_tables;
pub use metrics::{OldViews, StoredBytes, TreeMetrics};
pub use open::TreeStore;
pub use options::{Archiving, OldViewsBound, TreeOptions};
pub use piece_checker::PieceChecker;
pub use snapshot::TreeSnapshot;
