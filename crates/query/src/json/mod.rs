//! Expressions and SELECT over JSON: nothing (undefined) is a value of its own that most operations
//! hand on, types are never mixed, arrays are not walked unless it is asked for.

pub mod aggregate;
mod equal;
pub mod expr;
mod form;
pub mod functions;
mod identity;
pub mod like;
pub mod limits;
mod number;
mod order;
pub mod sarg;
pub mod select;
mod work;

pub use equal::equal;
pub use number::{integer, number, to_f64, to_i64};
pub use order::{InOrder, compare};
