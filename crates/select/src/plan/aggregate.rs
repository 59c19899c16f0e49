//! An aggregate of a query: which one, of what, and where its result goes.

use super::Expr;
use crate::aggregate::AggregateKind;

/// An aggregate of a query.
#[derive(Debug)]
pub struct Aggregate {
    /// Which.
    pub kind: AggregateKind,
    /// What is taken of each row.
    pub of: Expr,
    /// Where its result goes.
    pub slot: usize,
}
