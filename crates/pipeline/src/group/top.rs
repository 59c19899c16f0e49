//! Accumulators of the first or last rows by an order: `$top`, `$bottom` and their like.

use std::collections::VecDeque;

use document::Value;
use evaluation::{Error, memory_of};

use super::taken::Taken;
use crate::{
    expr::Env,
    path::read_path,
    sort::{Sort, SortKey, SortPart},
};

/// What a row is ranked by. Paths are read as expressions do, so that an array is compared as a
/// whole, unlike in `$sort`.
/// A missing value is null; an empty array comes before null, as undefined does.
fn key_of(sort: &Sort, env: &Env<'_>) -> SortKey {
    let value = |part: &SortPart| match read_path(env.root, &part.path, 0).into_value() {
        None => Value::Null,
        Some(Value::Array(values)) if values.is_empty() => Value::Undefined,
        Some(value) => value,
    };
    SortKey(sort.parts.iter().map(value).collect())
}

/// Outputs of the first or last rows by an order, with their keys.
#[derive(Debug)]
pub struct Top {
    /// How many outputs are kept.
    most: usize,
    /// Whether the result is one output and not an array.
    one: bool,
    /// Whether the last rows of the order are wanted.
    bottom: bool,
    /// Outputs with their keys, the first in the order in front.
    pub(super) held: VecDeque<(SortKey, Value)>,
}

impl Top {
    pub(super) fn new(_taken: &Taken, most: usize, bottom: bool) -> Self {
        Self { most, one: false, bottom, held: VecDeque::new() }
    }

    /// `$top` or `$bottom`: one output.
    pub(super) fn only_one(taken: &Taken, bottom: bool) -> Self {
        Self { one: true, ..Self::new(taken, 1, bottom) }
    }

    /// Adds a row if it is among the wanted ones; its output is evaluated only then. Returns by how
    /// many bytes the state grew.
    /// The bytes of keys are not counted.
    pub(super) fn add_row(&mut self, taken: &Taken, env: &Env<'_>) -> Result<usize, Error> {
        let key = key_of(&taken.sort, env);
        let after = |held: &(SortKey, Value)| taken.sort.compare(&held.0, &key).is_le();
        // After those that are equal, so that the order of rows decides among them.
        let at = self.held.partition_point(after);
        // For the last rows the front is the one that goes; a row that is not after it is not
        // wanted.
        let full = self.held.len() >= self.most;
        // Among equals the ones that came first stay.
        let first = self.held.front().filter(|_| self.bottom);
        let beaten =
            first.map_or(at >= self.most, |(least, _)| taken.sort.compare(&key, least).is_le());
        if full && beaten {
            return Ok(0);
        }
        let value = taken.input.evaluate(env)?.unwrap_or(Value::Null);
        let mut grown = memory_of(value.as_ref());
        self.held.insert(at, (key, value));
        if self.held.len() > self.most {
            let dropped = if self.bottom { self.held.pop_front() } else { self.held.pop_back() };
            grown = grown.saturating_sub(dropped.map_or(0, |(_, value)| memory_of(value.as_ref())));
        }
        Ok(grown)
    }

    /// The outputs in order, or the only one.
    pub(super) fn into_output(self) -> Value {
        let mut values = self.held.into_iter().map(|(_, value)| value);
        match self.one {
            true => values.next().unwrap_or(Value::Null),
            false => Value::Array(values.collect()),
        }
    }
}
