//! Items: documents with a partition key and an id of their own, written with conditions and in
//! batches, read by key, by walk and in the order of their changes.
//!
//! ```text
//!  container   what a collection of items is, and changes of that
//!  write ──▶ batch ──▶ outcomes       actions that become one commit
//!  read        one item by its key
//!  scan ─┬──▶ candidates              keys that indexes name
//!        ├──▶ index_order             the entries of one path, in its order
//!        ├──▶ composite_order         an index of several paths, in its order
//!        └──▶ births                  few items, in the order in which they were made
//!  allowed     what of a walk a policy lets indexes know      giver   hands on what counts
//!  kept_paths  paths that queries ask for begin and end to be indexed
//!  changes     the latest version of each item, by its last write
//! ```

mod allowed;
mod batch;
mod births;
mod candidates;
mod changes;
mod composite_order;
mod container;
mod giver;
mod index_order;
mod kept_paths;
mod outcomes;
mod read;
mod scan;
mod write;

pub(crate) use changes::changes_index;
pub use changes::{ChangePage, ChangesWanted};
pub use container::ContainerDefinition;
pub use kept_paths::{PathProgress, PathStatus};
pub use scan::{BirthOrder, IndexUse, ItemSink, Scan, ScanBasis, ScanOrder, Scanned};
pub use write::{ItemAction, ItemDone, ItemFailure, ItemWrite, ItemWriter, Patch, VersionMatch};
