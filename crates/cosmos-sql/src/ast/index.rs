//! Constants in the brackets of a path, and which of them select the same part of a value.

use document::Value;

use super::{Collection, Input, Node, NodeKind, PathStep, Query, Selection, Subquery};

impl Node {
    /// Returns the constant of an expression in brackets: a number, or a subquery that only selects
    /// a number or a string.
    pub(crate) fn constant_index(&self) -> Option<&Value> {
        match &self.kind {
            NodeKind::Literal(value @ (Value::Int64(_) | Value::Double(_))) => Some(value),
            NodeKind::Query(Subquery::Scalar, query) => match &query.selection {
                Selection::Value(Self { kind: NodeKind::Literal(value), .. }) => {
                    let is_index =
                        matches!(value, Value::Int64(_) | Value::Double(_) | Value::String(_));
                    (is_index && query.selects_only()).then_some(value)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

impl Query {
    /// Returns whether the query has no clauses but SELECT, and FROM with names only.
    fn selects_only(&self) -> bool {
        let alone = |input: &Input| {
            let is_name = matches!(&input.of, Collection::Path { steps, .. } if steps.is_empty());
            is_name && !input.iterates
        };
        let groups = self.filter.is_some() || !self.group.is_empty();
        let limits = !self.order.is_empty() || self.top.is_some() || self.window.is_some();
        !groups && !limits && self.from.iter().all(alone)
    }
}

/// Steps are equal if they select the same part: `[1]` and `[1.5]` do, and so do `.a` and a
/// subquery in brackets that selects `"a"`.
impl PartialEq for PathStep {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Name(name, _), Self::Name(of, _)) => name == of,
            (Self::Computed(index, _), Self::Computed(of, _)) => {
                match (index.constant_index(), of.constant_index()) {
                    (Some(index), Some(of)) => is_same_step(index, of),
                    _ => index == of,
                }
            }
            (Self::Name(name, _), Self::Computed(index, _))
            | (Self::Computed(index, _), Self::Name(name, _)) => {
                matches!(index.constant_index(), Some(Value::String(of)) if of == name)
            }
        }
    }
}

/// Returns whether two constants in brackets select the same part of a value. Azure Cosmos DB
/// truncates numbers to whole numbers of 64 bits, and uses their lower 32 bits. A number outside
/// the range of 64 bits counts as 0.
pub(crate) fn is_same_step(a: &Value, b: &Value) -> bool {
    let low_bits = |value: &Value| match value {
        Value::Int64(index) => Some(*index & 0xffff_ffff),
        Value::Double(index) => {
            let whole = select::to_i64(Value::Double(index.trunc()).as_ref());
            Some(whole.unwrap_or_default() & 0xffff_ffff)
        }
        _ => None,
    };
    match (low_bits(a), low_bits(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}
