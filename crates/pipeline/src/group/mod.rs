//! Accumulators of groups. Each is an entry of one table (`table.rs`); the state of a group is an
//! enum, so that adding a row needs neither a virtual call nor a lookup.
//!
//! This file defines the forms of their arguments, and the parsed arguments of one accumulator.
//! `exec/group` executes `$group`; the states here wrap those of `accumulate`, which aggregate
//! plain values. A state can be saved as a value and restored (`saved`), for groups that are
//! spilled to disk.

mod saved;
mod state;
mod table;
mod top;

pub use state::GroupState;
pub use table::{Accumulator, Field, all_accumulators, find_accumulator};

use crate::{expr::Expr, sort::Sort};

/// The form of an accumulator's arguments, for the parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccumulatorShape {
    /// One expression, evaluated for each row.
    Value,
    /// No arguments: an empty document.
    Nothing,
    /// A document `{input, n}` of two expressions.
    N,
    /// A document `{sortBy, output}` with a sort.
    Top,
    /// A document `{n, sortBy, output}` with a sort.
    TopN,
    /// A document `{input, method}` of `$median`.
    Median,
    /// A document `{input, p, method}` of `$percentile`.
    Percentile,
}

/// The parsed arguments of one use of an accumulator. Arguments that its form does not have are
/// empty.
#[derive(Clone, Debug)]
pub struct AccumulatorArguments {
    /// The expression of a row's value: the `input` or `output`.
    pub input: Expr,
    /// The expression of the count or the percentages, evaluated over the group's key.
    pub n: Expr,
    /// The sort order of `$top`, `$bottom`, `$topN` and `$bottomN`.
    pub sort: Sort,
}
