//! The names and the state of one query while it is bound, and its rules about rows and groups. The
//! *clauses for groups*, ORDER BY and SELECT, are evaluated per group if the query has groups. An
//! *input set*, a term of Azure Cosmos DB's error messages, is a set of values that `*` may denote;
//! `SELECT *` requires exactly one.

use select::plan::Aggregate;

use crate::{
    ast::Node,
    error::{Clause, Fault},
};

/// The part of a query that is being bound. It determines whether names refer to rows or to groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// FROM: names refer to earlier sources. A subquery in FROM reads the documents itself only if
    /// all its outer queries are in this phase.
    #[default]
    From,
    /// A clause that is evaluated per row, such as WHERE: names refer to the sources of FROM.
    Rows,
    /// A key of GROUP BY: names refer to the sources of FROM.
    Key,
    /// This clause, which is evaluated per group: names of FROM are accessible only in keys of
    /// GROUP BY and in aggregates.
    Groups(Clause),
    /// Inside an aggregate, which may use the names of FROM but no other aggregate.
    Aggregate,
}

/// The rows with which FROM starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum RowSource {
    /// A single row: that of the outer query, if there is one.
    #[default]
    OuterRow,
    Documents,
    /// A single row that is computed from all documents, such as a count.
    OneForAll,
}

/// Whether a row becomes several rows because it is joined with the elements of arrays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Elements {
    /// The row is not joined with elements.
    #[default]
    None,
    /// The row is joined with elements, but they are aggregated, so that it stays one row.
    Aggregated,
    /// The row becomes a row for each element.
    Joined,
}

/// The names and the state of one query while it is bound. Slots that were allocated for it are not
/// reused afterwards.
#[derive(Debug, Default)]
pub(super) struct QueryFrame<'q> {
    /// Names of FROM with their slots.
    pub(super) names: Vec<(String, usize)>,
    /// The rows with which FROM starts.
    pub(super) start: RowSource,
    /// Whether rows are joined with elements of arrays, by FROM or by scalar subqueries.
    pub(super) elements: Elements,
    /// Names inside those subqueries in FROM that have one row for all documents. No other source
    /// of FROM may define these names, although expressions cannot use them.
    pub(super) reserved_names: Vec<String>,
    /// The part of the query that is being bound.
    pub(super) phase: Phase,
    /// Keys of GROUP BY with their slots. They are compared as trees, so that `c.a` in SELECT is
    /// recognized as the key `c.a`.
    pub(super) keys: Vec<(&'q Node, usize)>,
    /// GROUP BY keys whose names are hidden by the groups of an outer query, each with the index of
    /// that query's frame.
    pub(super) hidden_keys: Vec<(&'q Node, usize)>,
    pub(super) aggregates: Vec<Aggregate>,
    /// Faults in clauses that are evaluated per group: uses of names that have a value per row.
    pub(super) group_faults: Vec<Fault>,
    /// Uses of names and keys in clauses for groups while the query has a single row. They become
    /// faults if an aggregate combines that row's elements (see `combine_elements`).
    pub(super) faults_if_joined: Vec<Fault>,
    /// Whether the query has a GROUP BY.
    pub(super) has_keys: bool,
    /// Whether the query has an aggregate.
    pub(super) aggregates_rows: bool,
    /// Number of subqueries that iterate over elements of arrays, in expressions that are evaluated
    /// per row. Each joins the rows with its results.
    pub(super) row_joins: usize,
    /// Number of those subqueries in arguments of aggregates.
    pub(super) argument_joins: usize,
    /// Number of subqueries that iterate over elements of arrays, in clauses that are evaluated per
    /// group.
    pub(super) group_joins: usize,
    /// Number of GROUP BY keys and of aggregates in SELECT and ORDER BY. In clauses that are
    /// evaluated per group, `*` may denote each of them.
    pub(super) group_sets: usize,
    /// Number of sets of values that FROM provides for `*`; more than one makes `SELECT *`
    /// ambiguous.
    pub(super) star_sets: usize,
    /// Whether FROM repeats the name that `*` denotes. Elements that FROM joins after the
    /// repetition are not selected.
    pub(super) star_is_repeated: bool,
    /// Whether SELECT has several results for one group.
    pub(super) has_many_results: bool,
    /// The slot that `*` denotes if it is not ambiguous.
    pub(super) star: Option<usize>,
    /// Number of faults at the start of `group_faults` that are about arguments of aggregates. They
    /// are reported first.
    pub(super) early_faults: usize,
    /// Whether the query is the rewritten query of a client's plan with an ORDER BY. Such a query
    /// reads the `_rid` of a group or of a row's document.
    pub(super) reads_rid: bool,
}

impl QueryFrame<'_> {
    /// Returns whether FROM defines a name.
    pub(super) fn has_name(&self, name: &str) -> bool {
        self.names.iter().any(|(known, _)| known == name)
    }

    /// Returns whether the query has a single row. That row is then the only group, so that clauses
    /// that are evaluated per group may use names of FROM.
    pub(super) fn has_one_row(&self) -> bool {
        self.start != RowSource::Documents && self.elements != Elements::Joined
    }

    /// Returns whether FROM has a single row computed from all documents, not joined with elements.
    pub(super) fn is_one_for_all(&self) -> bool {
        self.start == RowSource::OneForAll && self.elements != Elements::Joined
    }

    /// Returns whether FROM, whose only source has the slot `slot`, defines no other names. Names
    /// inside a subquery in FROM count too if they stay visible after a fault or belong to a single
    /// row for all documents.
    pub(super) fn has_only(&self, slot: usize) -> bool {
        self.reserved_names.is_empty() && self.names.iter().all(|(_, of)| *of == slot)
    }

    /// Returns the slot that `*` denotes; `None` if FROM provides several sets of values for it.
    pub(super) fn only_set(&self) -> Option<usize> {
        self.star.filter(|_| self.star_sets <= 1)
    }

    /// Returns whether a subquery in an expression joins the rows or groups with elements.
    pub(super) fn joins_elements(&self) -> bool {
        self.row_joins + self.group_joins != 0
    }

    /// Returns whether FROM must not define this name again, although expressions cannot use it
    /// (`reserved_names`).
    pub(super) fn reserves_name(&self, name: &str) -> bool {
        self.reserved_names.iter().any(|reserved| reserved == name)
    }

    /// Returns whether a GROUP BY may make several groups.
    pub(super) fn has_several_groups(&self) -> bool {
        self.has_keys && !self.has_one_row()
    }

    /// Returns whether the current clause is evaluated once for each of several groups.
    pub(super) fn shows_groups(&self) -> bool {
        self.has_several_groups() && self.clause_of_groups().is_some()
    }

    /// Returns the current clause if it is evaluated for groups rather than rows.
    pub(super) fn clause_of_groups(&self) -> Option<Clause> {
        match self.phase {
            Phase::Groups(clause) => Some(clause),
            _ => None,
        }
    }
}
