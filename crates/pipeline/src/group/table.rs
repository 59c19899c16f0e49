//! The table of accumulators, and the fields that groups compute with them. An entry of the table
//! describes the arguments of an accumulator and creates the state of a new group.
//!
//! ```text
//! {n: {$firstN: {input: "$x", n: 2}}}
//!
//! Field { name: "n", accumulator: $firstN, arguments: input $x, n 2 }
//! new group -> start_state -> FirstOrLast of 2 values;  row -> add_row adds the value of $x
//! ```

use document::{Document, Value, ValueRef};
use evaluation::{Error, Evaluated};

use super::{AccumulatorArguments, AccumulatorShape, state::GroupState, top::Top};
use crate::{
    accumulate::{
        Avg, DistinctValues, Extreme, FirstOrLast, JoinedArrays, MinOrMax, Percentiles,
        PushedValues, StandardDeviation, Sum, parse_count, parse_percentages,
    },
    expr::Env,
};

/// An accumulator: an entry of the table of accumulators.
#[derive(Clone, Copy)]
pub struct Accumulator {
    /// Name of the accumulator, including the `$`.
    pub name: &'static str,
    /// Form of the accumulator's arguments.
    pub shape: AccumulatorShape,
    /// A short description for the documentation.
    pub about: &'static str,
    /// Creates the state of a new group from the arguments and the count `n`. A function pointer,
    /// so that the table is a constant.
    start: fn(&AccumulatorArguments, usize) -> GroupState,
}

impl std::fmt::Debug for Accumulator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// One computed field of a group.
#[derive(Clone, Debug)]
pub struct Field {
    /// The field's name in the result.
    pub name: String,
    /// The accumulator that computes the field.
    pub accumulator: &'static Accumulator,
    /// The arguments of the accumulator.
    pub arguments: AccumulatorArguments,
}

const fn row(
    name: &'static str,
    shape: AccumulatorShape,
    start: fn(&AccumulatorArguments, usize) -> GroupState,
    about: &'static str,
) -> Accumulator {
    Accumulator { name, shape, about, start }
}

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
        "output of the last row in the sort order",
    ),
    row(
        "$bottomN",
        AccumulatorShape::TopN,
        |t, n| GroupState::Top(Top::new(t, n, true)),
        "outputs of the last rows in the sort order",
    ),
    row(
        "$concatArrays",
        AccumulatorShape::Value,
        |_, _| GroupState::Joined(JoinedArrays::default()),
        "concatenation of the arrays",
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
        |_, n| GroupState::FirstOrLast(FirstOrLast::with_count(n, false)),
        "values of the first rows",
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
        |_, n| GroupState::FirstOrLast(FirstOrLast::with_count(n, true)),
        "values of the last rows",
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
        |_, n| GroupState::MinOrMax(MinOrMax::with_count(n, true)),
        "greatest values",
    ),
    row(
        "$median",
        AccumulatorShape::Median,
        |_, _| GroupState::Percentiles(Percentiles::median()),
        "median of the numbers",
    ),
    row(
        "$mergeObjects",
        AccumulatorShape::Value,
        |_, _| GroupState::Merged(Document::new()),
        "fields of all objects; later objects take precedence",
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
        |_, n| GroupState::MinOrMax(MinOrMax::with_count(n, false)),
        "least values",
    ),
    row(
        "$percentile",
        AccumulatorShape::Percentile,
        |_, _| GroupState::Percentiles(Percentiles::default()),
        "percentiles of the numbers",
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
        "distinct elements of all arrays",
    ),
    row(
        "$stdDevPop",
        AccumulatorShape::Value,
        |_, _| GroupState::Deviation(StandardDeviation::new(false)),
        "standard deviation of a population",
    ),
    row(
        "$stdDevSamp",
        AccumulatorShape::Value,
        |_, _| GroupState::Deviation(StandardDeviation::new(true)),
        "standard deviation of a sample",
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
        "output of the first row in the sort order",
    ),
    row(
        "$topN",
        AccumulatorShape::TopN,
        |t, n| GroupState::Top(Top::new(t, n, false)),
        "outputs of the first rows in the sort order",
    ),
];

/// Returns the accumulators of the table.
pub fn all_accumulators() -> impl Iterator<Item = &'static Accumulator> {
    TABLE.iter()
}

/// Returns the accumulator with this name (including the `$`), by linear search in the short table.
pub fn find_accumulator(name: &str) -> Option<&'static Accumulator> {
    TABLE.iter().find(|accumulator| accumulator.name == name)
}

impl Field {
    /// Returns the state of a new group. `env` contains the group's key, on which `n` and `p` may
    /// depend: with `_id: {k: "$a"}` an `n` of `$k` is the `k` of the key. Fails if `n` is not a
    /// whole number above 0, or `p` not a list of percentages.
    pub fn start_state(&self, env: &Env<'_>) -> Result<GroupState, Error> {
        let n = match self.accumulator.shape {
            AccumulatorShape::N | AccumulatorShape::TopN => {
                parse_count(self.arguments.n.evaluate_borrowed(env)?.or_null())?
            }
            _ => 1,
        };
        let mut state = (self.accumulator.start)(&self.arguments, n);
        // The percentages may depend on the key.
        if let (GroupState::Percentiles(held), AccumulatorShape::Percentile) =
            (&mut state, self.accumulator.shape)
        {
            held.ask_for(parse_percentages(self.arguments.n.evaluate_borrowed(env)?.or_null())?);
        }
        Ok(state)
    }

    /// Adds the row of `env` to a state; returns by how many bytes the state has grown.
    pub fn add_row(&self, state: &mut GroupState, env: &Env<'_>) -> Result<usize, Error> {
        match state {
            // A count has no input to evaluate.
            GroupState::Count(count) => {
                *count += 1;
                Ok(0)
            }
            // The input of later rows is not even evaluated.
            GroupState::First(Some(_)) => Ok(0),
            // The output expression is evaluated only for rows that are kept.
            GroupState::Top(top) => top.add_row(&self.arguments, env),
            _ => state.take_value(self.arguments.input.evaluate_borrowed(env)?, env.context),
        }
    }

    /// Adds a row to a state, given the value of its input field (`None`: missing), which was read
    /// together with other fields. Returns by how many bytes the state has grown.
    pub(crate) fn add_value(
        &self,
        state: &mut GroupState,
        value: Option<ValueRef<'_>>,
        env: &Env<'_>,
    ) -> Result<usize, Error> {
        match state {
            // These accumulators read no input, or evaluate it themselves.
            GroupState::Count(_) | GroupState::First(Some(_)) | GroupState::Top(_) => {
                self.add_row(state, env)
            }
            _ => state.take_value(value.map_or(Evaluated::Missing, Evaluated::Ref), env.context),
        }
    }
}
