//! Saves the state of a group as a value while the group is spilled. A restored state continues
//! exactly: results are the same to the last digit.
//!
//! The value is BSON, since partitions are written as documents. Arguments of the accumulator, such
//! as the number of values to keep, are known when it is restored and are not saved.

use document::{Document, Value};
use evaluation::{Context, memory_of};

use super::state::GroupState;
use crate::{
    accumulate::{Avg, Compensated, StandardDeviation, Sum},
    sort::SortKey,
};

impl GroupState {
    /// Converts the state to a value that can be stored; it lacks the accumulator's arguments.
    pub(crate) fn into_saved(self) -> Value {
        match self {
            Self::Sum(sum) => save_sum(&sum),
            Self::Avg(avg) => Value::Array(vec![save_sum(&avg.sum), Value::Int64(avg.count)]),
            Self::Count(count) => Value::Int64(count),
            // Saved as an array, which is empty if there is no value; a null value is an element.
            Self::Extreme(extreme) => Value::Array(extreme.held.into_iter().collect()),
            Self::First(held) => Value::Array(held.into_iter().collect()),
            Self::Last(held) => held,
            Self::Push(held) => held.into_array(),
            Self::Unique(held) | Self::Union(held) => held.into_distinct(),
            Self::Joined(held) => held.into_joined(),
            Self::Deviation(StandardDeviation { count, mean, squares, .. }) => Value::Array(vec![
                Value::Int64(count.cast_signed()),
                Value::Double(mean),
                Value::Double(squares),
            ]),
            Self::Merged(merged) => Value::Document(merged),
            Self::FirstOrLast(edge) => edge.into_edge(),
            Self::MinOrMax(ranked) => ranked.into_ranked(),
            Self::Top(top) => {
                let pair = |(SortKey(key), value)| Value::Array(vec![Value::Array(key), value]);
                Value::Array(top.held.into_iter().map(pair).collect())
            }
            Self::Percentiles(held) => {
                // Binary, so that many numbers take no more memory than in the state.
                let bytes = held.numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
                Value::Binary { subtype: 0, bytes }
            }
        }
    }

    /// Restores a saved state of the same field; `self` is the state of a new group. Returns the
    /// growth in bytes; `None` if the value is not a saved state of this kind, as after damage to a
    /// temporary file.
    pub(crate) fn restore_from(&mut self, saved: Value, context: &Context) -> Option<usize> {
        let bytes = memory_of(saved.as_ref());
        match (self, saved) {
            (Self::Sum(sum), saved) => *sum = restore_sum(saved)?,
            (Self::Avg(avg), Value::Array(parts)) => {
                let [sum, Value::Int64(count)] = <[Value; 2]>::try_from(parts).ok()? else {
                    return None;
                };
                *avg = Avg { sum: restore_sum(sum)?, count };
            }
            (Self::Count(count), Value::Int64(saved)) => *count = saved,
            (Self::Extreme(extreme), Value::Array(held)) => extreme.held = held.into_iter().next(),
            (Self::First(first), Value::Array(held)) => *first = held.into_iter().next(),
            (Self::Last(last), saved) => *last = saved,
            (Self::Push(held), Value::Array(values)) => held.0 = values,
            (Self::Unique(held) | Self::Union(held), Value::Array(values)) => {
                // Keys are not saved but computed from the values.
                let add = |value: &Value| held.add_distinct(value.as_ref(), context);
                return Some(values.iter().map(add).sum());
            }
            (Self::Joined(held), Value::Array(values)) => held.0 = values,
            (Self::Deviation(deviation), Value::Array(parts)) => {
                let [Value::Int64(count), Value::Double(mean), Value::Double(squares)] =
                    <[Value; 3]>::try_from(parts).ok()?
                else {
                    return None;
                };
                deviation.count = count.cast_unsigned();
                (deviation.mean, deviation.squares) = (mean, squares);
            }
            (Self::Merged(merged), Value::Document(fields)) => *merged = fields,
            (Self::FirstOrLast(edge), Value::Array(values)) => edge.held = values.into(),
            (Self::MinOrMax(ranked), Value::Array(values)) => ranked.held = values,
            (Self::Top(top), Value::Array(pairs)) => {
                top.held = pairs.into_iter().map(saved_pair).collect::<Option<_>>()?;
            }
            (Self::Percentiles(held), Value::Binary { bytes, .. }) => {
                let (numbers, _) = bytes.as_chunks();
                held.numbers = numbers.iter().map(|number| f64::from_le_bytes(*number)).collect();
            }
            _ => return None,
        }
        Some(bytes)
    }
}

/// Splits a stored pair into its sort key and its value.
fn saved_pair(saved: Value) -> Option<(SortKey, Value)> {
    let Value::Array(pair) = saved else { return None };
    let [Value::Array(key), value] = <[Value; 2]>::try_from(pair).ok()? else { return None };
    Some((SortKey(key), value))
}

/// Saves a sum with all components, so that restoring does not change the last digit.
fn save_sum(sum: &Sum) -> Value {
    let mut saved = Document::new();
    let whole = sum.whole.to_le_bytes();
    saved.push("whole", Value::Binary { subtype: 0, bytes: whole.to_vec() });
    let Compensated { sum: total, rest, plain } = sum.double;
    let doubles = [total, rest, plain].map(Value::Double);
    saved.push("double", Value::Array(doubles.into()));
    if let Some(decimal) = sum.decimal {
        saved.push("decimal", Value::Decimal128(decimal));
    }
    saved.push("has", Value::Array(vec![sum.has_long.into(), sum.has_double.into()]));
    Value::Document(saved)
}

/// Restores a sum; `None` if the value is not a saved sum. The field `decimal` is missing if no
/// decimal was added.
fn restore_sum(saved: Value) -> Option<Sum> {
    let Value::Document(saved) = saved else { return None };
    let Value::Binary { bytes, .. } = saved.get("whole")? else { return None };
    let Value::Array(doubles) = saved.get("double")? else { return None };
    let [Value::Double(sum), Value::Double(rest), Value::Double(plain)] = *doubles.as_slice()
    else {
        return None;
    };
    let Value::Array(has) = saved.get("has")? else { return None };
    let [Value::Bool(has_long), Value::Bool(has_double)] = *has.as_slice() else { return None };
    let decimal = match saved.get("decimal") {
        Some(Value::Decimal128(decimal)) => Some(*decimal),
        _ => None,
    };
    Some(Sum {
        whole: i128::from_le_bytes(bytes.as_slice().try_into().ok()?),
        double: Compensated { sum, rest, plain },
        decimal,
        has_long,
        has_double,
    })
}
