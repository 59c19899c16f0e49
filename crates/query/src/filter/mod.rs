//! Filters: which documents an operation means. A tree of tests on paths that a planner can read
//! and that matches raw documents without decoding them.

use document::{DocRef, Path, Value};

use crate::{Context, Error, Expr, Kind};

/// A condition on a document.
#[derive(Clone, Debug)]
pub enum Filter {
    /// All of them; none of them given: always true.
    And(Vec<Filter>),
    /// At least one of them.
    Or(Vec<Filter>),
    /// None of them.
    Nor(Vec<Filter>),
    /// Not this one.
    Not(Box<Filter>),
    /// The values at a path, arrays on the way and at its end walked as MongoDB does.
    Path(Path, Test),
    /// An expression is true.
    Expr(Box<Expr>),
    /// Never true.
    Never,
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal.
    Eq,
    /// Less, within the operand's class of types.
    Lt,
    /// Less or equal, within the operand's class of types.
    Lte,
    /// Greater, within the operand's class of types.
    Gt,
    /// Greater or equal, within the operand's class of types.
    Gte,
}

/// A test of the values at a path.
#[derive(Clone, Debug)]
pub enum Test {
    /// Comparison with a value (`null` equals missing).
    Compare(Comparison, Value),
}

impl Filter {
    /// Whether a document meets the condition.
    pub fn matches(&self, document: DocRef<'_>, context: &Context) -> Result<bool, Error> {
        let _ = (document, context);
        Err(Error::new(Kind::Unsupported, 0, "filters are not there yet"))
    }
}
