//! The NoSQL API's semantics: expressions, functions and SELECT over JSON. Its plans are made by
//! `cosmos-sql`; the engine runs them.
//!
//! Nothing (undefined) is a value of its own that most operations hand on, types are never mixed,
//! arrays are not walked unless it is asked for. It is not async and cannot see a store. The other
//! query language has an evaluator of its own (`pipeline`).

pub mod aggregate;
mod equal;
pub mod eval;
mod form;
pub mod functions;
mod identity;
pub mod like;
pub mod limits;
mod logic;
mod number;
mod order;
pub mod plan;
mod properties;
pub mod sarg;
pub mod statement;
mod work;

pub use equal::is_equal;
pub use number::{integer_value, number_or_nothing, to_f64, to_i64};
pub use order::{InOrder, compare_values};
