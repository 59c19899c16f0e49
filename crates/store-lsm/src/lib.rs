//! The embedded store: an LSM tree per space, one committer thread that gives every commit its
//! place and writes what is waiting as one batch, and one that syncs once for all. It is not a
//! network server and knows nothing of documents.

mod committer;
mod compactor;
mod compactor_mailbox;
mod errors;
mod filter;
mod generation;
mod inner;
mod journal;
mod judged;
mod keeper;
mod lasting;
mod manifest;
mod mark;
mod measured;
mod memory;
mod messages;
mod meta;
mod open;
mod open_view;
mod options;
mod pins;
mod reserve;
mod room;
mod shared;
mod snapshot;
mod spaces;
mod store;
mod syncer;
mod thread;
mod writeback;

pub use manifest::damaged_tables;
pub use measured::Measured;
pub use open::LsmStore;
pub use options::LsmOptions;
pub use snapshot::LsmSnapshot;
