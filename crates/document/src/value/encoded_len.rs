//! Computes the encoded length of a value without encoding it, so that callers can refuse values
//! that are too large before they are copied. It must agree with `builder.rs`.

use super::{ArrayRef, DocRef, Value, ValueRef};

/// Size in bytes of an empty document or array: the length and the terminating NUL.
const AROUND: usize = 5;

impl ValueRef<'_> {
    /// Returns the encoded length of the value without its type and name. A tree is walked; raw
    /// bytes store their length.
    pub fn encoded_len(self) -> usize {
        match self {
            Self::Undefined | Self::Null | Self::MaxKey | Self::MinKey => 0,
            Self::Bool(_) => 1,
            Self::Int32(_) => 4,
            Self::Double(_) | Self::DateTime(_) | Self::Int64(_) | Self::Timestamp(_) => 8,
            Self::ObjectId(_) => 12,
            Self::Decimal128(_) => 16,
            Self::String(text) | Self::JavaScript(text) | Self::Symbol(text) => string_len(text),
            Self::Binary { bytes, .. } => 5 + bytes.len(),
            Self::Regex { pattern, options } => name_len(pattern) + name_len(options),
            Self::DbPointer { namespace, .. } => string_len(namespace) + 12,
            Self::JavaScriptWithScope { code, scope } => {
                4 + string_len(code) + Self::Document(scope).encoded_len()
            }
            Self::Document(DocRef::Raw(bytes)) | Self::Array(ArrayRef::Raw(bytes)) => bytes.len(),
            Self::Document(DocRef::Tree(tree)) => {
                let field = |(name, value): &(String, Value)| {
                    1 + name_len(name) + value.as_ref().encoded_len()
                };
                AROUND + tree.fields().iter().map(field).sum::<usize>()
            }
            Self::Array(ArrayRef::Tree(values)) => {
                let element =
                    |(at, value): (usize, &Value)| 2 + digits(at) + value.as_ref().encoded_len();
                AROUND + values.iter().enumerate().map(element).sum::<usize>()
            }
        }
    }
}

/// Encoded length of a string: its length prefix, its text and a NUL.
fn string_len(text: &str) -> usize {
    4 + text.len() + 1
}

/// Returns the encoded length of a name, which is truncated at its first NUL, with the terminating
/// NUL.
fn name_len(name: &str) -> usize {
    name.bytes().position(|byte| byte == 0).unwrap_or(name.len()) + 1
}

/// Number of decimal digits of an index.
fn digits(index: usize) -> usize {
    index.checked_ilog10().map_or(1, |log| log as usize + 1)
}

#[cfg(test)]
mod tests {
    use super::super::{DocBuilder, Document};
    use super::*;
    use crate::{decimal::Decimal128, object_id::ObjectId};

    /// Returns values of all types, including nested ones.
    fn all_kinds() -> Vec<Value> {
        let text = || "text".to_owned();
        let mut inner = Document::new();
        inner.push("a\0b", Value::Null);
        inner.push("", Value::String("ä\0".to_owned()));
        let id = ObjectId([7; 12]);
        let mut all = vec![
            Value::Double(0.5),
            Value::String(text()),
            Value::Document(inner.clone()),
            Value::Binary { subtype: 4, bytes: vec![1; 16] },
            Value::Undefined,
            Value::ObjectId(id),
            Value::Bool(true),
            Value::DateTime(1),
            Value::Null,
            Value::Regex { pattern: text(), options: "i".to_owned() },
            Value::DbPointer { namespace: text(), id },
            Value::JavaScript(text()),
            Value::Symbol(text()),
            Value::JavaScriptWithScope { code: text(), scope: inner },
            Value::Int32(1),
            Value::Timestamp(1),
            Value::Int64(1),
            Value::Decimal128(Decimal128::parse("1.5").unwrap()),
            Value::MaxKey,
            Value::MinKey,
        ];
        all.push(Value::Array(all.clone()));
        for count in [0, 1, 10, 11, 100, 101, 1_001] {
            all.push(Value::Array(vec![Value::Null; count]));
        }
        all
    }

    #[test]
    fn it_is_the_length_of_what_is_written() {
        for value in all_kinds() {
            let mut builder = DocBuilder::new();
            let before = builder.len();
            builder.append("name", value.as_ref());
            let written = builder.len() - before - 6;
            assert_eq!(value.as_ref().encoded_len(), written, "{value:?}");
            let document = builder.finish();
            let raw = document.as_ref().get("name").unwrap();
            assert_eq!(raw.encoded_len(), written, "{raw:?}");
        }
    }
}
