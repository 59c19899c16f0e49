//! Writes: each document one atomic unit of row, index entries and counts, built in a view and
//! looked at again in a new one when it is refused.

mod counts;
pub mod insert;
mod modify;
mod remove;
mod unit;
mod update;

pub(crate) use counts::{Entered, add as count};
pub use modify::{Modified, Modify};
pub use remove::Removed;
pub(crate) use unit::{Draft, Previous};
pub use update::{Edited, Update, Updated};
