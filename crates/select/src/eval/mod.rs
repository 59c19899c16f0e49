//! Evaluation of bound expressions: a tree comes to a value or to nothing (undefined).
//!
//! A query inside an expression is run by `statement` (`Select::all_results`): the one call that
//! goes up, since queries hold expressions and expressions hold queries.

mod bits;
pub(crate) mod building;
mod connectives;
mod env;
mod evaluate;
mod operators;

pub use env::{Env, Whole};
