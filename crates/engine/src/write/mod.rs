//! Writes: each document one atomic commit of row, index entries and counts, built in a view and
//! looked at again in a new one when it is refused.

mod draft;
mod insert;
mod mutations;
mod previous;
mod remove;
mod update;

pub(crate) use draft::{DocumentEntries, WriteDraft};
pub use insert::{Inserted, NewDocument};
pub(crate) use mutations::birth_number;
pub(crate) use previous::Previous;
pub use remove::Removed;
pub use update::{Edited, Update, Updated, Writer};
