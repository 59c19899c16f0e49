//! Documents as lines of a table: CSV by RFC 4180. Strings are written unchanged; documents, arrays
//! and values of rare types as relaxed Extended JSON.
//!
//! ```text
//! _id,name,address.city      a header with dots for nested fields
//! 1,"Ann ""A.""",Oslo
//! ```

mod column;

pub(crate) use column::Columns;

use document::{DocRef, ValueRef};

use crate::extended::{Style, write_value};

/// Formats fields as a line, including its line break.
pub(crate) fn record<T: AsRef<[u8]>>(fields: impl Iterator<Item = T>) -> Result<Vec<u8>, String> {
    let mut writer = csv::WriterBuilder::new().from_writer(Vec::new());
    writer.write_record(fields).map_err(|error| error.to_string())?;
    writer.into_inner().map_err(|error| error.to_string())
}

/// Formats a document as a line; missing and null values are empty.
pub(crate) fn row(columns: &[String], document: DocRef<'_>) -> Result<Vec<u8>, String> {
    record(columns.iter().map(|column| match find(document, column) {
        Some(value) => text_of(value),
        None => Vec::new(),
    }))
}

/// Returns the value at a path of names and array indexes.
fn find<'a>(document: DocRef<'a>, path: &str) -> Option<ValueRef<'a>> {
    // A field whose name contains dots has precedence over a nested one.
    if let Some(value) = document.get(path) {
        return Some(value);
    }
    let mut names = path.split('.');
    let mut value = document.get(names.next()?)?;
    for name in names {
        value = match value {
            ValueRef::Document(inner) => inner.get(name)?,
            ValueRef::Array(inner) => inner.get(name.parse().ok()?)?,
            _ => return None,
        };
    }
    Some(value)
}

fn text_of(value: ValueRef<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    match value {
        ValueRef::Null | ValueRef::Undefined => {}
        ValueRef::String(text) | ValueRef::Symbol(text) | ValueRef::JavaScript(text) => {
            out.extend_from_slice(text.as_bytes());
        }
        ValueRef::Document(_) | ValueRef::Array(_) => write_value(value, Style::Relaxed, &mut out),
        ValueRef::Double(v) if !v.is_finite() => {
            let text = if v.is_nan() {
                "NaN"
            } else if v < 0.0 {
                "-Infinity"
            } else {
                "Infinity"
            };
            out.extend_from_slice(text.as_bytes());
        }
        other => {
            write_value(other, Style::Plain, &mut out);
            // Ids, dates, bytes and decimals are JSON strings, whose quotes are omitted in a table.
            if let [b'"', inner @ .., b'"'] = out.as_slice() {
                out = inner.to_vec();
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use document::{Value, array, doc};

    use super::*;

    #[test]
    fn rows() {
        let id = document::ObjectId([255; 12]);
        let document = doc! {
            "_id": id, "text": "a \"b\",\nc", "n": 1.0, "at": Value::DateTime(0),
            "in": doc! { "side": array![1, doc! { "x": true }] }, "a.b": 7, "a": doc! { "b": 8 },
            "null": Value::Null, "nan": f64::NAN,
        };
        for (column, want) in [
            ("_id", "ffffffffffffffffffffffff"),
            ("text", "\"a \"\"b\"\",\nc\""),
            ("n", "1.0"),
            ("at", "1970-01-01T00:00:00Z"),
            ("in.side.1.x", "true"),
            ("in.side.7", "\"\""),
            ("in", "\"{\"\"side\"\":[1,{\"\"x\"\":true}]}\""),
            ("a.b", "7"),
            ("null", "\"\""),
            ("none", "\"\""),
            ("n.x", "\"\""),
            ("nan", "NaN"),
        ] {
            let got = row(&[column.to_owned()], DocRef::Tree(&document)).unwrap();
            assert_eq!(String::from_utf8(got).unwrap(), format!("{want}\n"), "{column}");
        }
        let got = row(&["n".to_owned(), "none".to_owned()], DocRef::Tree(&document)).unwrap();
        assert_eq!(got, b"1.0,\n");
    }
}
