//! Types and sizes of values, timestamps, and random numbers.

use document::{DocRef, Value, ValueRef};
use evaluation::{MAX_RETURNED_BYTES, too_large};

use super::{
    super::OptionalValue,
    Arity::{Exactly, Named},
    Call, Function,
    arithmetic::NULL,
    row,
};
use crate::type_mismatch;

pub(super) const FUNCTIONS: &[Function] = &[
    row("$binarySize", Exactly(1), binary_size, "size in bytes of a string or of binary data"),
    row("$bsonSize", Exactly(1), bson_size, "size in bytes of a document"),
    row("$isNumber", Exactly(1), is_number, "whether the value is a number"),
    row("$rand", Named(&[]), rand, "random number from 0 to less than 1"),
    row(
        "$tsIncrement",
        Exactly(1),
        |c| timestamp_part(c, 0, 5_687_302),
        "increment of a timestamp",
    ),
    row("$tsSecond", Exactly(1), |c| timestamp_part(c, 32, 5_687_301), "seconds of a timestamp"),
    row("$type", Exactly(1), type_name, "name of the type"),
];

/// `$type`: the name of the argument's type; `missing` if there is no value.
fn type_name(call: &Call<'_>) -> OptionalValue {
    Ok(Some(Value::from(call.arg_at(0).type_name())))
}

fn is_number(call: &Call<'_>) -> OptionalValue {
    Ok(Some(Value::Bool(call.value_at(0).is_number())))
}

/// `$binarySize`: the bytes of a string or of binary data, without length and subtype. Null for
/// null and missing.
fn binary_size(call: &Call<'_>) -> OptionalValue {
    let size = match call.value_at(0) {
        value if value.is_nullish() => return NULL,
        ValueRef::String(text) => text.len(),
        ValueRef::Binary { bytes, .. } => bytes.len(),
        value => {
            let kind = value.kind().name();
            let text = format!("$binarySize requires a string or BinData argument, found: {kind}");
            return Err(type_mismatch(51276, text));
        }
    };
    Ok(Some(Value::Int32(i32::try_from(size).unwrap_or(i32::MAX))))
}

/// `$bsonSize`: the bytes of a document as it would be stored. A computed document is encoded for
/// that; one that is too large is an error (10334). Null for null and missing.
fn bson_size(call: &Call<'_>) -> OptionalValue {
    let size = match call.value_at(0) {
        value if value.is_nullish() => return NULL,
        ValueRef::Document(DocRef::Raw(bytes)) => bytes.len(),
        ValueRef::Document(fields) => fields.to_buf().bytes().len(),
        value => {
            let kind = value.kind().name();
            let text = format!("$bsonSize requires a document input, found: {kind}");
            return Err(type_mismatch(31393, text));
        }
    };
    if MAX_RETURNED_BYTES < size {
        return Err(too_large(size));
    }
    Ok(Some(Value::Int32(i32::try_from(size).unwrap_or(i32::MAX))))
}

/// `$rand`: a number in [0, 1) from the operation's random stream.
fn rand(call: &Call<'_>) -> OptionalValue {
    Ok(Some(Value::Double(call.env.context.random.next_fraction())))
}

/// `$tsSecond` or `$tsIncrement`: `shift` is 32 for the seconds and 0 for the increment. Null for
/// null and missing.
fn timestamp_part(call: &Call<'_>, shift: u32, code: i32) -> OptionalValue {
    match call.value_at(0) {
        value if value.is_nullish() => NULL,
        ValueRef::Timestamp(v) => {
            Ok(Some(Value::Int64(i64::try_from((v >> shift) & 0xffff_ffff).unwrap_or(0))))
        }
        value => {
            let (name, kind) = (call.name, value.kind().name());
            Err(type_mismatch(
                code,
                format!(" Argument to {name} must be a timestamp, but is {kind}"),
            ))
        }
    }
}
