//! Accumulators: what a group computes from its rows. One table row each; the state of a group is
//! an enum, so that adding a row is a jump and not a lookup.

mod saved;
mod top;

use document::{Document, Value, ValueRef};
use evaluation::{Error, Evaluated};

use crate::{
    accumulate::{
        Avg, Deviation, Edge, Extreme, Held, Joined, Percentiles, Ranked, Sum, Unique, count_of,
        merge, percentages, union,
    },
    expr::{Env, Expr},
    sort::Sort,
};

use top::Top;

/// What an accumulator takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
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

/// A row of the table.
#[derive(Clone, Copy)]
pub struct Accumulator {
    /// Its name, with the `$`.
    pub name: &'static str,
    /// What it takes.
    pub shape: Shape,
    /// What it is for.
    pub about: &'static str,
    start: fn(&Taken, usize) -> State,
}

impl std::fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// What one use of an accumulator was given.
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

const fn row(
    name: &'static str,
    shape: Shape,
    start: fn(&Taken, usize) -> State,
    about: &'static str,
) -> Accumulator {
    Accumulator { name, shape, about, start }
}

static TABLE: [Accumulator; 24] = [
    row("$addToSet", Shape::Value, |_, _| State::Unique(Unique::default()), "distinct values"),
    row("$avg", Shape::Value, |_, _| State::Avg(Avg::default()), "mean of the numbers"),
    row("$bottom", Shape::Top, |t, _| State::Top(Top::one(t, true)), "output of the last row"),
    row("$bottomN", Shape::TopN, |t, n| State::Top(Top::new(t, n, true)), "outputs of last rows"),
    row("$concatArrays", Shape::Value, |_, _| State::Joined(Joined::default()), "arrays joined"),
    row("$count", Shape::Nothing, |_, _| State::Count(0), "number of rows"),
    row("$first", Shape::Value, |_, _| State::First(None), "value of the first row"),
    row("$firstN", Shape::N, |_, n| State::Edge(Edge::new(n, false)), "values of first rows"),
    row("$last", Shape::Value, |_, _| State::Last(Value::Null), "value of the last row"),
    row("$lastN", Shape::N, |_, n| State::Edge(Edge::new(n, true)), "values of last rows"),
    row("$max", Shape::Value, |_, _| State::Extreme(Extreme::new(true)), "greatest value"),
    row("$maxN", Shape::N, |_, n| State::Ranked(Ranked::new(n, true)), "greatest values"),
    row("$median", Shape::Median, |_, _| State::Percentiles(Percentiles::median()), "middle"),
    row("$mergeObjects", Shape::Value, |_, _| State::Merged(Document::new()), "fields merged"),
    row("$min", Shape::Value, |_, _| State::Extreme(Extreme::new(false)), "least value"),
    row("$minN", Shape::N, |_, n| State::Ranked(Ranked::new(n, false)), "least values"),
    row(
        "$percentile",
        Shape::Percentile,
        |_, _| State::Percentiles(Percentiles::default()),
        "percentiles",
    ),
    row("$push", Shape::Value, |_, _| State::Push(Held::default()), "all values"),
    row(
        "$setUnion",
        Shape::Value,
        |_, _| State::Union(Unique::default()),
        "elements of all arrays",
    ),
    row(
        "$stdDevPop",
        Shape::Value,
        |_, _| State::Deviation(Deviation::new(false)),
        "deviation of a population",
    ),
    row(
        "$stdDevSamp",
        Shape::Value,
        |_, _| State::Deviation(Deviation::new(true)),
        "deviation of a sample",
    ),
    row("$sum", Shape::Value, |_, _| State::Sum(Sum::default()), "sum of the numbers"),
    row(
        "$top",
        Shape::Top,
        |t, _| State::Top(Top::one(t, false)),
        "output of the first row in order",
    ),
    row("$topN", Shape::TopN, |t, n| State::Top(Top::new(t, n, false)), "outputs of first rows"),
];

/// Every accumulator.
pub fn all() -> impl Iterator<Item = &'static Accumulator> {
    TABLE.iter()
}

/// The accumulator of this name (with the `$`).
pub fn find(name: &str) -> Option<&'static Accumulator> {
    TABLE.iter().find(|accumulator| accumulator.name == name)
}

/// What a group has computed so far for one field.
#[derive(Debug)]
pub enum State {
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
    Push(Held),
    /// `$addToSet`.
    Unique(Unique),
    /// `$setUnion`.
    Union(Unique),
    /// `$concatArrays`.
    Joined(Joined),
    /// `$stdDevPop`, `$stdDevSamp`.
    Deviation(Deviation),
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
    /// The state of a new group; `env` is over the group's key.
    pub fn start(&self, env: &Env<'_>) -> Result<State, Error> {
        let n = match self.accumulator.shape {
            Shape::N | Shape::TopN => count_of(self.taken.n.get(env)?.or_null())?,
            _ => 1,
        };
        let mut state = (self.accumulator.start)(&self.taken, n);
        if let (State::Percentiles(held), Shape::Percentile) = (&mut state, self.accumulator.shape)
        {
            held.ask(percentages(self.taken.n.get(env)?.or_null())?);
        }
        Ok(state)
    }

    /// Adds a row; answers by how many bytes the state grew.
    pub fn add(&self, state: &mut State, env: &Env<'_>) -> Result<usize, Error> {
        match state {
            State::Count(count) => {
                *count += 1;
                Ok(0)
            }
            State::First(Some(_)) => Ok(0),
            State::Top(top) => top.add(&self.taken, env),
            _ => state.take(self.taken.input.get(env)?),
        }
    }

    /// Adds a row whose input is known already.
    pub(crate) fn add_value(
        &self,
        state: &mut State,
        value: Option<ValueRef<'_>>,
        env: &Env<'_>,
    ) -> Result<usize, Error> {
        match state {
            State::Count(_) | State::First(Some(_)) | State::Top(_) => self.add(state, env),
            _ => state.take(value.map_or(Evaluated::Missing, Evaluated::Ref)),
        }
    }
}

impl State {
    fn take(&mut self, got: Evaluated<'_>) -> Result<usize, Error> {
        let weigh = |value: &Value| evaluation::memory_of(value.as_ref());
        match self {
            Self::Sum(sum) => sum.add(got.operand()),
            Self::Avg(avg) => avg.add(got.operand()),
            Self::Deviation(deviation) => deviation.add(got.operand()),
            Self::Extreme(extreme) => {
                return Ok(got.value().map_or(0, |value| extreme.add(value)));
            }
            Self::First(held) => {
                let value = got.into_value().unwrap_or(Value::Null);
                let bytes = weigh(&value);
                *held = Some(value);
                return Ok(bytes);
            }
            Self::Last(held) => {
                let value = got.into_value().unwrap_or(Value::Null);
                let grown = weigh(&value).saturating_sub(weigh(held));
                *held = value;
                return Ok(grown);
            }
            Self::Push(held) => return Ok(held.add(got)),
            Self::Unique(held) => return Ok(got.value().map_or(0, |value| held.add(value))),
            Self::Union(held) => return union(held, &got),
            Self::Joined(held) => return held.add(&got),
            Self::Merged(merged) => return merge(merged, &got),
            Self::Edge(edge) => return Ok(edge.add(got)),
            Self::Ranked(ranked) => return Ok(ranked.add(got)),
            Self::Percentiles(held) => return Ok(held.add(got.operand())),
            Self::Count(_) | Self::Top(_) => {}
        }
        Ok(0)
    }

    /// The result.
    pub fn value(self) -> Value {
        match self {
            Self::Sum(sum) => sum.value(),
            Self::Avg(avg) => avg.value(),
            Self::Count(count) => i32::try_from(count).map_or(Value::Int64(count), Value::Int32),
            Self::Extreme(extreme) => extreme.value(),
            Self::First(held) => held.unwrap_or(Value::Null),
            Self::Last(held) => held,
            Self::Push(held) => held.value(),
            Self::Unique(held) | Self::Union(held) => held.value(),
            Self::Joined(held) => held.value(),
            Self::Deviation(deviation) => deviation.value(),
            Self::Merged(merged) => Value::Document(merged),
            Self::Edge(edge) => edge.value(),
            Self::Ranked(ranked) => ranked.value(),
            Self::Top(top) => top.value(),
            Self::Percentiles(held) => held.value(),
        }
    }
}
