//! An aggregate as the plan of a query contains it.

use super::Expr;
use crate::aggregate::AggregateKind;

/// An aggregate in the plan of a query.
#[derive(Debug)]
pub struct Aggregate {
    /// The aggregate function that is computed.
    pub kind: AggregateKind,
    /// The expression whose value is aggregated for each row.
    pub of: Expr,
    /// The slot that receives the aggregate's result.
    pub slot: usize,
}
