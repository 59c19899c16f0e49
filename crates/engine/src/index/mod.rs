//! Secondary indexes: what a document's entries are, how indexes come, change and go.

mod build;
mod change;
mod entries;
mod items;

pub(crate) use change::duplicate;
pub use change::{IndexChange, IndexChanged, missing_indexes};
pub(crate) use entries::{Drafted, draft};
pub(crate) use items::{component, value_at};
