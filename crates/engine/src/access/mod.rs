//! Chooses how candidates are found: by id, by an index, or by walking the rows. The filter is
//! always checked again on the row, so a choice only has to cover what the filter matches: it may
//! name too many rows, never too few.
//!
//! ```text
//!  filter ──▶ bounds   what the filter says about each field of an index, as ranges of key bytes
//!         ──▶ implied  whether a partial index has every row that the filter matches
//!         ──▶ choose   scores the ways and takes the best
//! ```

mod bounds;
mod choose;
mod hint;
mod implied;

pub(crate) use bounds::prefix_successor;
pub(crate) use choose::{Access, ChosenAccess, choose_access};
pub use hint::Hint;
