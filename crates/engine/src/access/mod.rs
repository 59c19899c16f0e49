//! Chooses how candidates are found: by id, by an index, or by walking the rows. What the ranges of
//! a choice do not say exactly is checked on the row, so a choice only has to cover what the filter
//! matches: it may name too many rows, never too few.
//!
//! ```text
//!  filter ──▶ conditions  what the filter says about each field of an index
//!         ──▶ bounds      the same as ranges of key bytes
//!         ──▶ implied     whether a partial index has every row that the filter matches
//!         ──▶ by_index    what one index can do with that
//!         ──▶ choose      scores the ways and takes the best
//!         ──▶ exact       what of the filter is left to be checked on the rows
//! ```

mod bounds;
mod by_index;
mod choose;
mod conditions;
mod exact;
mod hint;
mod implied;
mod way;

pub(crate) use bounds::{
    collect_conjuncts, encode_component, equality_component, prefix_successor,
};
pub(crate) use choose::choose_access;
pub(crate) use exact::Residual;
pub use hint::Hint;
pub(crate) use way::{Access, ChosenAccess, ChosenBranch};
