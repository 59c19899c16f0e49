//! Dotted paths over documents. Filters and expressions read the same path differently: a filter
//! visits every value at it (`walk`), an expression reads a single value (`read`).
//!
//! For the path `a.b` over `{a: [{b: 1}, {b: [2, 3]}]}`:
//!
//! ```text
//! walk   1, 2, 3, [2, 3]          each value, and arrays at the end as a whole
//! read   [1, [2, 3]]              one array of the documents' values
//! ```

mod read;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use read::read_in_array;
pub use read::{read_path, values_for_join};
pub use walk::{PathEnd, SeenValue, any_value, array_index};
