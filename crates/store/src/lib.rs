//! The contract every storage engine keeps, in bytes: snapshots, scans, conditional atomic units,
//! one order of commits. With a memory store, a fault-injecting wrapper and the laws that every
//! store has to pass. It knows nothing of documents.

mod contract;
mod error;
mod faulty;
mod flight;
mod health;
pub mod laws;
mod memory;
mod sequencer;
mod space;
mod unit;

pub use contract::{
    AtomicScope, Capabilities, Direction, DropPredicate, Judge, Limit, Page, Range, Snapshot,
    Store, Timepiece,
};
pub use error::{Error, Kind};
pub use faulty::{Fault, FaultyStore};
pub use flight::Flight;
pub use health::Health;
pub use memory::{Gate, MemoryStore};
pub use sequencer::{Ordered, Sequencer, Sums, decode_count, encode_count};
pub use space::Space;
pub use unit::{Condition, Fence, Mutation, Outcome, Refusal, Stamp, Unit, Write};
