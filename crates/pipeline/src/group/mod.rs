//! Accumulators: what a group computes from its rows. One table row each; the state of a group is
//! an enum, so that adding a row is a jump and not a lookup.
//!
//! `exec/group` has the groups, this module what they compute, `accumulate` the states over values.
//! A state can be saved as a value and restored (`saved`), for groups that memory does not hold.

mod saved;
mod top;

use document::{Document, Value, ValueRef};
use evaluation::{Error, Evaluated};

use crate::{
    accumulate::{
        Avg, DistinctValues, Edge, Extreme, JoinedArrays, Percentiles, PushedValues, Ranked,
        StandardDeviation, Sum, add_elements, merge_fields, parse_count, parse_percentages,
    },
    expr::{Env, Expr},
    sort::Sort,
};

use top::Top;

/// What an accumulator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccumulatorShape {
    /// One expression.
    Value,
    /// Nothing.
    Nothing,
    /// `{input, n}`.
    N,
    /// `{sortBy, output}`.
    Top,
    /// `{n, sortBy, output}`.
    TopN,
    /// `{input, method}`.
    Median,
    /// `{input, p, method}`.
    Percentile,
}

/// A row of the table: an accumulator by its name.
#[derive(Clone, Copy)]
pub struct Accumulator {
    /// Its name, with the `$`.
    pub name: &'static str,
    /// What it takes.
    pub shape: AccumulatorShape,
    /// What it is for.
    pub about: &'static str,
    /// Makes the state of a new group, given what the use says and the count `n`.
    start: fn(&Taken, usize) -> GroupState,
}

impl std::fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What one use of an accumulator was given, as the parser reads it.
#[derive(Clone, Debug)]
pub struct Taken {
    /// The value of a row: the input or output.
    pub input: Expr,
    /// How many, or which percentages; evaluated over the group's key.
    pub n: Expr,
    /// By what `$top` and its like order.
    pub sort: Sort,
}

/// One computed field of a group.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// How it is computed.
    pub accumulator: &'static Accumulator,
    /// Of what.
    pub taken: Taken,
}

/// A row of the table.
const fn row(
    name: &'static str,
    shape: AccumulatorShape,
    start: fn(&Taken, usize) -> GroupState,
    about: &'static str,
) -> Accumulator {
    Accumulator { name, shape, about, start }
}

/// All accumulators, by name.
static TABLE: [Accumulator; 24] = [
    row(
        "$addToSet",
        AccumulatorShape::Value,
        |_, _| GroupState::Unique(DistinctValues::default()),
        "distinct values",
    ),
    row(
        "$avg",
        AccumulatorShape::Value,
        |_, _| GroupState::Avg(Avg::default()),
        "mean of the numbers",
    ),
    row(
        "$bottom",
        AccumulatorShape::Top,
        |t, _| GroupState::Top(Top::only_one(t, true)),
        "output of the last row",
    ),
    row(
        "$bottomN",
        AccumulatorShape::TopN,
        |t, n| GroupState::Top(Top::new(t, n, true)),
        "outputs of last rows",
    ),
    row(
        "$concatArrays",
        AccumulatorShape::Value,
        |_, _| GroupState::Joined(JoinedArrays::default()),
        "arrays joined",
    ),
    row("$count", AccumulatorShape::Nothing, |_, _| GroupState::Count(0), "number of rows"),
    row(
        "$first",
        AccumulatorShape::Value,
        |_, _| GroupState::First(None),
        "value of the first row",
    ),
    row(
        "$firstN",
        AccumulatorShape::N,
        |_, n| GroupState::Edge(Edge::with_count(n, false)),
        "values of first rows",
    ),
    row(
        "$last",
        AccumulatorShape::Value,
        |_, _| GroupState::Last(Value::Null),
        "value of the last row",
    ),
    row(
        "$lastN",
        AccumulatorShape::N,
        |_, n| GroupState::Edge(Edge::with_count(n, true)),
        "values of last rows",
    ),
    row(
        "$max",
        AccumulatorShape::Value,
        |_, _| GroupState::Extreme(Extreme::new(true)),
        "greatest value",
    ),
    row(
        "$maxN",
        AccumulatorShape::N,
        |_, n| GroupState::Ranked(Ranked::with_count(n, true)),
        "greatest values",
    ),
    row(
        "$median",
        AccumulatorShape::Median,
        |_, _| GroupState::Percentiles(Percentiles::median()),
        "middle",
    ),
    row(
        "$mergeObjects",
        AccumulatorShape::Value,
        |_, _| GroupState::Merged(Document::new()),
        "fields merged",
    ),
    row(
        "$min",
        AccumulatorShape::Value,
        |_, _| GroupState::Extreme(Extreme::new(false)),
        "least value",
    ),
    row(
        "$minN",
        AccumulatorShape::N,
        |_, n| GroupState::Ranked(Ranked::with_count(n, false)),
        "least values",
    ),
    row(
        "$percentile",
        AccumulatorShape::Percentile,
        |_, _| GroupState::Percentiles(Percentiles::default()),
        "percentiles",
    ),
    row(
        "$push",
        AccumulatorShape::Value,
        |_, _| GroupState::Push(PushedValues::default()),
        "all values",
    ),
    row(
        "$setUnion",
        AccumulatorShape::Value,
        |_, _| GroupState::Union(DistinctValues::default()),
        "elements of all arrays",
    ),
    row(
        "$stdDevPop",
        AccumulatorShape::Value,
        |_, _| GroupState::Deviation(StandardDeviation::new(false)),
        "deviation of a population",
    ),
    row(
        "$stdDevSamp",
        AccumulatorShape::Value,
        |_, _| GroupState::Deviation(StandardDeviation::new(true)),
        "deviation of a sample",
    ),
    row(
        "$sum",
        AccumulatorShape::Value,
        |_, _| GroupState::Sum(Sum::default()),
        "sum of the numbers",
    ),
    row(
        "$top",
        AccumulatorShape::Top,
        |t, _| GroupState::Top(Top::only_one(t, false)),
        "output of the first row in order",
    ),
    row(
        "$topN",
        AccumulatorShape::TopN,
        |t, n| GroupState::Top(Top::new(t, n, false)),
        "outputs of first rows",
    ),
];

/// Every accumulator.
pub fn all_accumulators() -> impl Iterator<Item = &'static Accumulator> {
    TABLE.iter()
}

/// The accumulator of this name (with the `$`). There are few, so that they are looked through.
pub fn find_accumulator(name: &str) -> Option<&'static Accumulator> {
    TABLE.iter().find(|accumulator| accumulator.name == name)
}

/// What a group has computed so far for one field. A variant for each kind of state; several
/// accumulators may share one.
#[derive(Debug)]
pub enum GroupState {
    /// `$sum`.
    Sum(Sum),
    /// `$avg`.
    Avg(Avg),
    /// `$count`.
    Count(i64),
    /// `$min`, `$max`.
    Extreme(Extreme),
    /// `$first`.
    First(Option<Value>),
    /// `$last`.
    Last(Value),
    /// `$push`.
    Push(PushedValues),
    /// `$addToSet`.
    Unique(DistinctValues),
    /// `$setUnion`.
    Union(DistinctValues),
    /// `$concatArrays`.
    Joined(JoinedArrays),
    /// `$stdDevPop`, `$stdDevSamp`.
    Deviation(StandardDeviation),
    /// `$mergeObjects`.
    Merged(Document),
    /// `$firstN`, `$lastN`.
    Edge(Edge),
    /// `$minN`, `$maxN`.
    Ranked(Ranked),
    /// `$top`, `$bottom` and their like.
    Top(Top),
    /// `$median`, `$percentile`.
    Percentiles(Percentiles),
}

impl Field {
    /// The state of a new group; `env` is over the group's key, which is all that `n` and `p` may
    /// depend on.
    pub fn start_state(&self, env: &Env<'_>) -> Result<GroupState, Error> {
        // Evaluated over the group's key, once for each group.
        let n = match self.accumulator.shape {
            AccumulatorShape::N | AccumulatorShape::TopN => {
                parse_count(self.taken.n.evaluate_borrowed(env)?.or_null())?
            }
            _ => 1,
        };
        let mut state = (self.accumulator.start)(&self.taken, n);
        // Which percentiles are asked for may depend on the key.
        if let (GroupState::Percentiles(held), AccumulatorShape::Percentile) =
            (&mut state, self.accumulator.shape)
        {
            held.ask_for(parse_percentages(self.taken.n.evaluate_borrowed(env)?.or_null())?);
        }
        Ok(state)
    }

    /// Adds a row; returns by how many bytes the state grew.
    pub fn add_row(&self, state: &mut GroupState, env: &Env<'_>) -> Result<usize, Error> {
        match state {
            GroupState::Count(count) => {
                *count += 1;
                Ok(0)
            }
            // The input of later rows is not even evaluated.
            GroupState::First(Some(_)) => Ok(0),
            // Its output is evaluated only for rows that are kept.
            GroupState::Top(top) => top.add_row(&self.taken, env),
            _ => state.take_value(self.taken.input.evaluate_borrowed(env)?),
        }
    }

    /// Adds a row whose input was read already, together with others of the same row.
    pub(crate) fn add_value(
        &self,
        state: &mut GroupState,
        value: Option<ValueRef<'_>>,
        env: &Env<'_>,
    ) -> Result<usize, Error> {
        match state {
            GroupState::Count(_) | GroupState::First(Some(_)) | GroupState::Top(_) => {
                self.add_row(state, env)
            }
            _ => state.take_value(value.map_or(Evaluated::Missing, Evaluated::Ref)),
        }
    }
}

impl GroupState {
    /// Adds a value; returns by how many bytes the state grew.
    fn take_value(&mut self, got: Evaluated<'_>) -> Result<usize, Error> {
        // About the bytes that a kept value takes.
        let weigh = |value: &Value| evaluation::memory_of(value.as_ref());
        match self {
            Self::Sum(sum) => sum.add_number(got.operand()),
            Self::Avg(avg) => avg.add_number(got.operand()),
            Self::Deviation(deviation) => deviation.add_number(got.operand()),
            Self::Extreme(extreme) => {
                return Ok(got.value().map_or(0, |value| extreme.add_value(value)));
            }
            Self::First(held) => {
                let value = got.into_value().unwrap_or(Value::Null);
                let bytes = weigh(&value);
                *held = Some(value);
                return Ok(bytes);
            }
            // It replaces the one before, so that only the difference is held more.
            Self::Last(held) => {
                let value = got.into_value().unwrap_or(Value::Null);
                let grown = weigh(&value).saturating_sub(weigh(held));
                *held = value;
                return Ok(grown);
            }
            Self::Push(held) => return Ok(held.add_value(got)),
            Self::Unique(held) => {
                return Ok(got.value().map_or(0, |value| held.add_distinct(value)));
            }
            Self::Union(held) => return add_elements(held, &got),
            Self::Joined(held) => return held.add_array(&got),
            Self::Merged(merged) => return merge_fields(merged, &got),
            Self::Edge(edge) => return Ok(edge.add_value(got)),
            Self::Ranked(ranked) => return Ok(ranked.add_value(got)),
            Self::Percentiles(held) => return Ok(held.add_number(got.operand())),
            Self::Count(_) | Self::Top(_) => {}
        }
        Ok(0)
    }

    /// The result.
    pub fn into_value(self) -> Value {
        match self {
            Self::Sum(sum) => sum.sum_value(),
            Self::Avg(avg) => avg.mean_value(),
            // A count is an `int` as long as it can be.
            Self::Count(count) => i32::try_from(count).map_or(Value::Int64(count), Value::Int32),
            Self::Extreme(extreme) => extreme.into_extreme(),
            Self::First(held) => held.unwrap_or(Value::Null),
            Self::Last(held) => held,
            Self::Push(held) => held.into_array(),
            Self::Unique(held) | Self::Union(held) => held.into_distinct(),
            Self::Joined(held) => held.into_joined(),
            Self::Deviation(deviation) => deviation.into_deviation(),
            Self::Merged(merged) => Value::Document(merged),
            Self::Edge(edge) => edge.into_edge(),
            Self::Ranked(ranked) => ranked.into_ranked(),
            Self::Top(top) => top.into_output(),
            Self::Percentiles(held) => held.into_percentiles(),
        }
    }
}
