//! Columns: the path of a field in the document, and the type of its value. A type may follow the
//! name, as in `age.int32()`. Otherwise the type is inferred from the text, but only if the value
//! would be written as the same text: `7` is a number, `007` a string.

use std::collections::HashMap;

use document::{Decimal128, Document, ObjectId, Value};

use crate::extended::{MAX_DEPTH, date};

/// Type of the values of a column.
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

/// Type names as written after a column name.
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
    name: String,
    kind: Kind,
}

/// Names and fields of a document in order.
type Fields = Vec<(String, Field)>;

#[derive(Clone, Debug)]
enum Field {
    Column(usize),
    /// A nested document, by its index in `documents`.
    Document(usize),
}

/// The columns of a table, in order.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    columns: Vec<Column>,
    /// Fields of each nested document; the first is the root.
    documents: Vec<Fields>,
    ignore_blanks: bool,
}

impl Columns {
    /// Parses column names in time proportional to their length.
    pub(crate) fn new(names: &[String], typed: bool, ignore_blanks: bool) -> Result<Self, String> {
        let mut columns: Vec<Column> = Vec::new();
        let mut documents: Vec<Fields> = vec![Vec::new()];
        // Fields by the index of the document that contains them and by name.
        let mut known: HashMap<(usize, &str), Field> = HashMap::new();
        for typed_name in names {
            let (name, kind) =
                if typed { split_type(typed_name)? } else { (typed_name.as_str(), Kind::Auto) };
            let twice = || format!("duplicate column {name:?}, or it is nested in another one");
            let (mut at, mut depth) = (0, 0);
            let mut parts = name.split('.').peekable();
            while let Some(part) = parts.next() {
                if part.is_empty() || part.contains('\0') {
                    return Err(format!("the column {name:?} has no name, or an empty part in it"));
                }
                depth += 1;
                if MAX_DEPTH < depth {
                    let begin: String = name.chars().take(50).collect();
                    return Err(format!(
                        "the column {begin:?}... is nested deeper than {MAX_DEPTH}"
                    ));
                }
                let is_last = parts.peek().is_none();
                match known.get(&(at, part)) {
                    Some(Field::Document(inner)) if !is_last => at = *inner,
                    Some(_) => return Err(twice()),
                    None => {
                        let field = match is_last {
                            true => Field::Column(columns.len()),
                            false => {
                                documents.push(Vec::new());
                                Field::Document(documents.len() - 1)
                            }
                        };
                        documents[at].push((part.to_owned(), field.clone()));
                        known.insert((at, part), field.clone());
                        if let Field::Document(inner) = field {
                            at = inner;
                        }
                    }
                }
            }
            columns.push(Column { name: name.to_owned(), kind });
        }
        if columns.is_empty() {
            return Err("the table has no columns".to_owned());
        }
        Ok(Self { columns, documents, ignore_blanks })
    }

    /// Returns the document of a record; an error names the column.
    pub(crate) fn document(&self, fields: &csv::ByteRecord) -> Result<Document, String> {
        if fields.len() != self.columns.len() {
            let (has, wants) = (fields.len(), self.columns.len());
            return Err(format!("the line has {has} fields and the header {wants}"));
        }
        self.document_at(0, fields)
    }

    /// Builds one of the nested documents. The recursion depth is bounded, because the nesting of
    /// column names is limited when they are parsed.
    fn document_at(&self, at: usize, texts: &csv::ByteRecord) -> Result<Document, String> {
        let mut document = Document::new();
        for (name, field) in self.documents.get(at).into_iter().flatten() {
            match field {
                Field::Document(inner) => {
                    let inner = self.document_at(*inner, texts)?;
                    if !inner.is_empty() {
                        document.push(name.clone(), inner);
                    }
                }
                Field::Column(column) => {
                    if let Some(value) = self.value_at(*column, texts)? {
                        document.push(name.clone(), value);
                    }
                }
            }
        }
        Ok(document)
    }

    /// Returns the value of a column; `None` if the document gets no field for it.
    fn value_at(&self, at: usize, texts: &csv::ByteRecord) -> Result<Option<Value>, String> {
        let Some((column, text)) = self.columns.get(at).zip(texts.get(at)) else { return Ok(None) };
        let name = &column.name;
        let text = str::from_utf8(text).map_err(|_| format!("{name}: it is not UTF-8"))?;
        if text.is_empty() && self.ignore_blanks {
            return Ok(None);
        }
        let value = value_of(column.kind, text);
        value.map(Some).ok_or_else(|| format!("{name}: {text:?} does not match the column type"))
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

/// Returns the number or boolean that would be written as this text, otherwise a string.
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
    fn a_header_of_very_many_columns_is_read_at_once() {
        // An algorithm with quadratic time would take minutes here.
        let names: Vec<String> =
            (0..150_000).flat_map(|n| [format!("c{n}"), format!("d{n}.a.b")]).collect();
        let texts = csv::ByteRecord::from(vec!["1"; names.len()]);
        let document = Columns::new(&names, false, false).unwrap().document(&texts).unwrap();
        assert_eq!(document.len(), names.len());
    }

    #[test]
    fn fields_of_one_document_need_not_follow_each_other() {
        let got = read(&["a.x", "b", "a.y.z"], false, false, &["1", "2", "3"]).unwrap();
        let want = doc! { "a": doc! { "x": 1, "y": doc! { "z": 3 } }, "b": 2 };
        assert_eq!(got.to_buf().bytes(), want.to_buf().bytes());
        let got = read(&["a.x", "b", "a.y.z"], false, true, &["", "2", ""]).unwrap();
        assert_eq!(got.to_buf().bytes(), doc! { "b": 2 }.to_buf().bytes());
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
        let deep = "a.".repeat(2000);
        for (names, typed, fields, want) in [
            (&["a.int32()"][..], true, &["x"][..], "does not match the column type"),
            (&["a.int32()"], true, &[""], "does not match the column type"),
            (&["a"], true, &["x"], "has no type"),
            (&["a.integer()"], true, &["x"], "has no type"),
            (&["a", "a.b"], false, &["1", "2"], "duplicate column"),
            (&["a", "a"], false, &["1", "2"], "duplicate column"),
            (&["a..b"], false, &["1"], "empty part"),
            (&[""], false, &["1"], "empty part"),
            (&["a", "b"], false, &["1"], "1 fields and the header 2"),
            (&["a.b.c", "a.b"], false, &["1", "2"], "duplicate column"),
            (&["a.b", "a.b.c"], false, &["1", "2"], "duplicate column"),
            (&[deep.as_str()], false, &["1"], "nested deeper"),
            (&[], false, &[], "no columns"),
        ] {
            let refused = read(names, typed, false, fields).unwrap_err();
            assert!(refused.contains(want), "{names:?}: {refused}");
        }
    }
}
