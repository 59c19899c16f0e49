//! The operand of `$in`: sorted values for a binary search, and regular expressions.

use document::{Kind, Value, ValueRef, compare};
use evaluation::{Context, Error, Pattern};

/// Values and regular expressions of which one has to match. Values are found by binary search, and
/// indexes look them up one by one.
#[derive(Clone, Debug, Default)]
pub struct InSet {
    /// Distinct values in ascending order.
    values: Vec<Value>,
    /// Regular expressions in the order of the request.
    patterns: Vec<Pattern>,
    /// Whether null is among the values, so that a missing field matches.
    has_null: bool,
}

impl InSet {
    /// Creates a set; sorts the values and drops duplicates, including `1.0` for `1`.
    pub fn new(mut values: Vec<Value>, patterns: Vec<Pattern>) -> Self {
        values.sort_by(|a, b| compare(a.as_ref(), b.as_ref()));
        values.dedup_by(|a, b| compare(a.as_ref(), b.as_ref()).is_eq());
        let has_null = values.iter().any(|value| value.kind() == Kind::Null);
        Self { values, patterns, has_null }
    }

    /// Returns the distinct values in ascending order.
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// Returns the regular expressions of the set.
    pub fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// Returns whether a value (`None`: missing) is in the set or matches a regular expression.
    /// Values are checked first, because regular expressions cost more work, which is counted.
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
