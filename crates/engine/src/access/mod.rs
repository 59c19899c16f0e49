//! Chooses how candidates are found: by id, by an index, or by walking the rows. The filter is
//! always checked again on the row, so a choice only has to cover what the filter means.

mod bounds;
mod choose;
mod hint;
mod implied;

pub(crate) use bounds::prefix_successor;
pub(crate) use choose::{Access, ChosenAccess, choose_access};
pub use hint::Hint;
