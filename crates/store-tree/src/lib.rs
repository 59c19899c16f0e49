//! The embedded store: an LSM tree that follows a journal. One committer thread orders all commits
//! and makes entries of the waiting ones; each entry is durable in the journal before it is applied
//! to the tree, and applied before it is visible. This crate is not a network server and
//! does not interpret documents.
//!
//! ```text
//!  commits ──▶ committer ──entries──▶ appender ──▶ journal, one write and one sync per group
//!                                        │
//!                                        ▼
//!                                     applier ──▶ memory of the tree, then visible
//!                                                    │ flusher: budgets of journal and memory
//!                                                    ▼
//!                                                  tables ◀── compactor (jobs of the tree)
//!  archiver: copies the journal for backups, if enabled
//!  supervisor: monitors the disk, reopens the store after a failure
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
mod filter_progress;
mod flusher;
mod following;
mod generation;
mod hooks;
mod inner;
mod messages;
mod metrics;
mod old_views;
mod open;
mod options;
mod piece_checker;
mod published;
mod replay;
mod reserve;
mod reserved;
mod rest;
mod shared;
mod snapshot;
mod store;
mod supervisor;
mod tree_folder;
mod wipe;

pub use base::BaseReader;
pub use entry_reader::EntryReader;
pub use metrics::{OldViews, StoredBytes, TreeMetrics};
pub use open::TreeStore;
pub use options::{Archiving, OldViewsBound, TreeOptions};
pub use piece_checker::PieceChecker;
pub use shared::Images;
pub use tree_folder::damaged_tables;
