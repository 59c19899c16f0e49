//! Writes: each document one atomic unit of row, index entries and counts, built in a view and
//! looked at again in a new one when it is refused.

mod insert;
mod mutations;
mod previous;
mod remove;
mod unit;
mod update;

pub use insert::{Inserted, NewDocument};
pub(crate) use mutations::birth_number;
pub(crate) use previous::Previous;
pub use remove::Removed;
pub(crate) use unit::{DocumentEntries, WriteDraft};
pub use update::{Edited, Update, Updated, Writer};
