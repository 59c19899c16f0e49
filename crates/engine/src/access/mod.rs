//! Chooses the access path: by id, by index, or by a full scan. Conditions that the ranges do not
//! express exactly are checked on the rows, so an access path may select too many rows but never
//! too few.
//!
//! ```text
//!  filter --> conditions  what the filter implies for each field of an index
//!         --> bounds      these conditions as ranges of key bytes
//!         --> key_texts   whether the index holds texts as the query compares them
//!         --> implied     whether a partial index contains every row that the filter matches
//!         --> prefixes    the key prefixes that conditions on leading fields allow
//!         --> by_index    evaluates one index for the filter
//!         --> by_text     the entries of a search for texts
//!         --> by_geo      the cells of a region, or all cells around a point
//!         --> by_wildcard evaluates one wildcard index for the filter
//!         --> between     the keys of an index between bounds that the client gives
//!         --> choose      scores the access paths and picks the best
//!         --> exact       the part of the filter that must be checked on the rows
//! ```

mod access_path;
mod between;
mod bounds;
mod by_geo;
mod by_index;
mod by_text;
mod by_wildcard;
mod choose;
mod conditions;
mod exact;
mod hint;
mod hinted;
mod implied;
mod key_texts;
mod prefixes;

pub(crate) use access_path::{AccessPath, CellPrefixes, ChosenAccess, ChosenBranch, NearAccess};
pub(crate) use bounds::{collect_conjuncts, equality_component, prefix_successor};
pub(crate) use choose::choose_access;
pub(crate) use exact::Residual;
pub use hint::Hint;
pub(crate) use key_texts::{KeyTexts, push_component};
