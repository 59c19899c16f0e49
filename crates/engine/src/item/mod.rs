//! Items: documents with a partition key and an id, written conditionally and in batches, and read
//! by key, by scan and in the order of changes.
//!
//! ```text
//!  container   definitions of item collections, and their changes
//!  write --> batch --> outcomes       actions that become one commit
//!  read        one item by its key
//!  scan -+--> candidates              row keys found by indexes
//!        +--> index_order             the entries of one path, in its order
//!        +--> composite_order         an index of several paths, in its order
//!        +--> creation_order          small containers, in order of creation
//!  allowed        parts of a condition and an order that the policy permits indexes to serve
//!  emitter        filters the items of a scan and passes them to the sink
//!  indexed_paths  adds and drops indexes of requested paths
//!  changes     the latest version of each item, by its last write
//! ```

mod allowed;
mod batch;
mod candidates;
mod changes;
mod composite_order;
mod container;
mod creation_order;
mod emitter;
mod index_order;
mod indexed_paths;
mod outcomes;
mod read;
mod scan;
mod write;

pub(crate) use changes::changes_index;
pub use changes::{ChangePage, ChangeQuery};
pub use container::ContainerDefinition;
pub use indexed_paths::{PathProgress, PathStatus};
pub use scan::{CreationOrder, IndexUse, ItemSink, Scan, ScanBasis, ScanOrder, Scanned};
pub use write::{ItemAction, ItemDone, ItemFailure, ItemWrite, ItemWriter, Patch, VersionMatch};
