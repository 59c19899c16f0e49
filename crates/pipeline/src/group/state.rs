//! What a group has computed so far. An enum in place of trait objects: groups may be many, a state
//! is small, and adding a row is a jump.
//!
//! ```text
//! {$group: {_id: "$k", n: {$sum: 1}, first: {$first: "$x"}}}
//!
//! group "a"   [Sum(3), First(Some(7))]     after three rows, the first of them with x: 7
//! group "b"   [Sum(1), First(Some(null))]  a missing value counts as null
//! ```

use document::{Document, Value};
use evaluation::{Error, Evaluated};

use super::top::Top;
use crate::accumulate::{
    Avg, DistinctValues, Edge, Extreme, JoinedArrays, Percentiles, PushedValues, Ranked,
    StandardDeviation, Sum, add_elements, merge_fields,
};

/// What a group has computed so far for one field. A variant for each kind of state; several
/// accumulators may share one.
/// The accumulator's row in the table says which one a new group begins with.
#[derive(Debug)]
pub enum GroupState {
    /// `$sum`: numbers of different types, each summed for itself.
    Sum(Sum),
    /// `$avg`: a sum and how many numbers it has.
    Avg(Avg),
    /// `$count`: rows.
    Count(i64),
    /// `$min`, `$max`: one value.
    Extreme(Extreme),
    /// `$first`: the value of the first row; none before it has come.
    First(Option<Value>),
    /// `$last`: the value of the last row so far.
    Last(Value),
    /// `$push`: all values, repeated ones too.
    Push(PushedValues),
    /// `$addToSet`: values, each once.
    Unique(DistinctValues),
    /// `$setUnion`: elements of arrays, each once.
    Union(DistinctValues),
    /// `$concatArrays`: elements of arrays.
    Joined(JoinedArrays),
    /// `$stdDevPop`, `$stdDevSamp`: mean and squares, not the numbers themselves.
    Deviation(StandardDeviation),
    /// `$mergeObjects`: the fields so far.
    Merged(Document),
    /// `$firstN`, `$lastN`: no more values than are wanted.
    Edge(Edge),
    /// `$minN`, `$maxN`: no more values than are wanted, in order.
    Ranked(Ranked),
    /// `$top`, `$bottom` and their like: outputs with what they are ordered by.
    Top(Top),
    /// `$median`, `$percentile`: all numbers, since any of them may be the result.
    Percentiles(Percentiles),
}

impl GroupState {
    /// Adds the value of a row to the state, a missing one too; returns by how many bytes the state
    /// grew. Counts and `$top` take whole rows, and do not come here.
    /// Fails only for accumulators that refuse values of other types.
    pub(super) fn take_value(&mut self, got: Evaluated<'_>) -> Result<usize, Error> {
        // About the bytes that a kept value takes.
        let weigh = |value: &Value| evaluation::memory_of(value.as_ref());
        match self {
            Self::Sum(sum) => sum.add_number(got.operand()),
            Self::Avg(avg) => avg.add_number(got.operand()),
            Self::Deviation(deviation) => deviation.add_number(got.operand()),
            Self::Extreme(extreme) => {
                return Ok(got.value().map_or(0, |value| extreme.add_value(value)));
            }
            // Later rows do not come here.
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

    /// The result, once all rows have come.
    /// A group has at least one row, so that nothing here is empty for lack of rows.
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
