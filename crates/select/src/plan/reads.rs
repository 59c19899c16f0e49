//! Visits expressions and queries, including subqueries, to find which slots and paths they read
//! and which functions they call.

use super::{Expr, Input, Projection, Select};
use crate::functions::Function;

/// A read or call that is reported while the expressions of a query are visited.
enum Reference<'a> {
    /// A read of a path in the value of a slot.
    Read(usize, &'a [String]),
    Call(&'static Function),
}

impl Reference<'_> {
    /// Calls `see` with slot and path if the reference reads a path.
    fn report_read(&self, see: &mut dyn FnMut(usize, &[String])) {
        if let Self::Read(slot, names) = self {
            see(*slot, names);
        }
    }
}

impl Expr {
    /// Calls `see` for every read and call in the expression, including subqueries.
    fn visit(&self, see: &mut dyn FnMut(Reference<'_>)) {
        match self {
            Self::Constant(_) | Self::Undefined => {}
            Self::Slot(slot) => see(Reference::Read(*slot, &[])),
            Self::Path(slot, names) => see(Reference::Read(*slot, names)),
            Self::Array(items)
            | Self::And(items)
            | Self::Or(items)
            | Self::Concat(items)
            | Self::Coalesce(items) => items.iter().for_each(|item| item.visit(see)),
            Self::Call(function, items) => {
                see(Reference::Call(function));
                items.iter().for_each(|item| item.visit(see));
            }
            Self::Object(fields) => fields.iter().for_each(|(_, item)| item.visit(see)),
            Self::Not(inner)
            | Self::Unary(_, inner)
            | Self::Like(inner, _)
            | Self::Among(inner, _) => inner.visit(see),
            Self::Chain(first, rest) => {
                first.visit(see);
                rest.iter().for_each(|(_, item)| item.visit(see));
            }
            Self::Between(parts) | Self::Conditional(parts) => {
                parts.iter().for_each(|item| item.visit(see));
            }
            Self::Steps(value, items) | Self::In(value, items) => {
                value.visit(see);
                items.iter().for_each(|item| item.visit(see));
            }
            Self::LikeAny(value, pattern, _) => {
                value.visit(see);
                pattern.visit(see);
            }
            Self::Subquery(_, select) => select.visit(see),
        }
    }
}

impl Select {
    /// Calls `see` for every read of a slot in any clause, including subqueries, with the slot's
    /// number and the path inside it (empty for the whole value).
    pub(crate) fn visit_reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        self.visit(&mut |seen| seen.report_read(see));
    }

    /// Calls `see` for every read before a row becomes a result, which excludes the SELECT list.
    pub(crate) fn visit_row_reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        self.visit_rows(&mut |seen| seen.report_read(see));
    }

    /// Returns whether the query always has the same results over the same rows: it uses neither
    /// the current time nor random numbers.
    pub fn is_repeatable(&self) -> bool {
        let mut repeatable = true;
        self.visit(&mut |seen| {
            if let Reference::Call(function) = seen {
                repeatable &= function.is_repeatable();
            }
        });
        repeatable
    }

    /// Calls `see` for every read and call in the query, including subqueries.
    fn visit(&self, see: &mut dyn FnMut(Reference<'_>)) {
        self.visit_rows(see);
        self.clauses().projection.visit(see);
    }

    /// Calls `see` for every read and call in the query, except in its SELECT list.
    fn visit_rows(&self, see: &mut dyn FnMut(Reference<'_>)) {
        let clauses = self.clauses();
        for source in &clauses.from {
            match &source.input {
                Input::Root => {}
                Input::Value(expr) | Input::Elements(expr) => expr.visit(see),
                Input::Results(select) => select.visit(see),
                Input::Collected(select) => select.visit(see),
            }
        }
        clauses.filter.iter().for_each(|filter| filter.visit(see));
        if let Some(group) = &clauses.group {
            group.keys.iter().for_each(|(key, _)| key.visit(see));
            group.aggregates.iter().for_each(|aggregate| aggregate.of.visit(see));
        }
        clauses.order.iter().for_each(|order| order.by.visit(see));
    }
}

impl Projection {
    /// Calls `see` for every read of a slot in the SELECT list.
    pub(crate) fn visit_reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        self.visit(&mut |seen| seen.report_read(see));
    }

    /// Calls `see` for every read and call in the SELECT list.
    fn visit(&self, see: &mut dyn FnMut(Reference<'_>)) {
        match self {
            Self::Star(slot) => see(Reference::Read(*slot, &[])),
            Self::Value(expr) => expr.visit(see),
            Self::Fields(fields) => fields.iter().for_each(|(_, expr)| expr.visit(see)),
        }
    }
}
