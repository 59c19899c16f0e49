//! Walks expressions and queries, those inside them included: which slots and paths they read.

use super::{Expr, Input, Projection, Select};

impl Expr {
    /// Shows every read of a slot: its number, and the path read inside it.
    pub(crate) fn reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        match self {
            Self::Constant(_) | Self::Undefined => {}
            Self::Slot(slot) => see(*slot, &[]),
            Self::Path(slot, names) => see(*slot, names),
            Self::Step(base, step) => {
                base.reads(see);
                step.reads(see);
            }
            Self::Array(items)
            | Self::And(items)
            | Self::Or(items)
            | Self::Concat(items)
            | Self::Coalesce(items)
            | Self::Call(_, items) => items.iter().for_each(|item| item.reads(see)),
            Self::Object(fields) => fields.iter().for_each(|(_, item)| item.reads(see)),
            Self::Not(inner)
            | Self::Unary(_, inner)
            | Self::Like(inner, _)
            | Self::Among(inner, _) => inner.reads(see),
            Self::Chain(first, rest) => {
                first.reads(see);
                rest.iter().for_each(|(_, item)| item.reads(see));
            }
            Self::Between(parts) | Self::Conditional(parts) => {
                parts.iter().for_each(|item| item.reads(see));
            }
            Self::In(value, items) => {
                value.reads(see);
                items.iter().for_each(|item| item.reads(see));
            }
            Self::LikeAny(value, pattern, _) => {
                value.reads(see);
                pattern.reads(see);
            }
            Self::Subquery(_, select) => Select::reads(select, see),
        }
    }
}

impl Select {
    /// Shows every read of a slot, queries inside included.
    pub(crate) fn reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        self.reads_rows(see);
        self.clauses().projection.reads(see);
    }

    /// The same without what becomes of rows.
    pub(crate) fn reads_rows(&self, see: &mut dyn FnMut(usize, &[String])) {
        let clauses = self.clauses();
        for source in &clauses.from {
            match &source.input {
                Input::Root => {}
                Input::Value(expr) | Input::Elements(expr) => expr.reads(see),
                Input::Results(select) => select.reads(see),
                Input::Collected(select) => select.reads(see),
            }
        }
        clauses.filter.iter().for_each(|filter| filter.reads(see));
        if let Some(group) = &clauses.group {
            group.keys.iter().for_each(|(key, _)| key.reads(see));
            group.aggregates.iter().for_each(|aggregate| aggregate.of.reads(see));
        }
        clauses.order.iter().for_each(|order| order.by.reads(see));
    }
}

impl Projection {
    pub(crate) fn reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        match self {
            Self::Star(slot) => see(*slot, &[]),
            Self::Value(expr) => expr.reads(see),
            Self::Fields(fields) => fields.iter().for_each(|(_, expr)| expr.reads(see)),
        }
    }
}
