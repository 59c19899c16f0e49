//! Reads: what a query looks for, how it walks its candidates, and cursors over several views.

mod find;
mod finder;

pub use find::{Explain, Find, Hint};
pub(crate) use finder::Finder;
