//! The store of a cluster: the embedded store of each node follows one journal per shard, which is
//! in the ledger (a replicated database). The crate handles bytes, not documents, and defines no
//! protocol: crate `cluster` decides which node owns the journal.
//!
//! ```text
//!  owner      commits ──▶ committer ──▶ appender ──▶ driver ──entry──▶ ledger, at a quorum
//!                                          │   ◀── committed ──┘
//!                                          ▼
//!                              local copy of journal   ──▶ trees, then visible
//!
//!  follower   ledger ──▶ driver ──committed entries──▶ local copy of the journal ──▶ trees
//! ```
//!
//! A node's directory is that of an embedded store. Its journal is a copy of the cluster's journal;
//! a file next to it records the position in the cluster's journal up to which the copy goes
//! ([`position_file`]). The copy may lag or be lost.

mod bases;
mod driver;
mod feeder;
mod first_base;
mod journal;
mod local_copy;
mod loss_acceptance;
mod node;
mod node_host;
mod outstanding;
mod position_file;
mod replicator;
mod requests;
mod shard;
mod shard_clock;
mod shard_copy;
mod shard_driver;

pub use feeder::Role;
pub use first_base::FirstBase;
pub use loss_acceptance::{Loss, LossInspection};
pub use node::{NodeOptions, SharedNode};
pub use shard::{ShardOptions, SharedShard};
pub use shard_clock::NodeClock;
pub use shard_clock::{ClockSources, ShardClock, ShardClockOptions};
pub use shard_copy::{CopyOptions, CopyResult, open_stopped};
