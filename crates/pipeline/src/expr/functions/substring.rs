//! Positions and lengths in strings: in bytes of UTF-8 (`$substrBytes`, `$indexOfBytes`,
//! `$strLenBytes`) or in code points (`$substrCP`, `$indexOfCP`, `$strLenCP`).

use document::{Number, Value, ValueRef};
use evaluation::Error;

use super::{
    super::OptionalValue,
    Arity::{Between, Exactly},
    Call, Function,
    arithmetic::NULL,
    number::{int32_of, truncated},
    row,
    string::{coerced_text, text_of},
};
use crate::{invalid_request, shown, type_mismatch};

pub(super) const FUNCTIONS: &[Function] = &[
    row(
        "$indexOfBytes",
        Between(2, 4),
        index_of_bytes,
        "byte offset of the first occurrence of a substring",
    ),
    row(
        "$indexOfCP",
        Between(2, 4),
        index_of_cp,
        "code point index of the first occurrence of a substring",
    ),
    row("$strLenBytes", Exactly(1), |c| length_with(c, 34473, str::len), "bytes"),
    row(
        "$strLenCP",
        Exactly(1),
        |c| length_with(c, 34471, |t| t.chars().count()),
        "number of code points",
    ),
    row("$substr", Exactly(3), substr_bytes, "substring by bytes"),
    row("$substrBytes", Exactly(3), substr_bytes, "substring by bytes"),
    row("$substrCP", Exactly(3), substr_cp, "substring by code points"),
];

/// Returns the length of a text in bytes or in code points. Null is an error with the number
/// `code`.
fn length_with(call: &Call<'_>, code: i32, count: fn(&str) -> usize) -> OptionalValue {
    let Some(text) = text_of(call.value_at(0)) else {
        let kind = call.arg_at(0).type_name();
        let text = format!("{} requires a string argument, found: {kind}", call.name);
        return Err(type_mismatch(code, text));
    };
    Ok(Some(Value::Int32(i32::try_from(count(text)).unwrap_or(i32::MAX))))
}

/// Returns a start or end argument, a nonnegative integer, or `otherwise` if it was not given.
/// `which` names it in the error. Null is an error, too.
pub(super) fn bound_argument(
    call: &Call<'_>,
    index: usize,
    which: &str,
    otherwise: usize,
) -> Result<usize, Error> {
    let arg = call.arg_at(index);
    if arg.is_absent() {
        return Ok(otherwise);
    }
    let Some(at) = int32_of(arg.operand()) else {
        let (name, kind, value) = (call.name, arg.type_name(), shown(arg.or_null()));
        let text = format!(
            "{name}requires an integral {which} index, found a value of type: {kind}, with value: {value}"
        );
        return Err(type_mismatch(40096, text));
    };
    usize::try_from(at).map_err(|_| {
        invalid_request(
            40097,
            format!("{} requires a nonnegative {which} index, found: {at}", call.name),
        )
    })
}

/// Returns the text and the string to search for; `None` if the text is null. Other types are
/// errors.
fn searched_text<'a>(call: &Call<'a>) -> Result<Option<(&'a str, &'a str)>, Error> {
    if call.arg_at(0).is_nullish() {
        return Ok(None);
    }
    let part = |index: usize, code: i32, which: &str| {
        text_of(call.value_at(index)).ok_or_else(|| {
            let kind = call.arg_at(index).type_name();
            let name = call.name;
            type_mismatch(
                code,
                format!("{name} requires a string as the {which} argument, found: {kind}"),
            )
        })
    };
    let (first, second) = match call.name {
        "$indexOfCP" => (40093, 40094),
        _ => (40091, 40092),
    };
    Ok(Some((part(0, first, "first")?, part(1, second, "second")?)))
}

/// Returns a position as a number, which is -1 for `None`.
fn index_of(at: Option<usize>) -> OptionalValue {
    Ok(Some(Value::Int32(at.and_then(|at| i32::try_from(at).ok()).unwrap_or(-1))))
}

/// `$indexOfBytes: ["abcb", "b", 2]` is `3`. An empty string is found at the start.
fn index_of_bytes(call: &Call<'_>) -> OptionalValue {
    let Some((text, token)) = searched_text(call)? else { return NULL };
    let start = bound_argument(call, 2, "starting", 0)?;
    let end = bound_argument(call, 3, "ending", text.len())?.min(text.len());
    // The start is after the end or beyond the text.
    let Some(part) = text.as_bytes().get(start..end) else { return index_of(None) };
    let token = token.as_bytes();
    if token.is_empty() {
        return index_of(Some(start));
    }
    index_of(part.windows(token.len()).position(|window| window == token).map(|at| at + start))
}

/// `$indexOfCP`: like `$indexOfBytes`, but in code points. If the start of the
/// search equals its end, nothing is found, unless both the searched and the sought string are
/// empty.
fn index_of_cp(call: &Call<'_>) -> OptionalValue {
    let Some((text, token)) = searched_text(call)? else { return NULL };
    let count = text.chars().count();
    let start = bound_argument(call, 2, "starting", 0)?;
    let end = bound_argument(call, 3, "ending", count)?.min(count);
    if start >= end {
        let both_empty = start == 0 && text.is_empty() && token.is_empty();
        return index_of(both_empty.then_some(0));
    }
    // A linear search, since characters have different lengths.
    let byte = |at: usize| text.char_indices().nth(at).map_or(text.len(), |(byte, _)| byte);
    // The end limits the start of an occurrence, not its end.
    let part = text.get(byte(start)..).unwrap_or_default();
    let before = byte(end) - byte(start);
    let found = part.find(token).filter(|at| *at < before).and_then(|at| part.get(..at));
    index_of(found.map(|before| before.chars().count() + start))
}

/// Converts a number to an integer as `$substrBytes` does, by truncation or rounding; `None` for
/// another type. A double beyond 64 bits is an error (31109), a decimal beyond them becomes the
/// least number.
fn whole_argument(value: ValueRef<'_>) -> Result<Option<i64>, Error> {
    Ok(match Number::of(value) {
        Some(Number::Int(v)) => Some(v),
        Some(Number::Double(v)) => Some(truncated(v)?),
        Some(Number::Decimal(v)) => {
            Some(v.to_i64(document::Rounding::HalfEven).unwrap_or(i64::MIN))
        }
        None => None,
    })
}

/// `$substrBytes: ["abc", 1, 1]` is `"b"`; an error if a bound is inside a character. A negative
/// length means the rest of the text. Null is the empty string; a start after the end yields an
/// empty string.
fn substr_bytes(call: &Call<'_>) -> OptionalValue {
    let text = coerced_text(call.arg_at(0))?;
    let numeric = |index: usize, code: i32, what: &str| {
        whole_argument(call.value_at(index))?.ok_or_else(|| {
            let kind = call.arg_at(index).type_name();
            let text =
                format!("$substrBytes:  {what} must be a numeric type (is BSON type {kind})");
            type_mismatch(code, text)
        })
    };
    let start = numeric(1, 16034, "starting index")?;
    let length = numeric(2, 16035, "length")?;
    let Ok(start) = usize::try_from(start) else {
        let text = format!("$substrBytes:  starting index must be non-negative (got: {start})");
        return Err(invalid_request(50752, text));
    };
    // The conversion fails only for a negative length, which means the rest of the string.
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    // Checked before the character boundaries, which do not exist past the end.
    if start >= text.len() {
        return Ok(Some(Value::from("")));
    }
    let end = start.saturating_add(length).min(text.len());
    if !text.is_char_boundary(start) {
        let reason = "Invalid range, starting index is a UTF-8 continuation byte.";
        return Err(invalid_request(28656, format!("$substrBytes:  {reason}")));
    }
    if !text.is_char_boundary(end) {
        let reason = "Invalid range, ending index is in the middle of a UTF-8 character.";
        return Err(invalid_request(28657, format!("$substrBytes:  {reason}")));
    }
    Ok(Some(Value::from(text.get(start..end).unwrap_or_default())))
}

/// `$substrCP`: like `$substrBytes`, but in code points, which are never split. A negative length
/// is an error.
fn substr_cp(call: &Call<'_>) -> OptionalValue {
    let text = coerced_text(call.arg_at(0))?;
    let part = |index: usize, codes: (i32, i32), what: &str| {
        let arg = call.arg_at(index);
        if Number::of(arg.operand()).is_none() {
            let kind = arg.type_name();
            let text = format!("$substrCP: {what} must be a numeric type (is BSON type {kind})");
            return Err(type_mismatch(codes.0, text));
        }
        int32_of(arg.operand()).ok_or_else(|| {
            let value = shown(arg.or_null());
            invalid_request(
                codes.1,
                format!(
                    "$substrCP: {what} cannot be represented as a 32-bit integral value: {value}"
                ),
            )
        })
    };
    let start = part(1, (34450, 34451), "starting index")?;
    let length = part(2, (34452, 34453), "length")?;
    let length = usize::try_from(length)
        .map_err(|_| invalid_request(34454, "$substrCP: length must be a nonnegative integer."))?;
    let start = usize::try_from(start).map_err(|_| {
        invalid_request(34455, "$substrCP: the starting index must be nonnegative integer.")
    })?;
    Ok(Some(Value::String(text.chars().skip(start).take(length).collect())))
}
