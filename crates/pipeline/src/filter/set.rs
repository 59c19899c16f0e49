//! The operand of `$in`: values in order, searched by halves, and patterns.

use document::{Kind, Value, ValueRef, compare};
use evaluation::{Context, Error, Pattern};

/// Values and patterns of which one has to match. A list of thousands of values is searched by
/// halves, and indexes look the values up one by one.
#[derive(Clone, Debug, Default)]
pub struct InSet {
    /// Distinct, in ascending order.
    values: Vec<Value>,
    /// In the order in which they were given.
    patterns: Vec<Pattern>,
    /// Whether null is among the values: then a missing field is in the set.
    has_null: bool,
}

impl InSet {
    /// Sorts the values and drops repeated ones.
    /// `1` and `1.0` are repeated.
    pub fn new(mut values: Vec<Value>, patterns: Vec<Pattern>) -> Self {
        values.sort_by(|a, b| compare(a.as_ref(), b.as_ref()));
        values.dedup_by(|a, b| compare(a.as_ref(), b.as_ref()).is_eq());
        let has_null = values.iter().any(|value| value.kind() == Kind::Null);
        Self { values, patterns, has_null }
    }

    /// The distinct values in ascending order.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The patterns.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Whether a value (`None`: missing) is in the set or meets a pattern.
    /// Values are looked up first: patterns are more work, which is counted.
    pub fn meets_value(
        &self,
        value: Option<ValueRef<'_>>,
        context: &Context,
    ) -> Result<bool, Error> {
        let Some(value) = value else { return Ok(self.has_null) };
        if self.values.binary_search_by(|held| compare(held.as_ref(), value)).is_ok() {
            return Ok(true);
        }
        for pattern in &self.patterns {
            if pattern.matches_value(value, &|units| context.budget.spend(units))? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
