//! Evaluation of bound expressions to a value or to undefined.
//!
//! `statement` (`Select::all_results`) runs subqueries. It is the one call to a higher module,
//! because queries contain expressions and expressions contain queries.

mod bits;
pub(crate) mod building;
mod connectives;
mod env;
mod evaluate;
mod operators;

pub use env::{CompleteDocument, Env};
