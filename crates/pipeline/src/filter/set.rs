//! The operand of `$in`: sorted values for a binary search, and regular expressions.

use std::sync::{Arc, OnceLock};

use collation::Collation;
use document::{BsonOrder, Kind, Value, ValueRef, compare};
use evaluation::{Context, Error, Pattern, memory_of};
use memory::Share;

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
    /// The values as keys of a collation, made when the first value is looked up with one.
    keyed: OnceLock<Arc<KeyedValues>>,
}

/// Values with the sort keys of a collation in place of texts.
#[derive(Debug)]
struct KeyedValues {
    collation: Arc<Collation>,
    /// The keyed values in ascending order.
    values: Vec<BsonOrder>,
    /// Reservation of the memory of the keys.
    _held: Share,
}

impl InSet {
    /// Creates a set; sorts the values and drops duplicates, including `1.0` for `1`.
    pub fn new(mut values: Vec<Value>, patterns: Vec<Pattern>) -> Self {
        values.sort_by(|a, b| compare(a.as_ref(), b.as_ref()));
        values.dedup_by(|a, b| compare(a.as_ref(), b.as_ref()).is_eq());
        let has_null = values.iter().any(|value| value.kind() == Kind::Null);
        Self { values, patterns, has_null, keyed: OnceLock::new() }
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
        let is_among = match &context.collation {
            Some(collation) => self.is_among_keys(value, collation, context)?,
            None => self.values.binary_search_by(|held| compare(held.as_ref(), value)).is_ok(),
        };
        if is_among {
            return Ok(true);
        }
        for pattern in &self.patterns {
            if pattern.matches_value(value, &|units| context.budget.spend(units))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether a value equals one of the set by a collation.
    fn is_among_keys(
        &self,
        value: ValueRef<'_>,
        collation: &Arc<Collation>,
        context: &Context,
    ) -> Result<bool, Error> {
        let keyed = match self.keyed.get() {
            Some(keyed) => keyed,
            None => {
                let keyed = self.keyed_by(collation, context)?;
                self.keyed.get_or_init(|| Arc::new(keyed))
            }
        };
        if keyed.collation != *collation {
            // A filter is used with one collation, so this is rare.
            return Ok(self
                .values
                .iter()
                .any(|held| collation.compare(held.as_ref(), value).is_eq()));
        }
        let key = collation.key_of_value(value);
        Ok(keyed.values.binary_search_by(|held| compare(held.0.as_ref(), key.as_ref())).is_ok())
    }

    /// Makes the keys of all values; their memory is reserved while the set exists.
    fn keyed_by(
        &self,
        collation: &Arc<Collation>,
        context: &Context,
    ) -> Result<KeyedValues, Error> {
        let mut held = context.operation_memory.share();
        let mut values = Vec::with_capacity(self.values.len());
        for value in &self.values {
            let key = collation.key_of_value(value.as_ref());
            let bytes = memory_of(key.as_ref());
            context.budget.spend(bytes)?;
            held.grow(bytes)?;
            values.push(BsonOrder(key));
        }
        values.sort();
        Ok(KeyedValues { collation: Arc::clone(collation), values, _held: held })
    }
}
