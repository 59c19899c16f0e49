//! Expressions and SELECT over JSON: nothing (undefined) is a value of its own that most operations
//! hand on, types are never mixed, arrays are not walked unless it is asked for.

mod equal;
pub mod functions;
mod number;
mod order;
pub mod sarg;

pub use equal::equal;
pub use number::{integer, number, to_f64, to_i64};
pub use order::{InOrder, compare};
