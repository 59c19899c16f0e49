//! String functions: concatenation, case, trimming, replacement, splitting.
//!
//! ```text
//! $concat: ["a", "b"]                  "ab"        $split: ["a-b", "-"]         ["a", "b"]
//! $toUpper: "a"                        "A"         $trim: {input: " a "}        "a"
//! $strcasecmp: ["A", "a"]              0           $replaceAll: {input: "aa",
//!                                                    find: "a", replacement: "b"}  "bb"
//! ```
//!
//! The length of a result is checked before it is built: a string longer than a document is an
//! error.

use std::cmp::Ordering;

use document::{Value, ValueRef};
use evaluation::{Error, Evaluated, Size, TrimEnds, check_text, trim_chars, trim_ends};

use super::{
    super::OptionalValue,
    Arity::{Any, Exactly, Named},
    Call, Function, Param,
    arithmetic::NULL,
    optional, required, row,
};
use crate::{
    invalid_request, shown, shown_or_missing,
    text::{date_text, whole_double_text},
    type_mismatch,
};

/// The arguments of `$trim`, `$ltrim` and `$rtrim`.
const TRIM: &[Param] = &[required("input"), optional("chars")];
/// The arguments of `$replaceOne` and `$replaceAll`.
const REPLACE: &[Param] = &[required("input"), required("find"), required("replacement")];

pub(super) const FUNCTIONS: &[Function] = &[
    row("$concat", Any, concat, "concatenation of the strings"),
    row(
        "$ltrim",
        Named(TRIM),
        |c| trim_text(c, TrimEnds::LEFT),
        "string without leading characters of a set",
    ),
    row(
        "$replaceAll",
        Named(REPLACE),
        |c| replace_text(c, true),
        "string with every occurrence replaced",
    ),
    row(
        "$replaceOne",
        Named(REPLACE),
        |c| replace_text(c, false),
        "string with the first occurrence replaced",
    ),
    row(
        "$rtrim",
        Named(TRIM),
        |c| trim_text(c, TrimEnds::RIGHT),
        "string without trailing characters of a set",
    ),
    row("$split", Exactly(2), split_text, "parts between separators"),
    row("$strcasecmp", Exactly(2), strcasecmp, "comparison of two strings, ignoring case"),
    row("$toLower", Exactly(1), |c| map_case(c, str::to_ascii_lowercase), "in lower case"),
    row("$toUpper", Exactly(1), |c| map_case(c, str::to_ascii_uppercase), "in upper case"),
    row(
        "$trim",
        Named(TRIM),
        |c| trim_text(c, TrimEnds::BOTH),
        "string without leading and trailing characters of a set",
    ),
];

/// Returns the text of a string or symbol.
pub(super) fn text_of(value: ValueRef<'_>) -> Option<&str> {
    match value {
        ValueRef::String(text) | ValueRef::Symbol(text) => Some(text),
        _ => None,
    }
}

/// Converts an argument to text, for functions that accept numbers and dates as strings. Null is
/// the empty string; other types are errors.
pub(super) fn coerced_text(got: &Evaluated<'_>) -> Result<String, Error> {
    Ok(match got.operand() {
        value if value.is_nullish() => String::new(),
        ValueRef::String(v) | ValueRef::Symbol(v) | ValueRef::JavaScript(v) => v.to_owned(),
        ValueRef::Int32(v) => v.to_string(),
        ValueRef::Int64(v) => v.to_string(),
        ValueRef::Double(v) if v.is_nan() && v.is_sign_negative() => "-nan".to_owned(),
        ValueRef::Double(v) if v.is_nan() => "nan".to_owned(),
        ValueRef::Double(v) => whole_double_text(v),
        ValueRef::Decimal128(v) => v.to_string(),
        ValueRef::DateTime(v) => date_text(v)?,
        ValueRef::Timestamp(v) => format!("Timestamp({}, {})", v >> 32, v & 0xffff_ffff),
        value => {
            let text = format!("can't convert from BSON type {} to String", value.kind().name());
            return Err(invalid_request(16007, text));
        }
    })
}

/// `$concat: ["a", "b"]` is `"ab"`; null if an argument is null. The parts are copied once, when
/// the total length is known.
fn concat(call: &Call<'_>) -> OptionalValue {
    let mut parts = Vec::with_capacity(call.args.len());
    let (mut length, mut growth) = (0_usize, call.new_growth());
    for arg in call.args {
        match arg.operand() {
            value if value.is_nullish() => return NULL,
            ValueRef::String(v) | ValueRef::Symbol(v) => {
                length = v.len().saturating_add(length);
                check_text(length)?;
                growth.add_size(Size { bytes: v.len(), memory: v.len() })?;
                parts.push(v);
            }
            value => {
                let text = format!("$concat only supports strings, not {}", value.kind().name());
                return Err(type_mismatch(16702, text));
            }
        }
    }
    Ok(Some(Value::String(parts.concat())))
}

/// `$toLower` or `$toUpper`, for ASCII letters only. Numbers and dates are converted to text, null
/// to the empty string.
fn map_case(call: &Call<'_>, change: fn(&str) -> String) -> OptionalValue {
    Ok(Some(Value::String(change(&coerced_text(call.arg_at(0))?))))
}

/// `$strcasecmp: ["A", "a"]` is `0`: compares two texts by bytes, ignoring the case of ASCII
/// letters. Returns -1, 0 or 1.
fn strcasecmp(call: &Call<'_>) -> OptionalValue {
    let (a, b) = (coerced_text(call.arg_at(0))?, coerced_text(call.arg_at(1))?);
    let order: Ordering = a.to_ascii_uppercase().cmp(&b.to_ascii_uppercase());
    Ok(Some(Value::Int32(order as i32)))
}

/// White space, trimmed if no characters are given.
const BLANK: &[char] = &[
    '\0', ' ', '\t', '\n', '\u{b}', '\u{c}', '\r', '\u{a0}', '\u{1680}', '\u{2000}', '\u{2001}',
    '\u{2002}', '\u{2003}', '\u{2004}', '\u{2005}', '\u{2006}', '\u{2007}', '\u{2008}', '\u{2009}',
    '\u{200a}',
];

/// `$trim`, `$ltrim` or `$rtrim`: removes white space, or the characters of `chars`. Null if the
/// input or `chars` is null or missing.
fn trim_text(call: &Call<'_>, ends: TrimEnds) -> OptionalValue {
    let (input, chars) = (call.arg_at(0), call.arg_at(1));
    if input.is_nullish() {
        return NULL;
    }
    let wrong = |code: i32, what: &str, got: &Evaluated<'_>| {
        let (name, kind) = (call.name, got.type_name());
        let value = shown_or_missing(got);
        type_mismatch(
            code,
            format!("{name} requires {what} to be a string, got {value} (of type {kind}) instead."),
        )
    };
    let text = text_of(input.operand()).ok_or_else(|| wrong(50699, "its input", input))?;
    let trimmed = match chars.value() {
        // An absent `chars` is white space, a null one makes the result null.
        _ if chars.is_absent() => trim_ends(text, ends, |c| BLANK.contains(&c)),
        _ if chars.is_nullish() => return NULL,
        Some(ValueRef::String(chars)) => trim_chars(text, ends, chars, &call.env.context.budget)?,
        _ => return Err(wrong(50700, "'chars'", chars)),
    };
    Ok(Some(Value::from(trimmed)))
}

/// `$replaceOne` or `$replaceAll`. Null if an argument is null or missing. An empty `find` matches
/// between all characters.
fn replace_text(call: &Call<'_>, all: bool) -> OptionalValue {
    let part = |index: usize, code: i32, what: &str| match call.value_at(index) {
        value if value.is_nullish() => Ok(None),
        value => text_of(value).map(Some).ok_or_else(|| {
            let (name, value) = (call.name, shown(value));
            type_mismatch(
                code,
                format!("{name} requires that '{what}' be a string, found: {value}"),
            )
        }),
    };
    let input = part(0, 51746, "input")?;
    let find = part(1, 51745, "find")?;
    let replacement = part(2, 51744, "replacement")?;
    let (Some(input), Some(find), Some(replacement)) = (input, find, replacement) else {
        return NULL;
    };
    // Fast path without a match: only the result is copied.
    if !all && !input.contains(find) {
        return Ok(Some(Value::from(input)));
    }
    if !all {
        check_text(input.len().saturating_add(replacement.len()).saturating_sub(find.len()))?;
        return Ok(Some(Value::String(input.replacen(find, replacement, 1))));
    }
    // The text is read twice and written once.
    call.env.context.budget.spend_bounded(input.len().saturating_mul(4))?;
    // The length follows from the number of occurrences, before anything is built.
    let places = input.matches(find).count();
    let grown = places.saturating_mul(replacement.len()).saturating_add(input.len());
    // An overflow saturates and is refused as too long.
    check_text(grown.saturating_sub(places.saturating_mul(find.len())))?;
    call.new_growth().add_size(Size::of_text(grown))?;
    Ok(Some(Value::String(input.replace(find, replacement))))
}

/// `$split: ["a-b", "-"]` is `["a", "b"]`; a separator at an end yields an empty part there. Null
/// if an argument is null or missing.
fn split_text(call: &Call<'_>) -> OptionalValue {
    if call.any_nullish() {
        return NULL;
    }
    let part = |index: usize, code: i32, which: &str| {
        text_of(call.value_at(index)).ok_or_else(|| {
            let kind = call.arg_at(index).type_name();
            let text = "$split requires an expression that evaluates to a string as a";
            type_mismatch(code, format!("{text} {which} argument, found: {kind}"))
        })
    };
    let (text, separator) = (part(0, 40085, "first")?, part(1, 40086, "second")?);
    if separator.is_empty() {
        return Err(invalid_request(40087, "$split requires a non-empty separator"));
    }
    let mut growth = call.new_growth();
    let part = |part: &str| growth.copy_value(ValueRef::String(part));
    Ok(Some(Value::Array(text.split(separator).map(part).collect::<Result<_, _>>()?)))
}
