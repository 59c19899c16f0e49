//! Subqueries over elements of arrays in expressions.
//!
//! A scalar subquery over elements makes the elements the rows of its outer query, if that query
//! has a single row. An aggregate that is written after the subquery then combines several rows, so
//! that no clause for groups may use the names and keys of the single row:
//!
//! ```text
//! SELECT ARRAY(SELECT MAX(1), (SELECT VALUE t FROM t IN c.a), c.b) FROM c
//! SELECT ARRAY(SELECT (SELECT VALUE t FROM t IN c.a), MAX(1), c.b) FROM c    c.a, c.b: SC2102
//! ```

use super::{
    Binder, Rows,
    frame::{Elements, Phase, RowSource},
    keep_fault,
};
use crate::{
    ast::Node,
    error::{Clause, Fault, Span},
};

impl Binder<'_> {
    /// Makes the results of a scalar subquery the rows of the query being bound, if this query has
    /// a single row that no subquery has joined with elements before. Returns false otherwise, and
    /// then changes nothing. `fault` is the fault of the subquery if an aggregate combines the rows.
    pub(super) fn take_elements(&mut self, fault: &Fault) -> bool {
        let frame = self.current_frame();
        let is_joined = frame.elements != Elements::None || frame.joins_elements();
        if frame.start != RowSource::OuterRow || is_joined || frame.has_many_results {
            return false;
        }
        match frame.phase {
            // The row has already become a group.
            Phase::Groups(_) => {
                frame.has_many_results = true;
                keep_fault(&mut frame.faults_if_joined, fault.clone());
            }
            Phase::Aggregate => self.combine_rows(),
            _ => frame.elements = Elements::Joined,
        }
        true
    }

    /// Counts a subquery of an expression if it iterates over elements.
    pub(super) fn count_joins(&mut self, rows: &Rows) {
        if rows.elements == Elements::None && !rows.joins_elements {
            return;
        }
        self.forget_origins();
        let frame = self.current_frame();
        match frame.phase {
            Phase::Groups(_) => frame.group_joins += 1,
            phase => {
                frame.row_joins += 1;
                frame.argument_joins += usize::from(phase == Phase::Aggregate);
            }
        }
    }

    /// Notes that an aggregate is evaluated after the scalar subqueries that were bound before it.
    pub(super) fn combine_elements(&mut self) {
        let frame = self.current_frame();
        if frame.has_many_results && frame.clause_of_groups().is_some() {
            self.combine_rows();
        }
    }

    /// Notes that aggregates combine several rows, and reports all uses of the single row.
    fn combine_rows(&mut self) {
        let frame = self.current_frame();
        frame.elements = Elements::Joined;
        frame.keys.clear();
        for fault in std::mem::take(&mut frame.faults_if_joined) {
            keep_fault(&mut frame.group_faults, fault);
        }
    }

    /// Records the use of a key of the query with the frame `level`, which is a fault if an
    /// aggregate combines several rows. `at` is the span of the property.
    pub(super) fn record_use_of_row(&mut self, level: usize, at: Span) {
        let innermost = self.frames.len();
        let Some(frame) = self.frames.get_mut(level).filter(|frame| frame.has_one_row()) else {
            return;
        };
        if let Some(clause) = frame.clause_of_groups() {
            let clause = if level + 1 < innermost { Clause::Select } else { clause };
            keep_fault(&mut frame.faults_if_joined, Fault::Ungrouped(at, clause));
        }
    }

    /// Records the use of each property in a key; see `record_use_of_row`.
    pub(super) fn record_uses_in_key(&mut self, level: usize, key: &Node) {
        if key.is_path() {
            return self.record_use_of_row(level, key.span());
        }
        key.visit_inner(&mut |node| self.record_uses_in_key(level, node), &mut |_| {});
    }

    /// Forgets which parts of the visible values read properties: Azure Cosmos DB does not replace
    /// names by values in a query that joins rows with elements anywhere but in its last source.
    pub(super) fn forget_origins(&mut self) {
        for (_, slot) in self.frames.iter().flat_map(|frame| &frame.names) {
            self.origins.remove(slot);
        }
    }
}
