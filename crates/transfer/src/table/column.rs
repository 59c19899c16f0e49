//! Columns: where the text of a field goes in a document, and which value it becomes. A type may be written
//! behind the name, as `age.int32()`; without one the text decides, and only where it would be written
//! the same way again: `7` is a number, `007` a text.

use document::{Decimal128, Document, ObjectId, Value};

use crate::extended::date;

/// What the texts of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Auto,
    Text,
    Int32,
    Int64,
    Double,
    Decimal,
    Bool,
    Date,
    ObjectId,
}

/// The types as they are written behind a name.
const KINDS: [(&str, Kind); 9] = [
    ("auto", Kind::Auto),
    ("string", Kind::Text),
    ("int32", Kind::Int32),
    ("int64", Kind::Int64),
    ("double", Kind::Double),
    ("decimal", Kind::Decimal),
    ("boolean", Kind::Bool),
    ("date", Kind::Date),
    ("objectId", Kind::ObjectId),
];

#[derive(Clone, Debug)]
struct Column {
    path: Vec<String>,
    kind: Kind,
}

/// The columns of a table, in order.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    columns: Vec<Column>,
    ignore_blanks: bool,
}

impl Columns {
    /// Reads the names of a header, or those that were typed.
    pub(crate) fn new(names: &[String], typed: bool, ignore_blanks: bool) -> Result<Self, String> {
        let mut columns: Vec<Column> = Vec::new();
        for name in names {
            let (name, kind) = if typed { split_type(name)? } else { (name.as_str(), Kind::Auto) };
            let path: Vec<String> = name.split('.').map(str::to_owned).collect();
            if path.iter().any(|part| part.is_empty() || part.contains('\0')) {
                return Err(format!("the column {name:?} has no name, or an empty part in it"));
            }
            if columns
                .iter()
                .any(|known| known.path.starts_with(&path) || path.starts_with(&known.path))
            {
                return Err(format!("the column {name:?} is there twice, or lies in another one"));
            }
            columns.push(Column { path, kind });
        }
        if columns.is_empty() {
            return Err("the table has no columns".to_owned());
        }
        Ok(Self { columns, ignore_blanks })
    }

    /// The document of a line; an error names the column.
    pub(crate) fn document(&self, fields: &csv::ByteRecord) -> Result<Document, String> {
        if fields.len() != self.columns.len() {
            let (has, wants) = (fields.len(), self.columns.len());
            return Err(format!("the line has {has} fields and the header {wants}"));
        }
        let mut document = Document::new();
        for (column, field) in self.columns.iter().zip(fields) {
            let name = || column.path.join(".");
            let text = str::from_utf8(field).map_err(|_| format!("{}: it is not UTF-8", name()))?;
            if text.is_empty() && self.ignore_blanks {
                continue;
            }
            let value = value_of(column.kind, text);
            let value = value.ok_or_else(|| format!("{}: {text:?} has not its type", name()))?;
            put(&mut document, &column.path, value);
        }
        Ok(document)
    }
}

fn split_type(name: &str) -> Result<(&str, Kind), String> {
    let found = name.strip_suffix("()").and_then(|rest| rest.rsplit_once('.'));
    let kind = found.and_then(|(name, kind)| {
        KINDS.iter().find(|(word, _)| *word == kind).map(|(_, kind)| (name, *kind))
    });
    kind.ok_or_else(|| {
        let words: Vec<&str> = KINDS.iter().map(|(word, _)| *word).collect();
        format!(
            "the column {name:?} has no type: it is NAME.TYPE(), with one of {}",
            words.join(", ")
        )
    })
}

/// Puts a value where its path leads; no column lies in another, so that there is room.
fn put(document: &mut Document, path: &[String], value: Value) {
    match path {
        [] => {}
        [name] => document.push(name.clone(), value),
        [name, rest @ ..] => {
            if document.get(name).is_none() {
                document.push(name.clone(), Document::new());
            }
            if let Some(Value::Document(inner)) = document.get_mut(name) {
                put(inner, rest, value);
            }
        }
    }
}

fn value_of(kind: Kind, text: &str) -> Option<Value> {
    Some(match kind {
        Kind::Auto => guess(text),
        Kind::Text => Value::from(text),
        Kind::Int32 => Value::Int32(text.parse().ok()?),
        Kind::Int64 => Value::Int64(text.parse().ok()?),
        Kind::Double => Value::Double(text.parse().ok()?),
        Kind::Decimal => Value::Decimal128(Decimal128::parse(text)?),
        Kind::Bool => Value::Bool(text.parse().ok()?),
        Kind::Date => Value::DateTime(date(text)?),
        Kind::ObjectId => Value::ObjectId(ObjectId::parse(text)?),
    })
}

/// A number or a truth value where the text is how it would be written, or else the text.
fn guess(text: &str) -> Value {
    if let Ok(whole) = text.parse::<i64>()
        && whole.to_string() == text
    {
        return i32::try_from(whole).map_or(Value::Int64(whole), Value::Int32);
    }
    if let Ok(double) = text.parse::<f64>()
        && double.is_finite()
        && format!("{double:?}") == text
    {
        return Value::Double(double);
    }
    text.parse::<bool>().map_or_else(|_| Value::from(text), Value::Bool)
}

#[cfg(test)]
mod tests {
    use document::doc;

    use super::*;

    fn read(
        names: &[&str],
        typed: bool,
        blanks: bool,
        fields: &[&str],
    ) -> Result<Document, String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Columns::new(&names, typed, blanks)?.document(&csv::ByteRecord::from(fields.to_vec()))
    }

    #[test]
    fn texts_become_values_that_are_written_the_same_way() {
        for (text, want) in [
            ("7", Value::Int32(7)),
            ("-3000000000", Value::Int64(-3_000_000_000)),
            ("007", Value::from("007")),
            ("+1", Value::from("+1")),
            ("1.5", Value::Double(1.5)),
            ("1.50", Value::from("1.50")),
            ("1.0", Value::Double(1.0)),
            ("NaN", Value::from("NaN")),
            ("true", Value::Bool(true)),
            ("True", Value::from("True")),
            ("", Value::from("")),
            ("99999999999999999999", Value::from("99999999999999999999")),
        ] {
            let got = read(&["a"], false, false, &[text]).unwrap();
            let want = doc! { "a": want };
            assert_eq!(got.to_buf().bytes(), want.to_buf().bytes(), "{text}");
        }
    }

    #[test]
    fn columns_say_where_and_what() {
        let names = ["_id.int64()", "a.b.string()", "a.c.boolean()", "at.date()", "o.objectId()"];
        let id = "010203040506070809101112";
        let got = read(&names, true, true, &["1", "2", "false", "1970-01-01T00:00:00Z", id]);
        let want = doc! {
            "_id": 1_i64, "a": doc! { "b": "2", "c": false }, "at": Value::DateTime(0),
            "o": ObjectId::parse(id).unwrap(),
        };
        assert_eq!(got.unwrap().to_buf().bytes(), want.to_buf().bytes());
        let blank = read(&names, true, true, &["1", "", "", "", ""]).unwrap();
        assert_eq!(blank.to_buf().bytes(), doc! { "_id": 1_i64 }.to_buf().bytes());
        for (names, typed, fields, want) in [
            (&["a.int32()"][..], true, &["x"][..], "has not its type"),
            (&["a.int32()"], true, &[""], "has not its type"),
            (&["a"], true, &["x"], "has no type"),
            (&["a.integer()"], true, &["x"], "has no type"),
            (&["a", "a.b"], false, &["1", "2"], "lies in another"),
            (&["a", "a"], false, &["1", "2"], "twice"),
            (&["a..b"], false, &["1"], "empty part"),
            (&[""], false, &["1"], "empty part"),
            (&["a", "b"], false, &["1"], "1 fields and the header 2"),
            (&[], false, &[], "no columns"),
        ] {
            let refused = read(names, typed, false, fields).unwrap_err();
            assert!(refused.contains(want), "{names:?}: {refused}");
        }
    }
}
