//! Accumulators that keep a fixed number of values: the first or last, the least or greatest. Their
//! memory does not grow with the number of rows.

use std::{cmp::Ordering, collections::VecDeque};

use document::{ArrayRef, Number, Value, ValueRef};
use evaluation::{Context, Error, Evaluated, memory_of};

use crate::{invalid_request, shown};

/// Parses the argument `n`: a whole number above 0, such as `2.0`. Each of the three errors has its
/// own code, on which clients depend.
pub fn parse_count(value: ValueRef<'_>) -> Result<usize, Error> {
    let shown = || shown(value);
    let Some(number) = Number::of(value) else {
        let text = format!("Value for 'n' must be of integral type, but found {}", shown());
        return Err(invalid_request(5_787_902, text));
    };
    let Some(whole) = number.to_i64_exact() else {
        let text = format!("Value for 'n' must be of integral type, but found {}", shown());
        return Err(invalid_request(5_787_903, text));
    };
    if whole <= 0 {
        return Err(invalid_request(
            5_787_908,
            format!("'n' must be greater than 0, found {whole}"),
        ));
    }
    Ok(usize::try_from(whole).unwrap_or(usize::MAX))
}

/// Returns the elements of an array that the accumulator with this name would keep. `$firstN` and
/// `$lastN` include null and missing elements, the others do not.
pub fn pick_n(name: &str, values: ArrayRef<'_>, count: usize, context: &Context) -> Vec<Value> {
    match name {
        "$firstN" => values.iter().take(count).map(ValueRef::to_value).collect(),
        "$lastN" => {
            let skipped = values.len().saturating_sub(count);
            values.iter().skip(skipped).map(ValueRef::to_value).collect()
        }
        _ => {
            let mut ranked = MinOrMax::with_count(count, name == "$maxN");
            for value in values.iter() {
                ranked.add_value(Evaluated::Ref(value), context);
            }
            ranked.into_values()
        }
    }
}

/// The first or last values, with missing ones as null (`$firstN`, `$lastN`).
#[derive(Debug)]
pub struct FirstOrLast {
    limit: usize,
    /// Whether the last values are kept, rather than the first.
    last: bool,
    pub(crate) held: VecDeque<Value>,
}

impl FirstOrLast {
    /// Creates a state of at most `limit` values: the first ones, or the last.
    pub(crate) fn with_count(limit: usize, last: bool) -> Self {
        Self { limit, last, held: VecDeque::new() }
    }

    /// Adds a value, or null for a missing one. If there are `limit` values already, `$lastN` drops
    /// the oldest one for it, and `$firstN` ignores it. Returns the growth in bytes.
    pub(crate) fn add_value(&mut self, got: Evaluated<'_>) -> usize {
        if !self.last && self.held.len() >= self.limit {
            return 0;
        }
        // Unlike for `$minN` and `$maxN`, missing values count.
        let value = got.into_value().unwrap_or(Value::Null);
        let mut grown = memory_of(value.as_ref());
        self.held.push_back(value);
        if self.held.len() > self.limit {
            let dropped = self.held.pop_front();
            grown = grown.saturating_sub(dropped.map_or(0, |value| memory_of(value.as_ref())));
        }
        grown
    }

    pub(crate) fn into_edge(self) -> Value {
        Value::Array(self.held.into())
    }
}

/// The least or greatest values in order (`$minN`, `$maxN`), ignoring null and missing.
#[derive(Debug)]
pub struct MinOrMax {
    limit: usize,
    /// Whether the greatest values are kept, rather than the least.
    greatest: bool,
    /// The values that are kept, in the order of the result.
    pub(crate) held: Vec<Value>,
}

impl MinOrMax {
    /// Creates a state of at most `limit` values: the least ones, or the greatest.
    pub(crate) fn with_count(limit: usize, greatest: bool) -> Self {
        Self { limit, greatest, held: Vec::new() }
    }

    /// Compares two values by the order in which the result lists them.
    fn compare_wanted(&self, a: ValueRef<'_>, b: ValueRef<'_>, context: &Context) -> Ordering {
        if self.greatest { context.compare(b, a) } else { context.compare(a, b) }
    }

    /// Adds a value if it is one of the least or greatest `limit` values so far. Of equal values,
    /// the earlier ones come first. Returns the growth in bytes.
    pub(crate) fn add_value(&mut self, got: Evaluated<'_>, context: &Context) -> usize {
        if got.is_nullish() {
            return 0;
        }
        let value = got.operand();
        // A value after all kept ones is not copied, which is the common case.
        let before = |held: &Value| self.compare_wanted(held.as_ref(), value, context).is_le();
        let at = self.held.partition_point(before);
        if at >= self.limit {
            return 0;
        }
        let mut grown = memory_of(value);
        self.held.insert(at, value.to_value());
        if self.held.len() > self.limit {
            let dropped = self.held.pop();
            grown = grown.saturating_sub(dropped.map_or(0, |value| memory_of(value.as_ref())));
        }
        grown
    }

    fn into_values(self) -> Vec<Value> {
        self.held
    }

    /// Returns the values as an array, in order.
    pub(crate) fn into_ranked(self) -> Value {
        Value::Array(self.held)
    }
}
