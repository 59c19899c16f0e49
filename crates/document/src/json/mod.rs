//! Reads (`parse`) and writes JSON text. A whole number within `i64` is an int64; any other number
//! is the nearest double. Types that JSON lacks are written as the nearest JSON type; items in the
//! engine contain none of them.

mod parse;

pub use parse::{Invalid, parse, parse_document};

use crate::{
    number::Number,
    value::{DocRef, ValueRef},
};

/// Appends a value as JSON. Decimals become the nearest double; other types, such as dates, become
/// a text in shell syntax. The function recurses with the nesting, which is bounded when values are
/// read.
pub fn write(value: ValueRef<'_>, out: &mut Vec<u8>) {
    match value {
        ValueRef::Null | ValueRef::Undefined | ValueRef::MinKey | ValueRef::MaxKey => {
            out.extend_from_slice(b"null");
        }
        ValueRef::Bool(true) => out.extend_from_slice(b"true"),
        ValueRef::Bool(false) => out.extend_from_slice(b"false"),
        ValueRef::Int32(v) => append(&v, out),
        ValueRef::Int64(v) => append(&v, out),
        // NaN and infinities become null.
        ValueRef::Double(v) => write_double(v, out),
        ValueRef::String(v) | ValueRef::Symbol(v) | ValueRef::JavaScript(v) => write_string(v, out),
        ValueRef::Document(v) => object(v, out),
        ValueRef::Array(values) => {
            out.push(b'[');
            for (at, value) in values.iter().enumerate() {
                if 0 < at {
                    out.push(b',');
                }
                write(value, out);
            }
            out.push(b']');
        }
        other => match Number::of(other) {
            Some(number) => write_double(number.to_f64(), out),
            None => write_string(&crate::display::shell(other).to_string(), out),
        },
    }
}

/// Writes a double in the shortest form that parses to the same double. JSON has only one numeric
/// type, so whole numbers need no fraction.
fn write_double(value: f64, out: &mut Vec<u8>) {
    append(&value, out);
    if out.ends_with(b".0") {
        out.truncate(out.len() - 2);
    }
}

fn object(fields: DocRef<'_>, out: &mut Vec<u8>) {
    out.push(b'{');
    for (at, (name, value)) in fields.iter().enumerate() {
        if 0 < at {
            out.push(b',');
        }
        write_string(name, out);
        out.push(b':');
        write(value, out);
    }
    out.push(b'}');
}

/// Appends a text as a quoted JSON string.
pub fn write_string(text: &str, out: &mut Vec<u8>) {
    append(text, out);
}

/// Appends the JSON form of a number or a text.
fn append<T: serde::Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) {
    // Writing numbers and texts to memory does not fail.
    let written = serde_json::to_writer(out, value);
    debug_assert!(written.is_ok());
}

/// Returns the JSON text of a value.
pub fn to_string(value: ValueRef<'_>) -> String {
    let mut out = Vec::new();
    write(value, &mut out);
    String::from_utf8(out).unwrap_or_default()
}
