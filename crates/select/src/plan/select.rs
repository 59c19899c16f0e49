//! A bound SELECT: the binder makes it, the engine inspects it to choose an index, and
//! [`Run`](crate::statement::Run) runs it.

use std::sync::Arc;

use super::Expr;
use crate::{aggregate::AggregateKind, sarg::Sarg};

/// Names of the properties that the system adds to a stored document.
pub const SYSTEM_PROPERTIES: [&str; 5] = ["_rid", "_self", "_etag", "_ts", "_attachments"];

/// The bound clauses of a query: names are replaced by slots and parameters by constants.
#[derive(Debug, Default)]
pub struct Clauses {
    /// Number of slots that the expressions use, including those of subqueries.
    pub slots: usize,
    /// FROM and JOIN; empty if there is no FROM.
    pub from: Vec<Source>,
    /// The condition of WHERE, if any.
    pub filter: Option<Expr>,
    /// GROUP BY and aggregates, if any.
    pub group: Option<Group>,
    /// How results are computed from rows.
    pub projection: Projection,
    /// Whether duplicate results are dropped (DISTINCT).
    pub distinct: bool,
    /// The items of ORDER BY.
    pub order: Vec<Order>,
    /// Whether ORDER BY can be computed from the result alone, as with a DISTINCT query that orders
    /// by the value it selects.
    pub order_in_output: bool,
    /// The range of TOP, OFFSET and LIMIT.
    pub window: Window,
}

/// One alias of FROM or JOIN.
#[derive(Debug)]
pub struct Source {
    /// The slot that receives each value of the alias.
    pub slot: usize,
    /// The source of the alias's values.
    pub input: Input,
}

/// The source of the values of an alias.
#[derive(Debug)]
pub enum Input {
    /// The stored document, which the caller has put into its slot.
    Root,
    /// A single value; if it is undefined, there is no row.
    Value(Expr),
    /// The elements of an array, one row for each.
    Elements(Expr),
    /// The results of a subquery, which may use the preceding aliases.
    Results(Box<Select>),
    /// The results of a subquery over all documents, which are collected before the first row.
    Collected(Arc<Select>),
}

/// GROUP BY and aggregates. Without keys all rows form one group, which exists even if there are no
/// rows.
#[derive(Debug, Default)]
pub struct Group {
    /// Key expressions, each with the slot that receives its value.
    pub keys: Vec<(Expr, usize)>,
    /// The aggregates that are computed for each group.
    pub aggregates: Vec<Aggregate>,
}

/// The projection of a row to a result.
#[derive(Debug)]
pub enum Projection {
    /// `SELECT *`: the whole value of this slot.
    Star(usize),
    /// `SELECT VALUE`: a value; an undefined one is no result.
    Value(Expr),
    /// A SELECT list: an object, in which undefined properties are left out.
    Fields(Vec<(String, Expr)>),
}

impl Default for Projection {
    fn default() -> Self {
        Self::Fields(Vec::new())
    }
}

/// One item of ORDER BY.
#[derive(Debug)]
pub struct Order {
    /// The expression to sort by.
    pub by: Expr,
    /// Whether the order is descending.
    pub descending: bool,
}

/// The range of results that TOP, OFFSET and LIMIT select.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Number of results to skip.
    pub skip: u64,
    /// Maximum number of results; `None` for no limit.
    pub take: Option<u64>,
}

impl Window {
    /// Returns the number of results up to the end of the range.
    pub(crate) fn end_of_results(self) -> u64 {
        match self.take {
            None => u64::MAX,
            Some(0) => 0,
            Some(take) => self.skip.saturating_add(take),
        }
    }

    /// Returns whether the range ends within the first `passed` results.
    pub(crate) fn is_over(self, passed: u64) -> bool {
        self.take == Some(0) || self.end_of_results() <= passed
    }
}

/// A bound query: its clauses, and the condition for indexes that WHERE implies.
#[derive(Debug)]
pub struct Select {
    clauses: Clauses,
    sarg: Sarg,
}

impl Select {
    /// Creates a query from its clauses and derives the condition for indexes.
    pub fn new(clauses: Clauses) -> Self {
        let sarg = Sarg::from_clauses(&clauses);
        Self { clauses, sarg }
    }

    /// Returns the clauses of the query.
    pub fn clauses(&self) -> &Clauses {
        &self.clauses
    }

    /// Returns the condition for indexes. WHERE implies it, so it admits every document that WHERE
    /// keeps.
    pub fn sarg(&self) -> &Sarg {
        &self.sarg
    }
}

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
