//! The storage contract in terms of bytes: snapshots, scans, and conditional atomic commits in one
//! total order. Also contains a memory store, a fault-injecting wrapper and the conformance tests
//! of stores. This crate does not interpret documents.

mod cluster_time;
mod commit;
mod contract;
mod error;
mod faulty;
mod in_flight;
pub mod laws;
mod memory;
mod sequencer;
mod space;

pub use cluster_time::ClusterTime;
pub use commit::{Commit, Condition, Fence, MakeMutations, Mutation, Outcome, Refusal, Stamp};
pub use contract::Health;
pub use contract::{
    BoxFuture, Capabilities, CommitClock, Direction, DropFilter, DropPredicate, KeyRange, Limit,
    Page, Read, Snapshot, Store,
};
pub use error::{Error, Kind};
pub use faulty::{Fault, FaultyStore};
pub use in_flight::InFlight;
pub use memory::{Gate, MemoryStore};
pub use sequencer::{FoldedSums, OrderedBatch, Sequencer, decode_count, encode_count};
pub use space::Space;
