//! Filters: which documents an operation means. A tree of tests on paths that a planner can read
//! and that matches raw documents without decoding them.
//!
//! A test at a path holds when one of the values that the path leads to meets it. That is why `{a:
//! {$gt: 1, $lt: 3}}` holds for `{a: [0, 5]}`, where different elements meet the two, and why a
//! negation is not a test but a filter around one.

mod bits;
mod compare;
mod set;
mod test;
mod types;

#[cfg(test)]
mod tests;

use document::{DocRef, Path, ValueRef};
use evaluation::{Context, Error, readable_bytes};

use crate::expr::{Env, Expr};

pub use bits::{BitTest, Mask, Quantity};
pub use compare::{Comparison, meets_comparison};
pub use set::InSet;
pub use test::{Condition, PathTest};
pub use types::TypeSet;

/// Bytes of a document that are looked through in about the time of a unit of work.
const LOOKED: usize = 8;

/// A condition on a document.
/// It is read by the planner, too, which looks for tests on indexed paths.
#[derive(Clone, Debug)]
pub enum Filter {
    /// All of them; none of them given: always true.
    And(Vec<Filter>),
    /// At least one of them.
    Or(Vec<Filter>),
    /// None of them.
    /// With none given it is always true.
    Nor(Vec<Filter>),
    /// Not this one.
    Not(Box<Filter>),
    /// The values at a path, arrays on the way and at its end walked.
    Path(Path, PathTest),
    /// An expression is true.
    Expr(Box<Expr>),
    /// Never true.
    Never,
}

impl Filter {
    /// The filter that every document meets.
    pub fn always() -> Self {
        Self::And(Vec::new())
    }

    /// Whether every document meets the filter, as far as that can be seen.
    pub fn is_always(&self) -> bool {
        matches!(self, Self::And(all) if all.iter().all(Self::is_always))
    }

    /// All of these: one alone stays itself.
    pub fn all(mut filters: Vec<Filter>) -> Self {
        match filters.len() {
            1 => filters.pop().unwrap_or(Self::Never),
            _ => Self::And(filters),
        }
    }

    /// Whether a document meets the condition.
    /// Fails when an expression in it fails, or the operation is to end.
    pub fn matches(&self, document: DocRef<'_>, context: &Context) -> Result<bool, Error> {
        self.check(document, context, &mut None)
    }

    /// Whether a document meets the condition and, if an array was walked on the way, the index of
    /// the element that met it: what the positional `$` stands for. The last condition that walked
    /// an array decides; negated ones and alternatives do not count.
    pub fn matched_index(
        &self,
        document: DocRef<'_>,
        context: &Context,
    ) -> Result<Option<usize>, Error> {
        let mut index = None;
        let matched = self.check(document, context, &mut index)?;
        Ok(index.filter(|_| matched))
    }

    /// Whether a document meets the condition. `index` is set as
    /// [`matched_index`](Self::matched_index) has it.
    fn check(
        &self,
        document: DocRef<'_>,
        context: &Context,
        index: &mut Option<usize>,
    ) -> Result<bool, Error> {
        match self {
            Self::And(all) => {
                for filter in all {
                    if !filter.check(document, context, index)? {
                        // What an earlier condition set means nothing where the whole does not
                        // hold.
                        *index = None;
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Or(any) => {
                for filter in any {
                    if filter.check(document, context, &mut None)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Nor(none) => {
                for filter in none {
                    // A condition under a negation holds for no element in particular.
                    if filter.check(document, context, &mut None)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Not(filter) => Ok(!filter.check(document, context, &mut None)?),
            Self::Path(path, test) => {
                // Before the walk: a document costs something also where the path leads nowhere. A
                // wide one costs more, as the path's first name is looked for among all others.
                let looked = readable_bytes(ValueRef::Document(document)) / LOOKED;
                context.budget.spend(test.work_units() + looked)?;
                test.meets_at(path, document, context, index)
            }
            Self::Expr(expr) => {
                let value = expr.evaluate(&Env::new(document, context))?;
                Ok(value.is_some_and(|value| value.as_ref().is_truthy()))
            }
            Self::Never => Ok(false),
        }
    }

    /// Whether an expression occurs anywhere in the filter.
    /// Expressions cannot say what a new document begins with, and no index serves them.
    pub fn has_expression(&self) -> bool {
        match self {
            Self::And(filters) | Self::Or(filters) | Self::Nor(filters) => {
                filters.iter().any(Self::has_expression)
            }
            Self::Not(filter) => filter.has_expression(),
            Self::Expr(_) => true,
            Self::Path(..) | Self::Never => false,
        }
    }

    /// Calls `visit` with every path that the filter names; paths inside `$elemMatch` are not among
    /// them.
    /// Nor are those of expressions.
    pub fn visit_paths<'a>(&'a self, visit: &mut dyn FnMut(&'a Path)) {
        match self {
            Self::And(filters) | Self::Or(filters) | Self::Nor(filters) => {
                filters.iter().for_each(|filter| filter.visit_paths(visit));
            }
            Self::Not(filter) => filter.visit_paths(visit),
            Self::Path(path, _) => visit(path),
            Self::Expr(_) | Self::Never => {}
        }
    }
}
