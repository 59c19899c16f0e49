//! Aggregation expressions.

use document::ValueRef;
use query::Expr;

use crate::Error;

/// Parses an expression.
pub fn parse(value: ValueRef<'_>) -> Result<Expr, Error> {
    Ok(Expr::Literal(value.to_value()))
}
