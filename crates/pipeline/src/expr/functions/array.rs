//! Reading, searching, slicing and reversing arrays. Positions count from 0, negative ones from the
//! end.
//!
//! ```text
//! $arrayElemAt: [[1, 2, 3], -1]       3          $size: [[1, 2]]               2
//! $first: [[1, 2]]                    1          $reverseArray: [[1, 2]]       [2, 1]
//! $in: [2, [1, 2]]                    true       $slice: [[1, 2, 3], 1, 1]     [2]
//! $indexOfArray: [["a", "b"], "b"]    1          $isArray: [null]              false
//! ```

use document::{ArrayRef, Number, Value, ValueRef};
use evaluation::Error;

use super::{
    super::OptionalValue,
    Arity::{Between, Exactly},
    Call, Function,
    arithmetic::NULL,
    number::int32_of,
    row,
    substring::bound_argument,
};
use crate::{invalid_request, shown, type_mismatch};

pub(super) const FUNCTIONS: &[Function] = &[
    row(
        "$arrayElemAt",
        Exactly(2),
        elem_at,
        "element at a position, which counts from the end if negative",
    ),
    row("$first", Exactly(1), |c| edge_element(c, 0), "first element"),
    row("$in", Exactly(2), is_in, "whether an array contains a value"),
    row("$indexOfArray", Between(2, 4), index_of, "position of a value"),
    row("$isArray", Exactly(1), is_array, "whether the value is an array"),
    row("$last", Exactly(1), |c| edge_element(c, -1), "last element"),
    row("$reverseArray", Exactly(1), reverse, "elements in reverse order"),
    row("$size", Exactly(1), size, "number of elements"),
    row("$slice", Between(2, 3), slice, "part of an array"),
];

/// Returns the element at a position, from the end if negative; `None` outside the array. Linear
/// for raw arrays, which have no index.
fn element_at(values: ArrayRef<'_>, position: i64) -> Option<Value> {
    let position = match usize::try_from(position) {
        Ok(position) => position,
        Err(_) => {
            let back = usize::try_from(position.unsigned_abs()).ok()?;
            values.len().checked_sub(back)?
        }
    };
    values.get(position).map(ValueRef::to_value)
}

/// `$arrayElemAt: [[1, 2, 3], -1]` is `3`; missing outside the array. Null if an argument is null
/// or missing. The position may be a whole double.
fn elem_at(call: &Call<'_>) -> OptionalValue {
    if call.any_nullish() {
        return NULL;
    }
    let ValueRef::Array(values) = call.value_at(0) else {
        let kind = call.arg_at(0).type_name();
        let text = format!("{}'s first argument must be an array, but is {kind}", call.name);
        return Err(type_mismatch(28689, text));
    };
    let position = call.value_at(1);
    if Number::of(position).is_none() {
        let kind = call.arg_at(1).type_name();
        let text =
            format!("{}'s second argument must be a numeric value, but is {kind}", call.name);
        return Err(type_mismatch(28690, text));
    }
    let Some(position) = int32_of(position) else {
        let (name, value) = (call.name, shown(position));
        let text = "second argument must be representable as a 32-bit integer:";
        return Err(invalid_request(28691, format!("{name}'s {text} {value}")));
    };
    // Outside the array the result is missing, not null.
    Ok(element_at(values, i64::from(position)))
}

/// `$first` or `$last` of an array; missing if it is empty.
fn edge_element(call: &Call<'_>, position: i64) -> OptionalValue {
    match call.value_at(0) {
        value if value.is_nullish() => NULL,
        ValueRef::Array(values) => Ok(element_at(values, position)),
        value => {
            let (name, kind) = (call.name, value.kind().name());
            Err(type_mismatch(28689, format!("{name}'s argument must be an array, but is {kind}")))
        }
    }
}

/// `$in: [2, [1, 2]]` is true. Equality is by BSON's order, so `1` is in `[1.0]`. Null is a value
/// to search for; it does not make the result null.
fn is_in(call: &Call<'_>) -> OptionalValue {
    let ValueRef::Array(values) = call.value_at(1) else {
        let kind = call.arg_at(1).type_name();
        let text = format!("$in requires an array as a second argument, found: {kind}");
        return Err(type_mismatch(40081, text));
    };
    let (wanted, context) = (call.value_at(0), call.env.context);
    Ok(Some(Value::Bool(values.iter().any(|value| context.compare(value, wanted).is_eq()))))
}

/// `$indexOfArray: [["a", "b"], "b"]` is `1`, or `-1` if the value does not occur. Optional
/// arguments are the start and the exclusive end of the search. Null for an array that is null or
/// missing.
fn index_of(call: &Call<'_>) -> OptionalValue {
    if call.arg_at(0).is_nullish() {
        return NULL;
    }
    let ValueRef::Array(values) = call.value_at(0) else {
        let kind = call.arg_at(0).type_name();
        let text = format!("$indexOfArray requires an array as a first argument, found: {kind}");
        return Err(type_mismatch(40090, text));
    };
    let start = bound_argument(call, 2, "starting", 0)?;
    let end = bound_argument(call, 3, "ending", usize::MAX)?;
    let wanted = call.value_at(1);
    // The end is applied before the start, so that both count from 0.
    let mut found = values.iter().enumerate().take(end).skip(start);
    let found = found.find(|(_, value)| call.env.context.compare(*value, wanted).is_eq());
    let position = found.and_then(|(position, _)| i32::try_from(position).ok());
    Ok(Some(Value::Int32(position.unwrap_or(-1))))
}

/// `$isArray`: whether a value is an array; false for null and missing, too.
fn is_array(call: &Call<'_>) -> OptionalValue {
    Ok(Some(Value::Bool(call.value_at(0).as_array().is_some())))
}

/// `$reverseArray`: the elements in reverse order; null for null and missing.
fn reverse(call: &Call<'_>) -> OptionalValue {
    match call.value_at(0) {
        value if value.is_nullish() => NULL,
        ValueRef::Array(values) => {
            let mut values = call.new_growth().copy_values(values.iter())?;
            values.reverse();
            Ok(Some(Value::Array(values)))
        }
        value => Err(type_mismatch(
            34435,
            format!(
                "The argument to $reverseArray must be an array, but was of type: {}",
                value.kind().name()
            ),
        )),
    }
}

/// `$size`: an error for anything but an array, including null.
fn size(call: &Call<'_>) -> OptionalValue {
    match call.value_at(0) {
        ValueRef::Array(values) => {
            Ok(Some(Value::Int32(i32::try_from(values.len()).unwrap_or(i32::MAX))))
        }
        _ => Err(type_mismatch(
            17124,
            format!(
                "The argument to $size must be an array, but was of type: {}",
                call.arg_at(0).type_name()
            ),
        )),
    }
}

/// Returns a 32-bit argument of `$slice`. `codes` are the error numbers for a value that is not a
/// number, and for one that is not a 32-bit integer.
fn slice_part(call: &Call<'_>, index: usize, codes: (i32, i32)) -> Result<i64, Error> {
    let arg = call.arg_at(index);
    let (which, be) = if index == 1 {
        ("Second", "must be a numeric value, but is")
    } else {
        ("Third", "must be numeric, but is")
    };
    if Number::of(arg.operand()).is_none() {
        let text = format!("{which} argument to $slice {be} of type: {}", arg.type_name());
        return Err(type_mismatch(codes.0, text));
    }
    int32_of(arg.operand()).map(i64::from).ok_or_else(|| {
        let value = shown(arg.or_null());
        let text = "argument to $slice can't be represented as a 32-bit integer:";
        invalid_request(codes.1, format!("{which} {text} {value}"))
    })
}

/// `$slice: [[1, 2, 3], -2]` is `[2, 3]`; with three arguments it is a number of elements from a
/// position on. A position before the start is the start; there may be fewer elements than
/// requested.
fn slice(call: &Call<'_>) -> OptionalValue {
    if call.any_nullish() {
        return NULL;
    }
    let ValueRef::Array(values) = call.value_at(0) else {
        return Err(type_mismatch(
            28724,
            format!(
                "First argument to $slice must be an array, but is of type: {}",
                call.arg_at(0).type_name()
            ),
        ));
    };
    let length = i64::try_from(values.len()).unwrap_or(i64::MAX);
    let second = slice_part(call, 1, (28725, 28726))?;
    // With two arguments the second one is a count, with three it is a position.
    let (start, count) = if call.arg_at(2).is_absent() {
        if second < 0 { ((length + second).max(0), -second) } else { (0, second) }
    } else {
        // A count after a position must be above 0; a count alone may be 0.
        let count = slice_part(call, 2, (28727, 28728))?;
        if count <= 0 {
            return Err(invalid_request(
                28729,
                format!("Third argument to $slice must be positive: {count}"),
            ));
        }
        let start = if second < 0 { (length + second).max(0) } else { second.min(length) };
        (start, count)
    };
    let (start, count) = (usize::try_from(start).unwrap_or(0), usize::try_from(count).unwrap_or(0));
    let part = values.iter().skip(start).take(count);
    Ok(Some(Value::Array(call.new_growth().copy_values(part)?)))
}
