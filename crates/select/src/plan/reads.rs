//! Walks expressions and queries, those inside them included: which slots and paths they read, and
//! which functions they call.

use super::{Expr, Input, Projection, Select};
use crate::functions::Function;

/// What a walk meets.
enum Seen<'a> {
    /// A read of a slot, of a path inside it.
    Read(usize, &'a [String]),
    /// A call of a function.
    Call(&'static Function),
}

impl Seen<'_> {
    /// Calls `see` where this is a read.
    fn tell_read(&self, see: &mut dyn FnMut(usize, &[String])) {
        if let Self::Read(slot, names) = self {
            see(*slot, names);
        }
    }
}

impl Expr {
    /// Calls `see` with all that is met, in queries inside the expression too.
    fn visit(&self, see: &mut dyn FnMut(Seen<'_>)) {
        match self {
            Self::Constant(_) | Self::Undefined => {}
            Self::Slot(slot) => see(Seen::Read(*slot, &[])),
            Self::Path(slot, names) => see(Seen::Read(*slot, names)),
            Self::Array(items)
            | Self::And(items)
            | Self::Or(items)
            | Self::Concat(items)
            | Self::Coalesce(items) => items.iter().for_each(|item| item.visit(see)),
            Self::Call(function, items) => {
                see(Seen::Call(function));
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
    /// Calls `see` with every read of a slot in any clause: its number and the path that is read inside
    /// it, empty for the whole value. Queries inside are included.
    pub(crate) fn visit_reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        self.visit(&mut |seen| seen.tell_read(see));
    }

    /// The same without SELECT: what is read before a row becomes a result.
    pub(crate) fn visit_row_reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        self.visit_rows(&mut |seen| seen.tell_read(see));
    }

    /// Whether the query has the same results whenever it is asked, as long as the rows are the same:
    /// it reads neither the time nor random numbers.
    pub fn is_repeatable(&self) -> bool {
        let mut repeatable = true;
        self.visit(&mut |seen| {
            if let Seen::Call(function) = seen {
                repeatable &= function.is_repeatable();
            }
        });
        repeatable
    }

    /// Calls `see` with all that is met in any clause, queries inside included.
    fn visit(&self, see: &mut dyn FnMut(Seen<'_>)) {
        self.visit_rows(see);
        self.clauses().projection.visit(see);
    }

    /// The same without SELECT.
    fn visit_rows(&self, see: &mut dyn FnMut(Seen<'_>)) {
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
    /// Calls `see` with every read of a slot in what is selected.
    pub(crate) fn visit_reads(&self, see: &mut dyn FnMut(usize, &[String])) {
        self.visit(&mut |seen| seen.tell_read(see));
    }

    /// Calls `see` with all that is met in what is selected.
    fn visit(&self, see: &mut dyn FnMut(Seen<'_>)) {
        match self {
            Self::Star(slot) => see(Seen::Read(*slot, &[])),
            Self::Value(expr) => expr.visit(see),
            Self::Fields(fields) => fields.iter().for_each(|(_, expr)| expr.visit(see)),
        }
    }
}
