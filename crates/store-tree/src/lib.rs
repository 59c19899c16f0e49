//! The embedded store: an LSM tree per space that follows a journal. One committer thread orders
//! all commits and makes entries of the waiting ones; each entry is durable in the journal before
//! it is applied to trees, and applied before it is visible. This crate is not a network server and
//! does not interpret documents.
//!
//! ```text
//!  commits ──▶ committer ──entries──▶ appender ──▶ journal, one write and one sync per group
//!                                        │
//!                                        ▼
//!                                     applier ──▶ memory of the trees, then visible
//!                                                    │ flusher: budgets of journal and memory
//!                                                    ▼
//!                                                  tables ◀── compactor (levels, drop filter)
//!  archiver: copies the journal for backups, if enabled
//!  supervisor: monitors the disk, reopens the store after a failure
//!  writeback: starts writing growing tables to disk
//! ```
//!
//! One opening is a `generation.rs`; its `RetainedState` persists across openings. A failed
//! write or sync of the journal ends a generation, because the state on disk is then unknown.

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
mod disk_space;
mod durable_watermark;
mod entry_maker;
mod entry_reader;
mod errors;
mod filter;
mod filter_progress;
mod flusher;
mod following;
mod generation;
mod inner;
mod inputs;
mod manifest;
mod messages;
mod metrics;
mod open;
mod options;
mod outputs;
mod piece_checker;
mod pins;
mod published;
mod replay;
mod reserve;
mod shared;
mod snapshot;
mod space_tree;
mod store;
mod supervisor;
mod trees;
mod wipe;
mod writeback;

pub use base::BaseReader;
pub use entry_reader::EntryReader;
pub use manifest::damaged_tables;
#[doc(hidden)]
pub use manifest::read_lists;
pub use metrics::{OldViews, StoredBytes, TreeMetrics};
pub use open::TreeStore;
pub use options::{Archiving, OldViewsBound, TreeOptions};
pub use piece_checker::PieceChecker;
pub use shared::Images;
