//! A bound SELECT: a plan that the binder makes, a driver asks about, and
//! [`Run`](crate::statement::Run) runs.

use std::sync::Arc;

use super::{Aggregate, Expr};
use crate::sarg::Sarg;

/// Names of the properties that the system adds to a stored document.
pub const SYSTEM_PROPERTIES: [&str; 5] = ["_rid", "_self", "_etag", "_ts", "_attachments"];

/// The clauses of a query, bound: names are slots and parameters are constants.
#[derive(Debug, Default)]
pub struct Clauses {
    /// How many slots the expressions use, those of queries inside included.
    pub slots: usize,
    /// FROM and JOIN; empty when there is no FROM.
    pub from: Vec<Source>,
    /// WHERE.
    pub filter: Option<Expr>,
    /// GROUP BY and aggregates.
    pub group: Option<Group>,
    /// What becomes of a row.
    pub projection: Projection,
    /// DISTINCT.
    pub distinct: bool,
    /// ORDER BY.
    pub order: Vec<Order>,
    /// Whether the order of a result is known from the result itself: a DISTINCT query orders by
    /// what it selects.
    pub order_in_output: bool,
    /// TOP, OFFSET and LIMIT.
    pub window: Window,
}

/// One name of FROM or JOIN.
#[derive(Debug)]
pub struct Source {
    /// Where its value goes.
    pub slot: usize,
    /// Where its values come from.
    pub input: Input,
}

/// Where the values of a name come from.
#[derive(Debug)]
pub enum Input {
    /// The stored document, which stands in its slot already.
    Root,
    /// A value; no row when it is nothing.
    Value(Expr),
    /// The elements of an array.
    Elements(Expr),
    /// The results of a query over what the names before it hold.
    Results(Box<Select>),
    /// The results of a query over all documents, which have to be there before the first row is.
    Collected(Arc<Select>),
}

/// GROUP BY and aggregates; without keys all rows are one group, also when there is none.
#[derive(Debug, Default)]
pub struct Group {
    /// Keys, each with the slot that its value goes to.
    pub keys: Vec<(Expr, usize)>,
    /// Aggregates of the rows of a group.
    pub aggregates: Vec<Aggregate>,
}

/// What becomes of a row.
#[derive(Debug)]
pub enum Projection {
    /// All of what this slot holds.
    Star(usize),
    /// A value; no result when it is nothing.
    Value(Expr),
    /// An object without the properties that are nothing.
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
    /// By this.
    pub by: Expr,
    /// From the largest.
    pub descending: bool,
}

/// Which of the results there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// How many are passed over.
    pub skip: u64,
    /// How many there are at most.
    pub take: Option<u64>,
}

impl Window {
    /// The number of the first result that is not wanted any more.
    pub(crate) fn end_of_results(self) -> u64 {
        match self.take {
            None => u64::MAX,
            Some(0) => 0,
            Some(take) => self.skip.saturating_add(take),
        }
    }

    /// Whether no result is wanted any more when this many were passed.
    pub(crate) fn is_over(self, passed: u64) -> bool {
        self.take == Some(0) || self.end_of_results() <= passed
    }
}

/// A bound query: its clauses, and the condition for indexes that its WHERE implies.
#[derive(Debug)]
pub struct Select {
    /// What is done.
    clauses: Clauses,
    /// What an index can do of it.
    sarg: Sarg,
}

impl Select {
    /// Makes a query of its clauses and derives the condition for indexes.
    pub fn new(clauses: Clauses) -> Self {
        let sarg = Sarg::from_clauses(&clauses);
        Self { clauses, sarg }
    }

    /// Its clauses.
    pub fn clauses(&self) -> &Clauses {
        &self.clauses
    }

    /// What an index may use of its WHERE: implied by it, so that every document that WHERE keeps
    /// is admitted.
    pub fn sarg(&self) -> &Sarg {
        &self.sarg
    }
}
