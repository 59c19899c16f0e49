//! Keys of values for sets and groups. Two values have the same key exactly when they are equal;
//! the order of an object's properties does not matter.
//!
//! A key is the sortable encoding of the value with the properties of every object in the order of
//! their names. It is compared as bytes, so that a hash set of keys is a set of values.

use document::{
    Document, Value, ValueRef,
    key::{TypeOrder, encode},
};
use evaluation::Evaluated;

/// Appends the key of a value to `out`. Undefined has a key that no value has. Only values that
/// contain an object are copied, to sort its properties.
pub(super) fn append_identity(value: Option<ValueRef<'_>>, out: &mut Vec<u8>) {
    let Some(value) = value else {
        encode(ValueRef::Undefined, TypeOrder::Json, false, out);
        return;
    };
    if has_object(value) {
        encode(with_sorted_properties(value).as_ref(), TypeOrder::Json, false, out);
    } else {
        encode(value, TypeOrder::Json, false, out);
    }
}

pub(super) fn identity_of(value: &Evaluated<'_>) -> Vec<u8> {
    let mut key = Vec::new();
    append_identity(value.value(), &mut key);
    key
}

/// Returns whether a value contains an object, so that its key needs a sorted copy.
fn has_object(value: ValueRef<'_>) -> bool {
    match value {
        ValueRef::Document(_) => true,
        ValueRef::Array(values) => values.iter().any(has_object),
        _ => false,
    }
}

/// Returns a copy of the value with the properties of every object sorted by name.
fn with_sorted_properties(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Document(fields) => {
            let mut fields: Vec<(String, Value)> = fields
                .iter()
                .map(|(name, value)| (name.to_owned(), with_sorted_properties(value)))
                .collect();
            fields.sort_by(|a, b| a.0.cmp(&b.0));
            Value::Document(fields.into_iter().collect::<Document>())
        }
        ValueRef::Array(values) => {
            Value::Array(values.iter().map(with_sorted_properties).collect())
        }
        other => other.to_value(),
    }
}

#[cfg(test)]
mod tests {
    use document::json::parse;

    use super::*;
    use crate::equal::is_equal;

    #[test]
    fn keys_are_the_same_exactly_when_values_are() {
        let texts = [
            "null",
            "true",
            "false",
            "0",
            "1",
            "1.0",
            "1.5",
            "\"1\"",
            "\"\"",
            "[]",
            "[1]",
            "[1,2]",
            "[2,1]",
            "{}",
            "{\"a\":1}",
            "{\"a\":1,\"b\":2}",
            "{\"b\":2,\"a\":1.0}",
            "[{\"b\":2,\"a\":1}]",
            "[{\"a\":1,\"b\":2}]",
            "{\"a\":{\"c\":1,\"d\":2}}",
            "{\"a\":{\"d\":2,\"c\":1}}",
        ];
        let values: Vec<Value> =
            texts.iter().map(|text| parse(text.as_bytes(), 9).unwrap()).collect();
        let key = |value: &Value| identity_of(&Evaluated::Ref(value.as_ref()));
        for a in &values {
            assert_ne!(key(a), identity_of(&Evaluated::Missing));
            for b in &values {
                assert_eq!(key(a) == key(b), is_equal(a.as_ref(), b.as_ref()), "{a:?} {b:?}");
            }
        }
    }
}
