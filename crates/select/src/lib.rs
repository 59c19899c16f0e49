//! The NoSQL API's semantics: expressions, functions and SELECT over JSON. `cosmos-sql` makes the
//! plans and the engine runs them.
//!
//! Undefined is a value of its own that most operations propagate, types are never coerced, and
//! arrays are expanded only by `IN` in FROM and JOIN. The crate is not async and has no access to a
//! store. MongoDB's language has its own evaluator (`pipeline`).

pub mod aggregate;
mod equal;
pub mod eval;
mod form;
pub mod functions;
mod identity;
pub mod like;
mod logic;
mod number;
mod order;
pub mod plan;
pub mod sarg;
pub mod statement;
mod work;

pub use equal::is_equal;
pub use number::{integer_value, number_or_nothing, to_f64, to_i64};
pub use order::{InOrder, compare_values};
