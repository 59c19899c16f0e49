//! Secondary indexes: what a document's entries are, how indexes come, change and go.

mod build;
mod change;
mod entries;
mod items;

pub(crate) use change::duplicate_value;
pub use change::{IndexChange, IndexChanged, missing_indexes};
pub(crate) use entries::{DraftedEntries, draft_entries};
pub(crate) use items::{path_component, value_at};
