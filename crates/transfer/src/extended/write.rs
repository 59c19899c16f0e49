//! Converts values to text. This cannot fail: every value can be written in each style.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use document::{ArrayRef, DocRef, ValueRef, json::write_string};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Canonical,
    /// Extended JSON with plain numbers, and ISO dates from 1970 to 9999.
    Relaxed,
    /// Plain JSON: numbers as in `Relaxed`, and ids, dates, bytes and decimals as strings.
    Plain,
}

/// The last millisecond of the year 9999; later dates have no form with four digits.
const LAST_DATE_MS: i64 = 253_402_300_799_999;

/// Appends a document. The recursion depth is the nesting depth, which was limited when the
/// document was read.
pub(crate) fn write_document(document: DocRef<'_>, style: Style, out: &mut Vec<u8>) {
    out.push(b'{');
    for (at, (name, value)) in document.iter().enumerate() {
        if 0 < at {
            out.push(b',');
        }
        write_string(name, out);
        out.push(b':');
        write_value(value, style, out);
    }
    out.push(b'}');
}

pub(crate) fn write_value(value: ValueRef<'_>, style: Style, out: &mut Vec<u8>) {
    match value {
        ValueRef::Null => push(out, "null"),
        ValueRef::Bool(v) => push(out, if v { "true" } else { "false" }),
        ValueRef::String(v) => write_string(v, out),
        ValueRef::Document(v) => write_document(v, style, out),
        ValueRef::Array(v) => write_array(v, style, out),
        ValueRef::Int32(v) if style == Style::Canonical => wrap(out, "$numberInt", &v.to_string()),
        ValueRef::Int64(v) if style == Style::Canonical => wrap(out, "$numberLong", &v.to_string()),
        ValueRef::Int32(v) => push(out, &v.to_string()),
        ValueRef::Int64(v) => push(out, &v.to_string()),
        ValueRef::Double(v) => write_double(v, style, out),
        other if style == Style::Plain => write_plain(other, out),
        other => write_wrapped(other, style, out),
    }
}

fn write_array(values: ArrayRef<'_>, style: Style, out: &mut Vec<u8>) {
    out.push(b'[');
    for (at, value) in values.iter().enumerate() {
        if 0 < at {
            out.push(b',');
        }
        write_value(value, style, out);
    }
    out.push(b']');
}

/// Writes a double with a decimal point or exponent, so that it is read as a double again.
fn write_double(value: f64, style: Style, out: &mut Vec<u8>) {
    let text = match value {
        v if v.is_nan() => "NaN".to_owned(),
        v if v.is_infinite() => (if v < 0.0 { "-Infinity" } else { "Infinity" }).to_owned(),
        v => format!("{v:?}"),
    };
    match style {
        Style::Plain if !value.is_finite() => push(out, "null"),
        Style::Relaxed | Style::Plain if value.is_finite() => push(out, &text),
        _ => wrap(out, "$numberDouble", &text),
    }
}

/// Writes types without a JSON form as strings, and the rest in relaxed form.
fn write_plain(value: ValueRef<'_>, out: &mut Vec<u8>) {
    match value {
        ValueRef::ObjectId(v) => write_string(&v.to_string(), out),
        ValueRef::Symbol(v) | ValueRef::JavaScript(v) => write_string(v, out),
        ValueRef::Decimal128(v) => write_string(&v.to_string(), out),
        ValueRef::Binary { bytes, .. } => write_string(&STANDARD.encode(bytes), out),
        ValueRef::DateTime(ms) => match instant(ms) {
            Some(text) => write_string(&text, out),
            None => push(out, &ms.to_string()),
        },
        ValueRef::Undefined => push(out, "null"),
        other => write_wrapped(other, Style::Relaxed, out),
    }
}

/// Writes a value in a type wrapper.
fn write_wrapped(value: ValueRef<'_>, style: Style, out: &mut Vec<u8>) {
    match value {
        ValueRef::ObjectId(v) => wrap(out, "$oid", &v.to_string()),
        ValueRef::Symbol(v) => wrap(out, "$symbol", v),
        ValueRef::JavaScript(v) => wrap(out, "$code", v),
        ValueRef::JavaScriptWithScope { code, scope } => {
            push(out, "{\"$code\":");
            write_string(code, out);
            push(out, ",\"$scope\":");
            write_document(scope, style, out);
            out.push(b'}');
        }
        ValueRef::Decimal128(v) => wrap(out, "$numberDecimal", &v.to_string()),
        ValueRef::Binary { subtype, bytes } => {
            push(out, "{\"$binary\":{\"base64\":");
            write_string(&STANDARD.encode(payload(subtype, bytes)), out);
            push(out, &format!(",\"subType\":\"{subtype:02x}\"}}}}"));
        }
        ValueRef::DateTime(ms) => {
            match instant(ms).filter(|_| style == Style::Relaxed && 0 <= ms) {
                Some(text) => wrap(out, "$date", &text),
                None => push(out, &format!("{{\"$date\":{{\"$numberLong\":\"{ms}\"}}}}")),
            }
        }
        ValueRef::Regex { pattern, options } => {
            push(out, "{\"$regularExpression\":{\"pattern\":");
            write_string(pattern, out);
            push(out, ",\"options\":");
            write_string(options, out);
            push(out, "}}");
        }
        ValueRef::DbPointer { namespace, id } => {
            push(out, "{\"$dbPointer\":{\"$ref\":");
            write_string(namespace, out);
            push(out, ",\"$id\":");
            wrap(out, "$oid", &id.to_string());
            push(out, "}}");
        }
        ValueRef::Timestamp(v) => {
            let (seconds, increment) = (v >> 32, v & 0xffff_ffff);
            push(out, &format!("{{\"$timestamp\":{{\"t\":{seconds},\"i\":{increment}}}}}"));
        }
        ValueRef::MinKey => push(out, "{\"$minKey\":1}"),
        ValueRef::MaxKey => push(out, "{\"$maxKey\":1}"),
        _ => push(out, "{\"$undefined\":true}"),
    }
}

/// Returns the bytes without the length prefix of the obsolete subtype 2, which the text omits.
fn payload(subtype: u8, bytes: &[u8]) -> &[u8] {
    match bytes.split_first_chunk::<4>() {
        Some((length, rest))
            if subtype == 2 && u32::from_le_bytes(*length) as usize == rest.len() =>
        {
            rest
        }
        _ => bytes,
    }
}

/// Formats a date as ISO 8601 in UTC, with milliseconds if not zero; `None` if it is out of range.
fn instant(ms: i64) -> Option<String> {
    if LAST_DATE_MS < ms {
        return None;
    }
    let at = jiff::Timestamp::from_millisecond(ms).ok()?;
    Some(if ms % 1000 == 0 { format!("{at:.0}") } else { format!("{at:.3}") })
}

fn wrap(out: &mut Vec<u8>, name: &str, text: &str) {
    push(out, "{\"");
    push(out, name);
    push(out, "\":");
    write_string(text, out);
    out.push(b'}');
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}
