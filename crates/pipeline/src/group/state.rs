//! The state of a group's accumulator. An enum instead of trait objects: there may be many groups,
//! states are small, and adding a row needs no virtual call.
//!
//! ```text
//! {$group: {_id: "$k", n: {$sum: 1}, first: {$first: "$x"}}}
//!
//! group "a"   [Sum(3), First(Some(7))]     after three rows, the first of them with x: 7
//! group "b"   [Sum(1), First(Some(null))]  a missing value counts as null
//! ```

use document::{Document, Value};
use evaluation::{Context, Error, Evaluated};

use super::top::Top;
use crate::accumulate::{
    Avg, DistinctValues, Extreme, FirstOrLast, JoinedArrays, MinOrMax, Percentiles, PushedValues,
    StandardDeviation, Sum, add_elements, merge_fields,
};

/// The state of one computed field of a group. There is a variant for each kind of state; several
/// accumulators may share one. The initial state is created by the accumulator's entry in the table
/// of accumulators (`table.rs`).
#[derive(Debug)]
pub enum GroupState {
    /// `$sum`: a sum per number type.
    Sum(Sum),
    /// `$avg`: the sum and the count of numbers.
    Avg(Avg),
    /// `$count`: the number of rows.
    Count(i64),
    /// `$min`, `$max`: the least or greatest value so far.
    Extreme(Extreme),
    /// `$first`: the value of the first row; `None` before there was a row.
    First(Option<Value>),
    /// `$last`: the value of the last row so far.
    Last(Value),
    /// `$push`: all values, including duplicates.
    Push(PushedValues),
    /// `$addToSet`: the distinct values so far.
    Unique(DistinctValues),
    /// `$setUnion`: the distinct elements of arrays.
    Union(DistinctValues),
    /// `$concatArrays`: the elements of arrays.
    Joined(JoinedArrays),
    /// `$stdDevPop`, `$stdDevSamp`: count, mean and squared distances of the numbers.
    Deviation(StandardDeviation),
    /// `$mergeObjects`: the merged fields so far.
    Merged(Document),
    /// `$firstN`, `$lastN`: the first or last n values so far.
    FirstOrLast(FirstOrLast),
    /// `$minN`, `$maxN`: the least or greatest n values so far, in order.
    MinOrMax(MinOrMax),
    /// `$top`, `$bottom`, `$topN`, `$bottomN`: output values with their sort keys.
    Top(Top),
    /// `$median`, `$percentile`: all numbers, since any of them may be the result.
    Percentiles(Percentiles),
}

impl GroupState {
    /// Adds the value of a row, which may be missing; returns the growth in bytes. Not called for
    /// counts, which need no value, and for `$top`, which needs the whole row. Fails only for
    /// accumulators that refuse values of other types.
    pub(super) fn take_value(
        &mut self,
        got: Evaluated<'_>,
        context: &Context,
    ) -> Result<usize, Error> {
        let weigh = |value: &Value| evaluation::memory_of(value.as_ref());
        match self {
            Self::Sum(sum) => sum.add_number(got.operand()),
            Self::Avg(avg) => avg.add_number(got.operand()),
            Self::Deviation(deviation) => deviation.add_number(got.operand()),
            Self::Extreme(extreme) => {
                return Ok(got.value().map_or(0, |value| extreme.add_value(value, context)));
            }
            // The caller skips later rows of the group.
            Self::First(held) => {
                let value = got.into_value().unwrap_or(Value::Null);
                let bytes = weigh(&value);
                *held = Some(value);
                return Ok(bytes);
            }
            // The previous value is released.
            Self::Last(held) => {
                let value = got.into_value().unwrap_or(Value::Null);
                let grown = weigh(&value).saturating_sub(weigh(held));
                *held = value;
                return Ok(grown);
            }
            Self::Push(held) => return Ok(held.add_value(got)),
            Self::Unique(held) => {
                return Ok(got.value().map_or(0, |value| held.add_distinct(value, context)));
            }
            Self::Union(held) => return add_elements(held, &got, context),
            Self::Joined(held) => return held.add_array(&got),
            Self::Merged(merged) => return merge_fields(merged, &got),
            Self::FirstOrLast(edge) => return Ok(edge.add_value(got)),
            Self::MinOrMax(ranked) => return Ok(ranked.add_value(got, context)),
            Self::Percentiles(held) => return Ok(held.add_number(got.operand())),
            Self::Count(_) | Self::Top(_) => {}
        }
        Ok(0)
    }

    /// Returns the value of the computed field, after the last row of the group. A group has at
    /// least one row.
    pub fn into_value(self) -> Value {
        match self {
            Self::Sum(sum) => sum.sum_value(),
            Self::Avg(avg) => avg.mean_value(),
            // A count is an `int` if it fits, else a `long`.
            Self::Count(count) => i32::try_from(count).map_or(Value::Int64(count), Value::Int32),
            Self::Extreme(extreme) => extreme.into_extreme(),
            Self::First(held) => held.unwrap_or(Value::Null),
            Self::Last(held) => held,
            Self::Push(held) => held.into_array(),
            Self::Unique(held) | Self::Union(held) => held.into_distinct(),
            Self::Joined(held) => held.into_joined(),
            Self::Deviation(deviation) => deviation.into_deviation(),
            Self::Merged(merged) => Value::Document(merged),
            Self::FirstOrLast(edge) => edge.into_edge(),
            Self::MinOrMax(ranked) => ranked.into_ranked(),
            Self::Top(top) => top.into_output(),
            Self::Percentiles(held) => held.into_percentiles(),
        }
    }
}
