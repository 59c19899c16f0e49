//! Secondary indexes: deriving entries, and creating, changing, dropping and building indexes.
//!
//! ```text
//!  entries   dotted paths, arrays expanded          items   an item's paths by policy, or a tuple
//!  values    an item's values at one path
//!  text      the words of a document's texts
//!  geo       the cells of a document's geometries
//!  wildcard  all values of a document with their paths
//!  single_value  the value of a field beside texts or a wildcard
//!  change    records of indexes, each change a commit
//!  clustered the primary key as a date index
//!  redefine  all indexes of a collection at once, with its options
//!  replacement  a collection that takes the place of another one
//!  build     adds entries of older rows while writers maintain the index
//! ```

mod build;
mod change;
mod clustered;
mod entries;
mod geo;
mod items;
mod redefine;
mod replacement;
mod single_value;
mod text;
mod values;
mod wildcard;

pub(crate) use change::duplicate_value;
pub use change::{IndexChange, PreviousIndexOptions, missing_indexes};
pub(crate) use entries::{DraftedEntries, draft_entries, entry_within};
pub(crate) use items::{path_component, value_at};
pub use redefine::{Definition, Redefine};
pub(crate) use wildcard::PATH_FIELD;
