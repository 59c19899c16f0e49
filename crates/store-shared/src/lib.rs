//! The store of a cluster: the embedded store of each node follows one journal in the cluster's
//! ledger. It handles bytes, not documents, and defines no protocol: crate `cluster` decides who
//! owns the journal.
//!
//! ```text
//!  owner      commits ──▶ committer ──▶ appender ──▶ driver ──entry──▶ ledger, at a quorum
//!                                          │   ◀── committed ──┘
//!                                          ▼
//!                              own copy of the journal ──▶ trees, then visible
//!
//!  follower   ledger ──▶ driver ──committed entries──▶ own copy of the journal ──▶ trees
//! ```
//!
//! A node's directory is that of an embedded store. Its journal is a copy of the cluster's journal;
//! a file next to it records the position in the cluster's journal up to which the copy goes
//! ([`place_file`]). The copy may lag or be lost.

mod accepting;
mod asking;
mod bases;
mod copying;
mod driver;
mod entries;
mod feeder;
mod first_base;
mod journal;
mod node;
mod node_clock;
mod node_host;
mod outstanding;
mod own_copy;
mod place_file;
mod replicator;
mod role;
mod shard;
mod shard_clock;
mod shard_driver;

pub use accepting::{Accepting, Loss};
pub use copying::{Copied, Copying, open_stopped};
pub use first_base::FirstBase;
pub use node::{NodeOptions, SharedNode};
pub use node_clock::NodeClock;
pub use role::Role;
pub use shard::{ShardOptions, SharedShard};
pub use shard_clock::{ClockSources, ShardClock, ShardClockOptions};
