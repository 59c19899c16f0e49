//! The store of a cluster: the embedded store of each node follows one journal, which is in the
//! cluster's ledger. It knows bytes, not documents, and has no protocol of its own: who owns the
//! journal is decided by crate `cluster`.
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
//! A node's directory is that of an embedded store: its journal is a copy of what the cluster's says,
//! beside it stands up to which place of the cluster's ([`place_file`]). It may be old or lost.

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
