//! The embedded store: an LSM tree per space, and one committer thread that gives every commit its
//! place, writes what is waiting as one batch and syncs once for all. It is not a network server
//! and knows nothing of documents.

mod committer;
mod errors;
mod filter;
mod judged;
mod mark;
mod measured;
mod meta;
mod open;
mod snapshot;
mod spaces;
mod store;

pub use measured::Measured;
pub use open::{LsmOptions, LsmStore};
pub use snapshot::LsmSnapshot;
