//! Walks expressions and queries, those inside them included: which slots and paths they read.

use super::{Expr, Input, Projection, Select};

impl Expr {
    /// Calls `see` with every read of a slot: its number and the path that is read inside it, empty
    /// for the whole value. Queries inside the expression are included.
    pub(crate) fn visit_reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        match self {
            Self::Constant(_) | Self::Undefined => {}
            Self::Slot(slot) => see(*slot, &[]),
            Self::Path(slot, names) => see(*slot, names),
            Self::Array(items)
            | Self::And(items)
            | Self::Or(items)
            | Self::Concat(items)
            | Self::Coalesce(items)
            | Self::Call(_, items) => items.iter().for_each(|item| item.visit_reads(see)),
            Self::Object(fields) => fields.iter().for_each(|(_, item)| item.visit_reads(see)),
            Self::Not(inner)
            | Self::Unary(_, inner)
            | Self::Like(inner, _)
            | Self::Among(inner, _) => inner.visit_reads(see),
            Self::Chain(first, rest) => {
                first.visit_reads(see);
                rest.iter().for_each(|(_, item)| item.visit_reads(see));
            }
            Self::Between(parts) | Self::Conditional(parts) => {
                parts.iter().for_each(|item| item.visit_reads(see));
            }
            Self::Steps(value, items) | Self::In(value, items) => {
                value.visit_reads(see);
                items.iter().for_each(|item| item.visit_reads(see));
            }
            Self::LikeAny(value, pattern, _) => {
                value.visit_reads(see);
                pattern.visit_reads(see);
            }
            Self::Subquery(_, select) => Select::visit_reads(select, see),
        }
    }
}

impl Select {
    /// Calls `see` with every read of a slot in any clause, queries inside included.
    pub(crate) fn visit_reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        self.visit_row_reads(see);
        self.clauses().projection.visit_reads(see);
    }

    /// The same without SELECT: what is read before a row becomes a result.
    pub(crate) fn visit_row_reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        let clauses = self.clauses();
        for source in &clauses.from {
            match &source.input {
                Input::Root => {}
                Input::Value(expr) | Input::Elements(expr) => expr.visit_reads(see),
                Input::Results(select) => select.visit_reads(see),
                Input::Collected(select) => select.visit_reads(see),
            }
        }
        clauses.filter.iter().for_each(|filter| filter.visit_reads(see));
        if let Some(group) = &clauses.group {
            group.keys.iter().for_each(|(key, _)| key.visit_reads(see));
            group.aggregates.iter().for_each(|aggregate| aggregate.of.visit_reads(see));
        }
        clauses.order.iter().for_each(|order| order.by.visit_reads(see));
    }
}

impl Projection {
    /// Calls `see` with every read of a slot in what is selected.
    pub(crate) fn visit_reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        match self {
            Self::Star(slot) => see(*slot, &[]),
            Self::Value(expr) => expr.visit_reads(see),
            Self::Fields(fields) => fields.iter().for_each(|(_, expr)| expr.visit_reads(see)),
        }
    }
}
