//! Accumulators of some values: the first or last, the least or greatest. They hold no more values
//! than are asked for, so that they never grow with the number of rows.

use std::{cmp::Ordering, collections::VecDeque};

use document::{ArrayRef, Number, Value, ValueRef, compare};
use evaluation::{Error, Evaluated, memory_of};

use crate::{failure::invalid_request, shown::shown};

/// Reads the argument `n`: a whole number above 0.
/// `2.0` is whole. Each of the three failures has a number of its own, as clients know them.
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

/// Some elements of an array, as the accumulator of this name would keep them.
/// Null and missing elements count for `$firstN` and `$lastN`, and not for the others.
pub fn pick_n(name: &str, values: ArrayRef<'_>, count: usize) -> Vec<Value> {
    match name {
        "$firstN" => values.iter().take(count).map(ValueRef::to_value).collect(),
        "$lastN" => {
            let skipped = values.len().saturating_sub(count);
            values.iter().skip(skipped).map(ValueRef::to_value).collect()
        }
        _ => {
            let mut ranked = Ranked::with_count(count, name == "$maxN");
            for value in values.iter() {
                ranked.add_value(Evaluated::Ref(value));
            }
            ranked.into_values()
        }
    }
}

/// The first or last values, missing ones as null (`$firstN`, `$lastN`).
/// A queue, since the last ones push the first ones out.
#[derive(Debug)]
pub struct Edge {
    /// How many values are wanted.
    most: usize,
    /// Whether the last ones are.
    last: bool,
    /// The values, in their order.
    pub(crate) held: VecDeque<Value>,
}

impl Edge {
    /// The first (or `last`) values, at most `most`.
    pub(crate) fn with_count(most: usize, last: bool) -> Self {
        Self { most, last, held: VecDeque::new() }
    }

    /// Adds a value, null for none; of last values the oldest goes. Returns by how many bytes the
    /// state grew.
    /// The first ones are full for good once there are `most`.
    pub(crate) fn add_value(&mut self, got: Evaluated<'_>) -> usize {
        if !self.last && self.held.len() >= self.most {
            return 0;
        }
        // Missing values take a place, unlike for the least and greatest ones.
        let value = got.into_value().unwrap_or(Value::Null);
        let mut grown = memory_of(value.as_ref());
        self.held.push_back(value);
        if self.held.len() > self.most {
            let dropped = self.held.pop_front();
            grown = grown.saturating_sub(dropped.map_or(0, |value| memory_of(value.as_ref())));
        }
        grown
    }

    /// The values as an array.
    pub(crate) fn into_edge(self) -> Value {
        Value::Array(self.held.into())
    }
}

/// The least or greatest values in order (`$minN`, `$maxN`); null and missing do not count.
#[derive(Debug)]
pub struct Ranked {
    /// How many values are wanted.
    most: usize,
    /// Whether the greatest ones are.
    greatest: bool,
    /// The values, the first of the result first.
    pub(crate) held: Vec<Value>,
}

impl Ranked {
    /// The least (or `greatest`) values, at most `most`.
    pub(crate) fn with_count(most: usize, greatest: bool) -> Self {
        Self { most, greatest, held: Vec::new() }
    }

    /// Orders two values so that the wanted ones come first.
    fn compare_wanted(&self, a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
        if self.greatest { compare(b, a) } else { compare(a, b) }
    }

    /// Adds a value in its place, if it is among the wanted ones. Equal values stay in the order in
    /// which they came.
    pub(crate) fn add_value(&mut self, got: Evaluated<'_>) -> usize {
        if got.is_nullish() {
            return 0;
        }
        let value = got.operand();
        // A value after all wanted ones is not copied: most rows end here.
        let at =
            self.held.partition_point(|held| self.compare_wanted(held.as_ref(), value).is_le());
        if at >= self.most {
            return 0;
        }
        let mut grown = memory_of(value);
        self.held.insert(at, value.to_value());
        if self.held.len() > self.most {
            let dropped = self.held.pop();
            grown = grown.saturating_sub(dropped.map_or(0, |value| memory_of(value.as_ref())));
        }
        grown
    }

    /// The values.
    fn into_values(self) -> Vec<Value> {
        self.held
    }

    /// The values as an array, the first of the result first.
    pub(crate) fn into_ranked(self) -> Value {
        Value::Array(self.held)
    }
}
