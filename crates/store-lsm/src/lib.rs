//! The embedded store: an LSM tree per space, one committer thread that gives every commit its
//! place and writes what is waiting as one batch, and one that syncs once for all. It is not a
//! network server and knows nothing of documents.

mod committer;
mod compactor;
mod errors;
mod filter;
mod generation;
mod journal;
mod judged;
mod keeper;
mod manifest;
mod mark;
mod measured;
mod memory;
mod meta;
mod open;
mod pins;
mod reserve;
mod room;
mod snapshot;
mod spaces;
mod store;
mod syncer;
mod writeback;

pub use manifest::damaged_tables;
pub use measured::Measured;
pub use open::{LsmOptions, LsmStore};
pub use snapshot::LsmSnapshot;
