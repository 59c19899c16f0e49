//! Accumulators of some rows: the first or last, the least or greatest, the top by an order.

use std::{cmp::Ordering, collections::VecDeque};

use document::{ArrayRef, Number, Value, ValueRef, compare};
use evaluation::{Error, Got, memory};

use super::Taken;
use crate::{
    expr::{Env, fail, read_path, shown},
    sort::{Part, Sort, SortKey},
};

/// How many, from an `n` argument.
pub fn count_of(value: ValueRef<'_>) -> Result<usize, Error> {
    let shown = || shown(value);
    let Some(number) = Number::of(value) else {
        let text = format!("Value for 'n' must be of integral type, but found {}", shown());
        return Err(fail(5_787_902, text));
    };
    let Some(whole) = number.to_i64_exact() else {
        let text = format!("Value for 'n' must be of integral type, but found {}", shown());
        return Err(fail(5_787_903, text));
    };
    if whole <= 0 {
        return Err(fail(5_787_908, format!("'n' must be greater than 0, found {whole}")));
    }
    Ok(usize::try_from(whole).unwrap_or(usize::MAX))
}

/// Some elements of an array, as the accumulator of this name would keep them.
pub fn pick_n(name: &str, values: ArrayRef<'_>, count: usize) -> Vec<Value> {
    match name {
        "$firstN" => values.iter().take(count).map(ValueRef::to_value).collect(),
        "$lastN" => {
            let skipped = values.len().saturating_sub(count);
            values.iter().skip(skipped).map(ValueRef::to_value).collect()
        }
        _ => {
            let mut ranked = Ranked::new(count, name == "$maxN");
            for value in values.iter() {
                ranked.add(Got::Ref(value));
            }
            ranked.values()
        }
    }
}

/// First or last values.
#[derive(Debug)]
pub struct Edge {
    most: usize,
    last: bool,
    pub(super) held: VecDeque<Value>,
}

impl Edge {
    pub(super) fn new(most: usize, last: bool) -> Self {
        Self { most, last, held: VecDeque::new() }
    }

    pub(super) fn add(&mut self, got: Got<'_>) -> usize {
        if !self.last && self.held.len() >= self.most {
            return 0;
        }
        let value = got.into_value().unwrap_or(Value::Null);
        let mut grown = memory(value.as_ref());
        self.held.push_back(value);
        if self.held.len() > self.most {
            let dropped = self.held.pop_front();
            grown = grown.saturating_sub(dropped.map_or(0, |value| memory(value.as_ref())));
        }
        grown
    }

    pub(super) fn value(self) -> Value {
        Value::Array(self.held.into())
    }
}

/// Least or greatest values; null and missing do not count.
#[derive(Debug)]
pub struct Ranked {
    most: usize,
    greatest: bool,
    pub(super) held: Vec<Value>,
}

impl Ranked {
    pub(super) fn new(most: usize, greatest: bool) -> Self {
        Self { most, greatest, held: Vec::new() }
    }

    fn order(&self, a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
        if self.greatest { compare(b, a) } else { compare(a, b) }
    }

    pub(super) fn add(&mut self, got: Got<'_>) -> usize {
        if got.is_nullish() {
            return 0;
        }
        let value = got.operand();
        let at = self.held.partition_point(|held| self.order(held.as_ref(), value).is_le());
        if at >= self.most {
            return 0;
        }
        let mut grown = memory(value);
        self.held.insert(at, value.to_value());
        if self.held.len() > self.most {
            let dropped = self.held.pop();
            grown = grown.saturating_sub(dropped.map_or(0, |value| memory(value.as_ref())));
        }
        grown
    }

    fn values(self) -> Vec<Value> {
        self.held
    }

    pub(super) fn value(self) -> Value {
        Value::Array(self.held)
    }
}

/// What a row is ranked by: values of expressions, so that arrays are not looked into.
fn key_of(sort: &Sort, env: &Env<'_>) -> SortKey {
    let value = |part: &Part| match read_path(env.root, &part.path, 0).into_value() {
        None => Value::Null,
        Some(Value::Array(values)) if values.is_empty() => Value::Undefined,
        Some(value) => value,
    };
    SortKey(sort.parts.iter().map(value).collect())
}

/// Outputs of the first or last rows by an order.
#[derive(Debug)]
pub struct Top {
    most: usize,
    one: bool,
    bottom: bool,
    pub(super) held: VecDeque<(SortKey, Value)>,
}

impl Top {
    pub(super) fn new(_taken: &Taken, most: usize, bottom: bool) -> Self {
        Self { most, one: false, bottom, held: VecDeque::new() }
    }

    pub(super) fn one(taken: &Taken, bottom: bool) -> Self {
        Self { one: true, ..Self::new(taken, 1, bottom) }
    }

    pub(super) fn add(&mut self, taken: &Taken, env: &Env<'_>) -> Result<usize, Error> {
        let key = key_of(&taken.sort, env);
        let after = |held: &(SortKey, Value)| taken.sort.compare(&held.0, &key).is_le();
        let at = self.held.partition_point(after);
        let full = self.held.len() >= self.most;
        // Among equals the ones that came first stay.
        let first = self.held.front().filter(|_| self.bottom);
        let beaten =
            first.map_or(at >= self.most, |(least, _)| taken.sort.compare(&key, least).is_le());
        if full && beaten {
            return Ok(0);
        }
        let value = taken.input.eval(env)?.unwrap_or(Value::Null);
        let mut grown = memory(value.as_ref());
        self.held.insert(at, (key, value));
        if self.held.len() > self.most {
            let dropped = if self.bottom { self.held.pop_front() } else { self.held.pop_back() };
            grown = grown.saturating_sub(dropped.map_or(0, |(_, value)| memory(value.as_ref())));
        }
        Ok(grown)
    }

    pub(super) fn value(self) -> Value {
        let mut values = self.held.into_iter().map(|(_, value)| value);
        match self.one {
            true => values.next().unwrap_or(Value::Null),
            false => Value::Array(values.collect()),
        }
    }
}
