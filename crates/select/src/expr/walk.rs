//! Walks an expression with the queries inside it: which slots and paths it reads.

use super::Expr;
use crate::statement::Select;

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
