//! Items: documents with a partition key and an id of their own, written with conditions and in
//! batches, read by key, by walk and in the order of their changes.

mod batch;
mod births;
mod candidates;
mod changes;
mod composite_order;
mod container;
mod index_order;
mod outcomes;
mod read;
mod scan;
mod write;

pub(crate) use changes::changes_index;
pub use changes::{ChangePage, ChangesWanted};
pub use container::Definition;
pub use scan::{BirthOrder, IndexUse, ItemSink, Scan, ScanOrder, Scanned};
pub use write::{ItemAction, ItemDone, ItemFailure, ItemWrite, ItemWriter, Patch, VersionMatch};
