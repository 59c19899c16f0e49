//! What one operator does to the value at one path.

use document::{Value, compare, shell};
use evaluation::{Context, Error, Kind, memory_of};

use super::{
    Pull, Push, arithmetic,
    array::{add_to_set, array_of, pull_all},
    identical,
    path::EditPath,
};

/// An operator with its operand.
#[derive(Clone, Debug)]
pub enum Operator {
    /// Sets the value.
    Set(Value),
    /// Sets the value of a document that is inserted.
    SetOnInsert(Value),
    /// Removes the field.
    Unset,
    /// Adds a number.
    Add(Value),
    /// Multiplies by a number.
    Multiply(Value),
    /// Sets the value if it is less.
    Min(Value),
    /// Sets the value if it is greater.
    Max(Value),
    /// Moves the value of another field here.
    RenameFrom(EditPath),
    /// Sets the instant as a date.
    CurrentDate,
    /// Sets the instant as a timestamp.
    CurrentTimestamp,
    /// Adds elements to an array.
    Push(Push),
    /// Adds elements that are not there yet.
    AddToSet(Vec<Value>),
    /// Takes out the first element.
    PopFirst,
    /// Takes out the last element.
    PopLast,
    /// Takes out elements that meet a condition.
    Pull(Pull),
    /// Takes out elements equal to one of these.
    PullAll(Vec<Value>),
    /// Bit operations, one after the other.
    Bits(Vec<(BitOperator, Value)>),
}

/// A bit operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOperator {
    /// Both bits.
    And,
    /// Either bit.
    Or,
    /// One bit but not the other.
    Xor,
}

/// Where an operator is applied, for messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'a> {
    pub(super) path: &'a [String],
    /// `_id: 1`, or what stands for it.
    pub(super) id: &'a str,
    pub(super) context: &'a Context,
}

impl Spot<'_> {
    fn name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

fn bad_value(text: String) -> Error {
    Error::new(Kind::Invalid, 2, text)
}

fn mismatch(text: String) -> Error {
    Error::new(Kind::TypeMismatch, 14, text)
}

fn put(value: &mut Value, new: Value) -> bool {
    let changed = !identical(value, &new);
    *value = new;
    changed
}

impl Operator {
    /// Whether it makes a field that is missing.
    pub fn creates(&self) -> bool {
        !matches!(
            self,
            Self::Unset | Self::PopFirst | Self::PopLast | Self::Pull(_) | Self::PullAll(_)
        )
    }

    /// About the memory that a value takes which it puts somewhere.
    pub(super) fn adds(&self) -> usize {
        let all = |values: &[Value]| values.iter().map(|value| memory_of(value.as_ref())).sum();
        match self {
            Self::Set(value) | Self::SetOnInsert(value) => memory_of(value.as_ref()),
            Self::Min(value) | Self::Max(value) => memory_of(value.as_ref()),
            Self::Push(push) => all(&push.values),
            Self::AddToSet(values) => all(values),
            _ => 0,
        }
    }

    /// The value of a field that was missing.
    pub(super) fn create(&self, spot: Spot<'_>) -> Option<Value> {
        Some(match self {
            Self::Set(value) | Self::SetOnInsert(value) => value.clone(),
            Self::Add(value) | Self::Min(value) | Self::Max(value) => value.clone(),
            Self::Multiply(value) => arithmetic::multiply(&Value::Int32(0), value)?,
            Self::CurrentDate => Value::DateTime(spot.context.now_ms),
            Self::CurrentTimestamp => timestamp(spot.context.now_ms),
            Self::Push(push) => {
                let mut values = Vec::new();
                push.apply(&mut values);
                Value::Array(values)
            }
            Self::AddToSet(new) => {
                let mut values = Vec::new();
                add_to_set(&mut values, new);
                Value::Array(values)
            }
            Self::Bits(operations) => bits(operations, Value::Int32(0))?,
            Self::Unset | Self::RenameFrom(_) | Self::PopFirst | Self::PopLast => return None,
            Self::Pull(_) | Self::PullAll(_) => return None,
        })
    }

    /// Changes a value; whether any bit of it changed.
    pub(super) fn modify(&self, value: &mut Value, spot: Spot<'_>) -> Result<bool, Error> {
        match self {
            Self::Set(new) | Self::SetOnInsert(new) => Ok(put(value, new.clone())),
            Self::Min(new) => {
                let less = compare(new.as_ref(), value.as_ref()).is_lt();
                Ok(less && put(value, new.clone()))
            }
            Self::Max(new) => {
                let greater = compare(new.as_ref(), value.as_ref()).is_gt();
                Ok(greater && put(value, new.clone()))
            }
            Self::Add(operand) => number(value, operand, "$inc", arithmetic::add, spot),
            Self::Multiply(operand) => number(value, operand, "$mul", arithmetic::multiply, spot),
            Self::CurrentDate => Ok(put(value, Value::DateTime(spot.context.now_ms))),
            Self::CurrentTimestamp => Ok(put(value, timestamp(spot.context.now_ms))),
            Self::Bits(operations) => modify_bits(operations, value, spot),
            Self::Push(push) => modify_push(push, value, spot),
            Self::AddToSet(new) => {
                let values = array_of(value).map_err(|other| {
                    bad_value(format!(
                        "Cannot apply $addToSet to non-array field. Field named '{}' has \
                         non-array type {}",
                        spot.name(),
                        other.kind().name()
                    ))
                })?;
                Ok(add_to_set(values, new))
            }
            Self::PopFirst | Self::PopLast => self.pop(value, spot),
            Self::Pull(pull) => {
                let values = array_of(value).map_err(not_pullable)?;
                pull.apply(values, spot.context)
            }
            Self::PullAll(unwanted) => {
                Ok(pull_all(array_of(value).map_err(not_pullable)?, unwanted))
            }
            Self::Unset | Self::RenameFrom(_) => Ok(false),
        }
    }

    fn pop(&self, value: &mut Value, spot: Spot<'_>) -> Result<bool, Error> {
        let values = array_of(value).map_err(|other| {
            let (path, kind) = (spot.path.join("."), other.kind().name());
            mismatch(format!("Path '{path}' contains an element of non-array type '{kind}'"))
        })?;
        let held = !values.is_empty();
        if held && matches!(self, Self::PopFirst) {
            values.remove(0);
        } else {
            values.pop();
        }
        Ok(held)
    }
}

fn not_pullable(_: document::ValueRef<'_>) -> Error {
    bad_value("Cannot apply $pull to a non-array value".to_owned())
}

/// Seconds, and within a second the milliseconds from 1 on, so that later instants are greater.
fn timestamp(now_ms: i64) -> Value {
    let seconds = u64::try_from(now_ms.div_euclid(1000)).unwrap_or(0);
    let increment = u64::try_from(now_ms.rem_euclid(1000)).unwrap_or(0) + 1;
    Value::Timestamp(seconds << 32 | increment)
}

fn number(
    value: &mut Value,
    operand: &Value,
    name: &str,
    combine: fn(&Value, &Value) -> Option<Value>,
    spot: Spot<'_>,
) -> Result<bool, Error> {
    if !value.as_ref().is_number() {
        return Err(mismatch(format!(
            "Cannot apply {name} to a value of non-numeric type. {{{}}} has the field '{}' of \
             non-numeric type {}",
            spot.id,
            spot.name(),
            value.kind().name()
        )));
    }
    match combine(value, operand) {
        Some(new) => Ok(put(value, new)),
        None => {
            let kind = if matches!(value, Value::Int32(_)) { "NumberInt" } else { "NumberLong" };
            Err(bad_value(format!(
                "Failed to apply {name} operations to current value (({kind}){}) for document \
                 {{{}}}",
                shell(value.as_ref()),
                spot.id
            )))
        }
    }
}

fn bits(operations: &[(BitOperator, Value)], start: Value) -> Option<Value> {
    operations
        .iter()
        .try_fold(start, |value, (operator, operand)| arithmetic::bits(*operator, &value, operand))
}

fn modify_bits(
    operations: &[(BitOperator, Value)],
    value: &mut Value,
    spot: Spot<'_>,
) -> Result<bool, Error> {
    match bits(operations, value.clone()) {
        Some(new) => Ok(put(value, new)),
        None => Err(bad_value(format!(
            "Cannot apply $bit to a value of non-integral type.{} has the field {} of \
             non-integer type {}",
            spot.id,
            spot.name(),
            value.kind().name()
        ))),
    }
}

fn modify_push(push: &Push, value: &mut Value, spot: Spot<'_>) -> Result<bool, Error> {
    let values = array_of(value).map_err(|other| {
        bad_value(format!(
            "The field '{}' must be an array but is of type {} in document {{{}}}",
            spot.path.join("."),
            other.kind().name(),
            spot.id
        ))
    })?;
    let only_appends = push.order.is_none() && push.slice.is_none();
    if only_appends {
        push.apply(values);
        return Ok(!push.values.is_empty());
    }
    let before = values.clone();
    push.apply(values);
    let same = before.len() == values.len()
        && before.iter().zip(values.iter()).all(|(a, b)| identical(a, b));
    Ok(!same)
}
