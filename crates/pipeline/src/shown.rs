//! Values as messages of MongoDB show them: doubles without trailing zeros, dates in ISO form,
//! everything else as the shell has it.

use document::{ValueRef, shell};
use evaluation::Evaluated;

use crate::text::{double_text, iso_text};

/// The text of what an expression came to, `MISSING` for nothing.
pub(crate) fn shown_or_missing(got: &Evaluated<'_>) -> String {
    got.value().map_or_else(|| "MISSING".to_owned(), |value| shown(value))
}

/// A value as evaluation's messages show it: doubles without trailing zeros.
/// It goes into documents and arrays, so that their doubles are shown alike.
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
