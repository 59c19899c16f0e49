//! Filters of documents: a tree of tests on paths, which the planner can analyze and which matches
//! raw documents without decoding them.
//!
//! A test at a path holds if any of the values at the path meets it. Therefore
//! `{a: {$gt: 1, $lt: 3}}` matches `{a: [0, 5]}`, where different elements meet the two tests. A
//! negation is true if no value meets the test, so it is a filter around the test and not another
//! test.

mod bits;
mod compare;
mod schema;
mod set;
mod test;
mod types;
mod validator;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use document::{DocRef, Path, ValueRef};
use evaluation::{Context, Error, readable_bytes};
use full_text::TextQuery;
use geometry::Near;

use crate::expr::{Env, Expr};

pub use bits::{BitTest, Mask, Quantity};
pub use compare::{Comparison, meets_comparison};
pub use schema::{Allowed, Dependency, Keyword, Notes, Rule, Schema, with_sorted_fields};
pub use set::InSet;
pub use test::{Condition, PathTest};
pub use types::TypeSet;
pub use validator::{Clause, DetailLimits, FieldTest, Logic};

/// Bytes of a document that are searched per unit of work.
const BYTES_PER_UNIT: usize = 8;

/// A condition on a document. The planner searches it for tests on indexed paths.
#[derive(Clone, Debug)]
pub enum Filter {
    /// All of these filters match; an empty list matches every document.
    And(Vec<Filter>),
    /// At least one of the inner filters matches.
    Or(Vec<Filter>),
    /// None of these filters matches; an empty list matches every document.
    Nor(Vec<Filter>),
    /// The inner filter does not match.
    Not(Box<Filter>),
    /// A value at the path meets the test; arrays on the path and at its end are traversed.
    Path(Path, PathTest),
    /// The expression is true for the document.
    Expr(Box<Expr>),
    /// The document matches a schema.
    Schema(Arc<Schema>),
    /// The texts of the document match a search, which the planner binds to a text index.
    Text(Arc<TextQuery>),
    /// A geometry of the document is within the distances of a search, which the planner binds to
    /// an index.
    Near(Arc<Near>),
    /// Matches no document at all.
    Never,
}

impl Filter {
    /// Returns the filter that every document matches.
    pub fn always() -> Self {
        Self::And(Vec::new())
    }

    /// Returns whether the filter trivially matches every document.
    pub fn is_always(&self) -> bool {
        matches!(self, Self::And(all) if all.iter().all(Self::is_always))
    }

    /// Returns the conjunction of filters; a single filter is returned unchanged.
    pub fn all(mut filters: Vec<Filter>) -> Self {
        match filters.len() {
            1 => filters.pop().unwrap_or(Self::Never),
            _ => Self::And(filters),
        }
    }

    /// Returns whether a document matches. Fails if an expression in the filter fails, or if the
    /// operation must end.
    pub fn matches(&self, document: DocRef<'_>, context: &Context) -> Result<bool, Error> {
        self.check(document, context, &mut None)
    }

    /// Returns the array index at which the document matched, if it matched in an array, for the
    /// positional `$`. The last condition that traversed an array decides; conditions inside
    /// `$nor`, `$not` and `$or` do not count.
    pub fn matched_index(
        &self,
        document: DocRef<'_>,
        context: &Context,
    ) -> Result<Option<usize>, Error> {
        let mut index = None;
        let matched = self.check(document, context, &mut index)?;
        Ok(index.filter(|_| matched))
    }

    /// Returns whether a document matches, and sets `index` as for
    /// [`matched_index`](Self::matched_index).
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
                        // The index of an earlier condition is meaningless if the conjunction does
                        // not hold.
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
                    // A negated condition matches at no particular element.
                    if filter.check(document, context, &mut None)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Self::Not(filter) => Ok(!filter.check(document, context, &mut None)?),
            Self::Path(path, test) => {
                // Counted before the search, since a document costs work even if the path does not
                // exist. A wide document costs more, as the first name of the path is searched
                // among all fields.
                let looked = readable_bytes(ValueRef::Document(document)) / BYTES_PER_UNIT;
                context.budget.spend(test.work_units() + looked)?;
                test.meets_at(path, document, context, index)
            }
            Self::Expr(expr) => {
                let value = expr.evaluate(&Env::new(document, context))?;
                Ok(value.is_some_and(|value| value.as_ref().is_truthy()))
            }
            Self::Schema(schema) => schema.matches(ValueRef::Document(document), context),
            Self::Text(query) => query.matches(document, context),
            Self::Near(near) => {
                let found = near.distance_of(document, &|units| context.budget.spend(units))?;
                Ok(found.is_some_and(|(distance, _)| near.includes(distance)))
            }
            Self::Never => Ok(false),
        }
    }

    /// Returns whether the filter contains an expression. An upsert takes no field values from such
    /// a filter, and indexes do not support it.
    pub fn has_expression(&self) -> bool {
        match self {
            Self::And(filters) | Self::Or(filters) | Self::Nor(filters) => {
                filters.iter().any(Self::has_expression)
            }
            Self::Not(filter) => filter.has_expression(),
            Self::Expr(_) => true,
            Self::Path(..) | Self::Schema(_) | Self::Text(_) | Self::Near(_) | Self::Never => false,
        }
    }

    /// Returns the search for texts in the filter. A filter that was parsed has at most one: a
    /// condition of the whole filter, or in an alternative.
    pub fn text_query(&self) -> Option<&Arc<TextQuery>> {
        match self {
            Self::Text(query) => Some(query),
            Self::And(parts) | Self::Or(parts) => parts.iter().find_map(Self::text_query),
            _ => None,
        }
    }

    /// Returns the search for texts that every matching document meets.
    pub fn text_conjunct(&self) -> Option<&Arc<TextQuery>> {
        match self {
            Self::Text(query) => Some(query),
            Self::And(all) => all.iter().find_map(Self::text_conjunct),
            _ => None,
        }
    }

    /// Returns the search by distance that every matching document meets.
    pub fn near(&self) -> Option<&Arc<Near>> {
        match self {
            Self::Near(near) => Some(near),
            Self::And(all) => all.iter().find_map(Self::near),
            _ => None,
        }
    }

    /// Calls `visit` with every path of the filter, except for paths inside `$elemMatch` and
    /// expressions.
    pub fn visit_paths<'a>(&'a self, visit: &mut dyn FnMut(&'a Path)) {
        match self {
            Self::And(filters) | Self::Or(filters) | Self::Nor(filters) => {
                filters.iter().for_each(|filter| filter.visit_paths(visit));
            }
            Self::Not(filter) => filter.visit_paths(visit),
            Self::Path(path, _) => visit(path),
            Self::Expr(_) | Self::Schema(_) | Self::Text(_) | Self::Near(_) | Self::Never => {}
        }
    }
}
