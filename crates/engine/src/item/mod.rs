//! Items: documents with a partition key and an id of their own, written with conditions and in
//! batches, read by key, by walk and in the order of their changes.

mod along;
mod batch;
mod births;
mod candidates;
mod changes;
mod container;
mod ordered;
mod read;
mod scan;
mod write;

pub(crate) use changes::index as changes_index;
pub use changes::{Change, Changes};
pub use container::Definition;
pub use scan::{Births, Comes, Scan, Scanned, Sink, Used};
pub use write::{ItemAction, ItemDone, ItemFailure, ItemWrite, ItemWriter, Match, Patch};
