//! Writes: each document one atomic unit of row, index entries and counts, built in a view and
//! looked at again in a new one when it is refused.

mod insert;
mod remove;
mod unit;
mod update;

pub use insert::{Inserted, New};
pub use remove::Removed;
pub(crate) use unit::{Draft, Entries, Previous, birth};
pub use update::{Edited, Update, Updated, Writer};
