//! Formats values as in MongoDB's messages: doubles without trailing zeros, dates in ISO form,
//! everything else in shell syntax.

use document::{ValueRef, shell};
use evaluation::Evaluated;

use crate::text::{double_text, iso_text};

/// Formats the result of an expression, `MISSING` if it has no value.
pub(crate) fn shown_or_missing(got: &Evaluated<'_>) -> String {
    got.value().map_or_else(|| "MISSING".to_owned(), |value| shown(value))
}

/// Formats a value for a message. Doubles inside documents and arrays are formatted alike, without
/// trailing zeros.
pub(crate) fn shown(value: ValueRef<'_>) -> String {
    match value {
        ValueRef::Double(v) => double_text(v, 6),
        ValueRef::DateTime(v) => iso_text(v),
        ValueRef::Document(v) => {
            let fields: Vec<String> =
                v.iter().map(|(name, value)| format!("{name}: {}", shown(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        ValueRef::Array(v) => {
            format!("[{}]", v.iter().map(shown).collect::<Vec<_>>().join(", "))
        }
        other => shell(other).to_string(),
    }
}
