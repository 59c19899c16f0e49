//! The effect of one operator on the value at one path.

use document::{Value, compare, shell};
use evaluation::{Context, Error, Kind, memory_of};

use super::{
    Pull, Push, arithmetic,
    array::{add_to_set, array_of, pull_all},
    is_identical,
    path::EditPath,
};

/// An update operator with its operand.
#[derive(Clone, Debug)]
pub enum Operator {
    /// `$set`: sets the field's value.
    Set(Value),
    /// `$setOnInsert`: sets the value in an inserted document.
    SetOnInsert(Value),
    /// `$unset`: removes the field from its document.
    Unset,
    /// `$inc`: adds a number to the field.
    Add(Value),
    /// `$mul`: multiplies by a number.
    Multiply(Value),
    /// `$min`: sets the value to the operand if that is less.
    Min(Value),
    /// `$max`: sets the value to the operand if that is greater.
    Max(Value),
    /// `$rename`: moves the value of another field to this path.
    RenameFrom(EditPath),
    /// `$currentDate`: sets the operation's instant as a date.
    CurrentDate,
    /// `$currentDate`: sets the operation's instant as a timestamp.
    CurrentTimestamp,
    /// `$push`: adds elements to an array.
    Push(Push),
    /// `$addToSet`: adds elements that do not exist yet.
    AddToSet(Vec<Value>),
    /// `$pop`: removes the first element.
    PopFirst,
    /// `$pop`: removes the last element.
    PopLast,
    /// `$pull`: removes elements that meet a condition.
    Pull(Pull),
    /// `$pullAll`: removes elements equal to one of these.
    PullAll(Vec<Value>),
    /// `$bit`: bit operations, applied in order.
    Bits(Vec<(BitOperator, Value)>),
}

/// A bit operation of `$bit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOperator {
    /// The result has the bits that are set in both operands.
    And,
    /// The result has the bits that are set in at least one operand.
    Or,
    /// The result has the bits that are set in exactly one operand.
    Xor,
}

/// The target of an operator. Error texts name it by path and `_id`, like MongoDB's.
#[derive(Clone, Copy, Debug)]
pub(super) struct TargetSpot<'a> {
    pub(super) path: &'a [String],
    /// The `_id` of the document as text, such as `_id: 1`, for error messages.
    pub(super) id: &'a str,
    /// The operation's context, whose instant `$currentDate` uses.
    pub(super) context: &'a Context,
}

impl TargetSpot<'_> {
    /// Returns the last name of the path.
    fn field_name(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }
}

/// Returns the error for a value to which an operator does not apply.
fn bad_value(text: String) -> Error {
    Error::new(Kind::Invalid, 2, text)
}

/// Returns the error of a value with a wrong type.
fn type_mismatch(text: String) -> Error {
    Error::new(Kind::TypeMismatch, 14, text)
}

/// Replaces a value; returns whether any bit changed.
fn replace_value(value: &mut Value, new: Value) -> bool {
    let changed = !is_identical(value, &new);
    *value = new;
    changed
}

impl Operator {
    /// Returns whether the operator creates a missing field; `$rename` creates its target field.
    pub fn creates_field(&self) -> bool {
        !matches!(
            self,
            Self::Unset | Self::PopFirst | Self::PopLast | Self::Pull(_) | Self::PullAll(_)
        )
    }

    /// Returns the approximate memory of the values that the operator adds from the request.
    /// Counted before the operator is applied.
    pub(super) fn added_memory(&self) -> usize {
        let all = |values: &[Value]| values.iter().map(|value| memory_of(value.as_ref())).sum();
        match self {
            Self::Set(value) | Self::SetOnInsert(value) => memory_of(value.as_ref()),
            Self::Min(value) | Self::Max(value) => memory_of(value.as_ref()),
            Self::Push(push) => all(&push.values),
            Self::AddToSet(values) => all(values),
            _ => 0,
        }
    }

    /// Returns the value for a missing field; `None` for operators that only change or remove.
    /// `$inc` sets its operand, `$mul` a zero of the operand's type.
    pub(super) fn new_value(&self, spot: TargetSpot<'_>) -> Option<Value> {
        Some(match self {
            Self::Set(value) | Self::SetOnInsert(value) => value.clone(),
            Self::Add(value) | Self::Min(value) | Self::Max(value) => value.clone(),
            Self::Multiply(value) => arithmetic::multiply_numbers(&Value::Int32(0), value)?,
            Self::CurrentDate => Value::DateTime(spot.context.now_ms),
            Self::CurrentTimestamp => timestamp_of(spot.context.now_ms),
            Self::Push(push) => {
                let mut values = Vec::new();
                push.push_into(&mut values, spot.context);
                Value::Array(values)
            }
            Self::AddToSet(new) => {
                let mut values = Vec::new();
                add_to_set(&mut values, new, spot.context);
                Value::Array(values)
            }
            Self::Bits(operations) => apply_all_bits(operations, Value::Int32(0))?,
            Self::Unset | Self::RenameFrom(_) | Self::PopFirst | Self::PopLast => return None,
            Self::Pull(_) | Self::PullAll(_) => return None,
        })
    }

    /// Changes a value; returns whether any bit changed, so that an edit without effect writes
    /// nothing.
    pub(super) fn modify_value(
        &self,
        value: &mut Value,
        spot: TargetSpot<'_>,
    ) -> Result<bool, Error> {
        match self {
            // The caller omits `$setOnInsert` for existing documents.
            Self::Set(new) | Self::SetOnInsert(new) => Ok(replace_value(value, new.clone())),
            // In the order of all types: a number is less than a string.
            Self::Min(new) => {
                let less = spot.context.compare(new.as_ref(), value.as_ref()).is_lt();
                Ok(less && replace_value(value, new.clone()))
            }
            Self::Max(new) => {
                let greater = spot.context.compare(new.as_ref(), value.as_ref()).is_gt();
                Ok(greater && replace_value(value, new.clone()))
            }
            Self::Add(operand) => {
                modify_number(value, operand, "$inc", arithmetic::add_numbers, spot)
            }
            Self::Multiply(operand) => {
                modify_number(value, operand, "$mul", arithmetic::multiply_numbers, spot)
            }
            Self::CurrentDate => Ok(replace_value(value, Value::DateTime(spot.context.now_ms))),
            Self::CurrentTimestamp => Ok(replace_value(value, timestamp_of(spot.context.now_ms))),
            Self::Bits(operations) => modify_bits(operations, value, spot),
            Self::Push(push) => modify_push(push, value, spot),
            Self::AddToSet(new) => {
                let values = array_of(value).map_err(|other| {
                    bad_value(format!(
                        "Cannot apply $addToSet to non-array field. Field named '{}' has \
                         non-array type {}",
                        spot.field_name(),
                        other.kind().name()
                    ))
                })?;
                Ok(add_to_set(values, new, spot.context))
            }
            Self::PopFirst | Self::PopLast => self.pop_element(value, spot),
            Self::Pull(pull) => {
                let values = array_of(value).map_err(not_pullable)?;
                pull.pull_from(values, spot.context)
            }
            Self::PullAll(unwanted) => {
                Ok(pull_all(array_of(value).map_err(not_pullable)?, unwanted, spot.context))
            }
            // The caller executes these operators, which need the path.
            Self::Unset | Self::RenameFrom(_) => Ok(false),
        }
    }

    /// Removes the first or the last element; returns whether the array had one.
    fn pop_element(&self, value: &mut Value, spot: TargetSpot<'_>) -> Result<bool, Error> {
        let values = array_of(value).map_err(|other| {
            let (path, kind) = (spot.path.join("."), other.kind().name());
            type_mismatch(format!("Path '{path}' contains an element of non-array type '{kind}'"))
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

/// Returns the error of `$pull` on a value that is not an array.
fn not_pullable(_: document::ValueRef<'_>) -> Error {
    bad_value("Cannot apply $pull to a non-array value".to_owned())
}

/// Returns the timestamp of an instant: the seconds, and the milliseconds within the second plus
/// one as increment, so that later instants are greater. Instants before 1970 have 0 seconds.
fn timestamp_of(now_ms: i64) -> Value {
    let seconds = u64::try_from(now_ms.div_euclid(1000)).unwrap_or(0);
    let increment = u64::try_from(now_ms.rem_euclid(1000)).unwrap_or(0) + 1;
    Value::Timestamp(seconds << 32 | increment)
}

/// Adds to a number or multiplies it. `name` is the name of the operator, for messages. Overflow of
/// 64 bits is an error.
fn modify_number(
    value: &mut Value,
    operand: &Value,
    name: &str,
    combine: fn(&Value, &Value) -> Option<Value>,
    spot: TargetSpot<'_>,
) -> Result<bool, Error> {
    if !value.as_ref().is_number() {
        return Err(type_mismatch(format!(
            "Cannot apply {name} to a value of non-numeric type. {{{}}} has the field '{}' of \
             non-numeric type {}",
            spot.id,
            spot.field_name(),
            value.kind().name()
        )));
    }
    match combine(value, operand) {
        // An equal number of the same type is no change, so that -0.0 and a decimal's trailing
        // zeros are kept.
        Some(new)
            if new.kind() == value.kind() && compare(new.as_ref(), value.as_ref()).is_eq() =>
        {
            Ok(false)
        }
        Some(new) => Ok(replace_value(value, new)),
        None => {
            // Only 64-bit results overflow; the message names the field's own type.
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

/// Applies bit operations in order; `None` if a value is not an integer.
fn apply_all_bits(operations: &[(BitOperator, Value)], start: Value) -> Option<Value> {
    operations.iter().try_fold(start, |value, (operator, operand)| {
        arithmetic::apply_bits(*operator, &value, operand)
    })
}

/// Applies `$bit` to an integer.
fn modify_bits(
    operations: &[(BitOperator, Value)],
    value: &mut Value,
    spot: TargetSpot<'_>,
) -> Result<bool, Error> {
    match apply_all_bits(operations, value.clone()) {
        Some(new) => Ok(replace_value(value, new)),
        None => Err(bad_value(format!(
            "Cannot apply $bit to a value of non-integral type.{} has the field {} of \
             non-integer type {}",
            spot.id,
            spot.field_name(),
            value.kind().name()
        ))),
    }
}

/// Applies `$push` to an array. Returns whether the array changed; with `$sort` or `$slice` it may
/// be the same as before.
fn modify_push(push: &Push, value: &mut Value, spot: TargetSpot<'_>) -> Result<bool, Error> {
    let values = array_of(value).map_err(|other| {
        bad_value(format!(
            "The field '{}' must be an array but is of type {} in document {{{}}}",
            spot.path.join("."),
            other.kind().name(),
            spot.id
        ))
    })?;
    // Appending at least one element always changes the array, so no copy is needed to compare.
    let only_appends = push.order.is_none() && push.slice.is_none();
    if only_appends {
        push.push_into(values, spot.context);
        return Ok(!push.values.is_empty());
    }
    let before = values.clone();
    push.push_into(values, spot.context);
    let same = before.len() == values.len()
        && before.iter().zip(values.iter()).all(|(a, b)| is_identical(a, b));
    Ok(!same)
}
