//! Dotted paths over documents. Filters and expressions read the same path differently: a filter
//! walks every value it leads to (`walk`), an expression makes one value of it (`read`).
//!
//! For the path `a.b` over `{a: [{b: 1}, {b: [2, 3]}]}`:
//!
//! ```text
//! walk   1, 2, 3, [2, 3]          each value, and arrays at the end as such
//! read   [1, [2, 3]]              one array of what the documents hold
//! ```

mod read;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use read::read_in_array;
pub use read::{read_path, values_for_join};
pub use walk::{PathEnd, SeenValue, any_value, array_index};
