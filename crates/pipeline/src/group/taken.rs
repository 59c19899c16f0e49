//! What an accumulator takes, and what one use of it was given.

use crate::{expr::Expr, sort::Sort};

/// What an accumulator takes.
/// The parser reads arguments by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccumulatorShape {
    /// One expression.
    Value,
    /// Nothing.
    Nothing,
    /// `{input, n}`.
    N,
    /// `{sortBy, output}`.
    Top,
    /// `{n, sortBy, output}`.
    TopN,
    /// `{input, method}`.
    Median,
    /// `{input, p, method}`.
    Percentile,
}

/// What one use of an accumulator was given, as the parser reads it.
/// What a shape does not have is an empty expression or order.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The value of a row: the input or output.
    pub input: Expr,
    /// How many, or which percentages; evaluated over the group's key.
    pub n: Expr,
    /// By what `$top` and its like order.
    pub sort: Sort,
}
