//! Reads: what a query looks for, how it walks its candidates, and cursors over several views.

mod cursor;
mod find;
mod finder;
mod held;
mod origin;

pub use cursor::{Batch, BatchLimit, Cursor, Plan};
pub use find::{Explain, Find, Hint};
pub(crate) use finder::Finder;
