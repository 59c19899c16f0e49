//! The embedded store: an LSM tree per space, one committer thread that gives every commit its
//! place and writes what is waiting as one batch, and one that syncs once for all. It is not a
//! network server and knows nothing of documents.
//!
//! ```text
//!  commits ──▶ committer ──batch──▶ journal + memory of the tree ──▶ syncer ──▶ durable, then visible
//!                                         │ flush
//!                                         ▼
//!                                      tables ◀── compactor (levels, drop filter)
//!  keeper: looks at the disk, opens the tree again after a failure
//!  writeback: starts the writing of growing tables      memtable_reclaimer: frees flushed memory
//! ```
//!
//! One opening of the tree is a `generation.rs`; what lasts over all of them is in `lasting.rs`. A
//! failed write or sync ends a generation, since nobody knows what it left on the disk.

mod committer;
mod compactor;
mod compactor_mailbox;
mod durable_watermark;
mod errors;
mod filter;
mod filter_progress;
mod flush;
mod generation;
mod inner;
mod journal;
mod keeper;
mod keyspace;
mod lasting;
mod manifest;
mod memtable_reclaimer;
mod messages;
mod meta;
mod metrics;
mod open;
mod open_view;
mod options;
mod placeholder;
mod reserve;
mod room;
mod shared;
mod snapshot;
mod snapshot_tracker;
mod spaces;
mod store;
mod syncer;
mod thread;
mod writeback;

pub use manifest::damaged_tables;
pub use metrics::LsmMetrics;
pub use open::LsmStore;
pub use options::LsmOptions;
pub use snapshot::LsmSnapshot;
