//! Conversions between types (`$convert` and short forms such as `$toInt`).
//!
//! ```text
//! $toInt: "12"                                   12
//! $toInt: 3.9                                    3       truncated
//! $toInt: "x"                                    error 241
//! $convert: {input: "x", to: "int", onError: 0}  0
//! $convert: {input: null, to: "int"}             null    null is not converted
//! ```

use document::{Decimal128, Kind as Type, Number, ObjectId, Rounding, Value, ValueRef};
use evaluation::{Error, Evaluated};

use super::{
    super::OptionalValue,
    Arity::{Exactly, Named},
    Call, Function,
    arithmetic::NULL,
    date_parse, hexadecimal,
    number::to_decimal,
    optional, required, row,
};
use crate::{
    invalid_request, shown,
    text::{date_text, whole_double_text},
};

pub(super) const FUNCTIONS: &[Function] = &[
    row(
        "$convert",
        Named(&[required("input"), required("to"), optional("onError"), optional("onNull")]),
        convert_value,
        "value converted to a type",
    ),
    row("$toBool", Exactly(1), |c| shortened(c, Type::Bool), "as a boolean"),
    row("$toDate", Exactly(1), |c| shortened(c, Type::DateTime), "as a date"),
    row("$toDecimal", Exactly(1), |c| shortened(c, Type::Decimal128), "as a decimal"),
    row("$toDouble", Exactly(1), |c| shortened(c, Type::Double), "as a double"),
    row("$toInt", Exactly(1), |c| shortened(c, Type::Int32), "as a 32-bit integer"),
    row("$toLong", Exactly(1), |c| shortened(c, Type::Int64), "as a 64-bit integer"),
    row("$toObjectId", Exactly(1), |c| shortened(c, Type::ObjectId), "as an object id"),
    row("$toString", Exactly(1), |c| shortened(c, Type::String), "as a string"),
];

/// Error code of a failed conversion, for which `$convert` returns `onError` instead.
const FAILED: i32 = 241;

/// `$toInt` and the other short forms: `$convert` without `onError` and `onNull`. Null for null and
/// missing.
fn shortened(call: &Call<'_>, to: Type) -> OptionalValue {
    if call.arg_at(0).is_nullish() {
        return NULL;
    }
    to_type(call.value_at(0), to).map(Some)
}

/// `$convert`: converts a value to another type. A wrong `to` is an error for any input. `onNull`
/// replaces a null or missing input, and `onError` a failure with the number [`FAILED`]. If the
/// replacing expression is a missing value, the result is missing too.
fn convert_value(call: &Call<'_>) -> OptionalValue {
    let (input, to) = (call.arg_at(0), call.arg_at(1));
    // Read first, since a wrong target is an error for any input.
    let to = if to.is_nullish() { None } else { Some(target_type(to)?) };
    if input.is_nullish() {
        return Ok(if call.arg_at(3).is_absent() {
            Some(Value::Null)
        } else {
            call.arg_at(3).value().map(ValueRef::to_value)
        });
    }
    let Some(to) = to else { return NULL };
    match to_type(input.operand(), to) {
        // Other errors, such as too much memory, are not replaced.
        Err(error) if error.number == FAILED && !call.arg_at(2).is_absent() => {
            Ok(call.arg_at(2).value().map(ValueRef::to_value))
        }
        answer => answer.map(Some),
    }
}

/// Returns the type that `to` specifies, by name (`"int"`) or by BSON number (16). MinKey is -1,
/// not 255.
fn target_type(to: &Evaluated<'_>) -> Result<Type, Error> {
    match to.operand() {
        ValueRef::String(name) => {
            type_named(name).ok_or_else(|| invalid_request(2, format!("Unknown type name: {name}")))
        }
        value if value.is_number() => {
            let code = Number::of(value).and_then(Number::to_i64_exact).ok_or_else(|| {
                invalid_request(9, "In $convert, numeric 'to' argument is not an integer")
            })?;
            // A code above 255 is no type, and MinKey is written as -1 only.
            let byte = if code == -1 { Some(0xff) } else { u8::try_from(code).ok() };
            byte.and_then(Type::from_code).filter(|_| code != 0xff).ok_or_else(|| {
                let text =
                    "In $convert, numeric value for 'to' does not correspond to a BSON type:";
                invalid_request(9, format!("{text} {code}"))
            })
        }
        value => Err(invalid_request(
            9,
            format!(
                "$convert's 'to' argument must be a string or number, but is {}",
                value.kind().name()
            ),
        )),
    }
}

fn type_named(name: &str) -> Option<Type> {
    (0..=u8::MAX).filter_map(Type::from_code).find(|kind| kind.name() == name)
}

/// Converts a value. Pairs of types without a conversion fail with [`FAILED`], too. Each conversion
/// function returns `None` for a type that it does not convert.
fn to_type(value: ValueRef<'_>, to: Type) -> Result<Value, Error> {
    let converted = match to {
        // Every type has a truth value.
        Type::Bool => to_bool(value),
        Type::Int32 => to_integer(value, to, i64::from(i32::MIN), i64::from(i32::MAX))?
            .map(|v| Value::Int32(i32::try_from(v).unwrap_or(0))),
        Type::Int64 => to_integer(value, to, i64::MIN, i64::MAX)?.map(Value::Int64),
        Type::Double => to_double(value)?,
        Type::Decimal128 => to_decimal128(value)?,
        Type::String => to_string(value)?,
        Type::ObjectId => to_object_id(value)?,
        Type::DateTime => to_date(value)?,
        _ => None,
    };
    converted.ok_or_else(|| {
        let (from, to) = (value.kind().name(), to.name());
        let text = format!("Unsupported conversion from {from} to {to}");
        invalid_request(241, format!("{text} in $convert with no onError value"))
    })
}

/// Converts a value to a boolean: everything but false, zero, null and undefined is true.
fn to_bool(value: ValueRef<'_>) -> Option<Value> {
    Some(Value::Bool(value.is_truthy()))
}

/// Returns the error of a number that the type cannot hold. The text contains the value unless it
/// is an integer.
fn overflow_error(value: ValueRef<'_>) -> Error {
    let text = "Conversion would overflow target type in $convert with no onError value:";
    let shown = match value {
        ValueRef::Int32(_) | ValueRef::Int64(_) => String::new(),
        value => shown(value),
    };
    invalid_request(241, format!("{text} {shown}"))
}

/// Returns the error of a string that is not a number.
fn unreadable_error(text: &str, reason: &str) -> Error {
    let start = format!("Failed to parse number '{text}'");
    invalid_request(241, format!("{start} in $convert with no onError value: {reason}"))
}

/// Converts a boolean, a number (truncated), a date or a string to an integer. A result outside
/// `least` and `most` is an error. Dates convert to 64 bits only. `None` for types without a
/// conversion.
fn to_integer(value: ValueRef<'_>, to: Type, least: i64, most: i64) -> Result<Option<i64>, Error> {
    let whole = match value {
        ValueRef::Bool(v) => i64::from(v),
        ValueRef::Int32(v) => i64::from(v),
        ValueRef::Int64(v) => v,
        ValueRef::DateTime(v) if to == Type::Int64 => v,
        ValueRef::Double(v) => {
            finite_number(Number::Double(v))?;
            // Compared as a double, since the upper bound exceeds 64 bits.
            let whole = v.trunc();
            if !(-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&whole) {
                return Err(overflow_error(value));
            }
            whole as i64
        }
        ValueRef::Decimal128(v) => {
            finite_number(Number::Decimal(v))?;
            v.to_i64(Rounding::Down).ok_or_else(|| overflow_error(value))?
        }
        // `parse_integer` checks the bounds, with its own error texts.
        ValueRef::String(text) => return parse_integer(text, least, most).map(Some),
        _ => return Ok(None),
    };
    if (least..=most).contains(&whole) { Ok(Some(whole)) } else { Err(overflow_error(value)) }
}

/// Fails for NaN and infinities. A decimal that is too large for a double is finite; its range is
/// checked later.
fn finite_number(number: Number) -> Result<(), Error> {
    let what = if number.is_nan() {
        "NaN"
    } else if number.to_f64().is_infinite() {
        let infinite = !matches!(number, Number::Decimal(v) if !v.is_infinite());
        if !infinite {
            return Ok(());
        }
        "infinity"
    } else {
        return Ok(());
    };
    let text = format!("Attempt to convert {what} value to integer type");
    Err(invalid_request(241, format!("{text} in $convert with no onError value")))
}

/// Parses decimal digits with an optional sign. Blanks, fractions and numbers out of range are
/// errors.
fn parse_integer(text: &str, least: i64, most: i64) -> Result<i64, Error> {
    check_hexadecimal(text)?;
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() {
        return Err(unreadable_error(text, "No digits"));
    }
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(unreadable_error(text, "Did not consume whole string."));
    }
    let parsed = text.parse::<i64>().ok().filter(|whole| (least..=most).contains(whole));
    parsed.ok_or_else(|| unreadable_error(text, "Overflow"))
}

/// Converts a boolean, a number, a date or a string to a double. Infinities and NaN are kept; a
/// decimal out of the range of doubles is an error.
fn to_double(value: ValueRef<'_>) -> Result<Option<Value>, Error> {
    let double = match value {
        ValueRef::Bool(v) => f64::from(u8::from(v)),
        ValueRef::DateTime(v) => v as f64,
        ValueRef::Decimal128(v) => {
            let double = v.to_f64();
            // A decimal that is too small for a double would silently become zero.
            let vanished = double == 0.0 && !v.is_zero();
            if vanished || double.is_infinite() && !v.is_infinite() {
                return Err(overflow_error(value));
            }
            double
        }
        ValueRef::String(text) => parse_double(text)?,
        value => match Number::of(value) {
            Some(number) => number.to_f64(),
            None => return Ok(None),
        },
    };
    Ok(Some(Value::Double(double)))
}

/// Fails for hexadecimal text that starts with `0x`.
fn check_hexadecimal(text: &str) -> Result<(), Error> {
    if text.starts_with("0x") {
        let start = "Illegal hexadecimal input in $convert with no onError value:";
        return Err(invalid_request(241, format!("{start} {text}")));
    }
    Ok(())
}

/// Parses a double. Text that would underflow or overflow is an error. `NaN`, `inf` and `infinity`
/// are accepted in upper and lower case. Hexadecimal is accepted after a sign or with `0X`, but not
/// with `0x` alone, as in MongoDB.
fn parse_double(text: &str) -> Result<f64, Error> {
    check_hexadecimal(text)?;
    if let Some(double) = hexadecimal::parse(text) {
        return double.map_err(|_| unreadable_error(text, "Out of range"));
    }
    let first = text.trim_start_matches(['+', '-']).as_bytes().first().copied();
    let word = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    let known = matches!(word.as_str(), "nan" | "inf" | "infinity");
    if is_nan_with_payload(&word) {
        return Ok(f64::NAN);
    }
    if text.is_empty() {
        return Err(unreadable_error(text, "Empty string"));
    }
    if text.starts_with(char::is_whitespace) {
        return Err(unreadable_error(text, "Leading whitespace"));
    }
    if !known && !first.is_some_and(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(unreadable_error(text, "Did not consume any digits"));
    }
    let parsed: f64 =
        text.parse().map_err(|_| unreadable_error(text, "Did not consume whole string."))?;
    let lost = parsed.is_infinite() && !known;
    // Nonzero text that underflows. The digits before the exponent decide: `1e-400` would become
    // zero, `0e5` is zero.
    let vanishes = !parsed.is_normal()
        && text.split(['e', 'E']).next().unwrap_or_default().contains(|c| ('1'..='9').contains(&c));
    if lost || (vanishes && !known) {
        return Err(unreadable_error(text, "Out of range"));
    }
    Ok(parsed)
}

/// Returns whether a lower-case text is `nan(...)` with a payload of letters, digits and `_` in the
/// parentheses. The payload has no effect on the value.
fn is_nan_with_payload(text: &str) -> bool {
    let payload = text.strip_prefix("nan(").and_then(|rest| rest.strip_suffix(')'));
    payload.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

/// Converts a boolean, a number, a date or a string to a decimal; doubles with 15 digits. Digits
/// that overflow to infinity are an error.
fn to_decimal128(value: ValueRef<'_>) -> Result<Option<Value>, Error> {
    let decimal = match value {
        ValueRef::Bool(v) => Decimal128::from_i64(i64::from(v)),
        ValueRef::DateTime(v) => Decimal128::from_i64(v),
        ValueRef::String(text) => {
            let parsed = Decimal128::parse(text)
                .ok_or_else(|| unreadable_error(text, "Failed to parse string to decimal"))?;
            // `Infinity` itself contains no digits.
            if parsed.is_infinite() && text.bytes().any(|byte| byte.is_ascii_digit()) {
                let reason = "Conversion from string to decimal would overflow";
                return Err(unreadable_error(text, reason));
            }
            parsed
        }
        value => match Number::of(value) {
            Some(number) => to_decimal(number),
            None => return Ok(None),
        },
    };
    Ok(Some(Value::Decimal128(decimal)))
}

/// Converts a scalar to a string; `None` for documents, arrays and other types. Doubles have all
/// their digits, as in MongoDB 8; older servers wrote six.
fn to_string(value: ValueRef<'_>) -> Result<Option<Value>, Error> {
    Ok(Some(Value::String(match value {
        ValueRef::String(v) => v.to_owned(),
        ValueRef::Bool(v) => v.to_string(),
        ValueRef::Int32(v) => v.to_string(),
        ValueRef::Int64(v) => v.to_string(),
        ValueRef::Double(v) if v.is_infinite() && v > 0.0 => "Infinity".to_owned(),
        ValueRef::Double(v) if v.is_infinite() => "-Infinity".to_owned(),
        ValueRef::Double(v) => whole_double_text(v),
        ValueRef::Decimal128(v) => v.to_string(),
        ValueRef::ObjectId(v) => v.to_string(),
        ValueRef::DateTime(v) => date_text(v)?,
        _ => return Ok(None),
    })))
}

/// Converts 24 hexadecimal digits to an ObjectId. A wrong length and a wrong character are
/// different errors.
fn to_object_id(value: ValueRef<'_>) -> Result<Option<Value>, Error> {
    match value {
        ValueRef::ObjectId(v) => Ok(Some(Value::ObjectId(v))),
        ValueRef::String(text) => {
            ObjectId::parse(text).map(|id| Some(Value::ObjectId(id))).ok_or_else(|| {
                let reason = if text.len() == 24 {
                    let wrong = text.chars().find(|c| !c.is_ascii_hexdigit()).unwrap_or(' ');
                    format!("Invalid character found in hex string: {wrong}")
                } else {
                    format!(
                        "Invalid string length for parsing to OID, expected 24 but found {}",
                        text.len()
                    )
                };
                let start = format!("Failed to parse objectId '{text}'");
                invalid_request(241, format!("{start} in $convert with no onError value: {reason}"))
            })
        }
        _ => Ok(None),
    }
}

/// Converts a string, milliseconds (truncated), a timestamp or an ObjectId's seconds to a date.
/// 32-bit integers have no conversion.
fn to_date(value: ValueRef<'_>) -> Result<Option<Value>, Error> {
    let ms = match value {
        ValueRef::String(text) => date_parse::parse_free(text, None)?,
        ValueRef::Int64(v) => v,
        ValueRef::Double(_) | ValueRef::Decimal128(_) => {
            match to_integer(value, Type::Int64, i64::MIN, i64::MAX)? {
                Some(ms) => ms,
                None => return Ok(None),
            }
        }
        // Timestamps and ObjectIds contain seconds since 1970.
        value => match super::number::date_of(value) {
            Some(ms) => ms,
            None => return Ok(None),
        },
    };
    Ok(Some(Value::DateTime(ms)))
}
