//! Accumulators of the first or last rows in a sort order: `$top`, `$bottom`, `$topN`, `$bottomN`.

use std::collections::VecDeque;

use document::Value;
use evaluation::{Error, memory_of};

use super::AccumulatorArguments;
use crate::{
    expr::Env,
    path::read_path,
    sort::{Sort, SortKey, SortPart, key_value},
};

/// Returns the sort key of a row. Paths are read as in expressions, so that arrays are compared as
/// a whole, unlike in `$sort`. A missing value is null; an empty array sorts before null, like
/// undefined.
fn key_of(sort: &Sort, env: &Env<'_>) -> SortKey {
    let value = |part: &SortPart| match read_path(env.root, &part.path, 0).into_value() {
        None => Value::Null,
        Some(Value::Array(values)) if values.is_empty() => Value::Undefined,
        Some(value) if env.context.collation.is_none() => value,
        Some(value) => key_value(value.as_ref(), env.context.collation()),
    };
    SortKey(sort.parts.iter().map(value).collect())
}

/// The outputs of the first or last rows in a sort order, with their keys.
#[derive(Debug)]
pub struct Top {
    limit: usize,
    /// Whether the result is a single value, rather than an array.
    one: bool,
    /// Whether the last rows are kept, rather than the first.
    bottom: bool,
    /// Output values with their sort keys, in sort order.
    pub(super) held: VecDeque<(SortKey, Value)>,
}

impl Top {
    pub(super) fn new(_taken: &AccumulatorArguments, limit: usize, bottom: bool) -> Self {
        Self { limit, one: false, bottom, held: VecDeque::new() }
    }

    /// Creates the state of `$top` or `$bottom`.
    pub(super) fn only_one(arguments: &AccumulatorArguments, bottom: bool) -> Self {
        Self { one: true, ..Self::new(arguments, 1, bottom) }
    }

    /// Adds a row if it is among the kept ones; only then is its output evaluated. Returns the
    /// growth in bytes, without keys.
    pub(super) fn add_row(
        &mut self,
        arguments: &AccumulatorArguments,
        env: &Env<'_>,
    ) -> Result<usize, Error> {
        let key = key_of(&arguments.sort, env);
        let after = |held: &(SortKey, Value)| arguments.sort.compare(&held.0, &key).is_le();
        // Inserted after equal keys, so that rows with equal keys stay in their order.
        let at = self.held.partition_point(after);
        // If the last rows are kept, a new row replaces the first one; it is not kept unless it
        // sorts after that row.
        let full = self.held.len() >= self.limit;
        // Of equal rows the earlier ones are kept.
        let first = self.held.front().filter(|_| self.bottom);
        let beaten = first
            .map_or(at >= self.limit, |(least, _)| arguments.sort.compare(&key, least).is_le());
        if full && beaten {
            return Ok(0);
        }
        let value = arguments.input.evaluate(env)?.unwrap_or(Value::Null);
        let mut grown = memory_of(value.as_ref());
        self.held.insert(at, (key, value));
        if self.held.len() > self.limit {
            let dropped = if self.bottom { self.held.pop_front() } else { self.held.pop_back() };
            grown = grown.saturating_sub(dropped.map_or(0, |(_, value)| memory_of(value.as_ref())));
        }
        Ok(grown)
    }

    /// Returns the output values as an array in order; for `$top` and `$bottom` the only output
    /// value.
    pub(super) fn into_output(self) -> Value {
        let mut values = self.held.into_iter().map(|(_, value)| value);
        match self.one {
            true => values.next().unwrap_or(Value::Null),
            false => Value::Array(values.collect()),
        }
    }
}
