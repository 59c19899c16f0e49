//! The argument forms of accumulators, and the arguments of one use.

use crate::{expr::Expr, sort::Sort};

/// The form of an accumulator's arguments, for the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccumulatorShape {
    /// One expression.
    Value,
    /// No arguments.
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

/// The parsed arguments of one use of an accumulator. Arguments that its form does not have are
/// empty.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The value of a row: the input or output.
    pub input: Expr,
    /// The count or the percentages; evaluated over the group's key.
    pub n: Expr,
    /// The sort order of `$top`, `$bottom`, `$topN` and `$bottomN`.
    pub sort: Sort,
}
