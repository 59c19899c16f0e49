//! Dotted paths over documents. Filters and expressions read the same path differently: a filter
//! walks every value it leads to (`walk`), an expression makes one value of it (`read`).

mod read;
#[cfg(test)]
mod tests;
mod walk;

pub(crate) use read::read_in_array;
pub use read::{read_path, values_for_join};
pub use walk::{PathEnd, SeenValue, any_value, array_index};
