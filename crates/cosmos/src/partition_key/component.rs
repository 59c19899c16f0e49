//! A component of a partition key, and the JSON array of components in headers and bulk operations,
//! in which an empty object denotes a missing property.
//!
//! ```text
//! ["a"]         one string
//! ["a", 1]      two paths; the value of the second is a number
//! [{}]          one path; the item has no property there
//! []            no path, or in a migrated container an item without the property
//! ```

use document::{Value, ValueRef, json};

use crate::limits::{KEY_TEXT_BYTES, MAX_HEADER_KEYS};

/// A component of a partition key. An object or array at a partition key path counts as a missing
/// property.
#[derive(Clone, Debug)]
pub(crate) enum Component {
    /// The item has no property at the path, or its value is an object or array.
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    String(String),
}

/// Two numbers are equal if their bits are equal, since clients hash the bits of numbers.
impl PartialEq for Component {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Undefined, Self::Undefined) | (Self::Null, Self::Null) => true,
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Number(a), Self::Number(b)) => a.to_bits() == b.to_bits(),
            (Self::String(a), Self::String(b)) => a == b,
            _ => false,
        }
    }
}

impl Component {
    /// Returns the component of a property's value.
    pub(crate) fn of_value(value: Option<ValueRef<'_>>) -> Self {
        match value {
            Some(ValueRef::Null) => Self::Null,
            Some(ValueRef::Bool(value)) => Self::Bool(value),
            Some(ValueRef::Int32(value)) => Self::Number(f64::from(value)),
            Some(ValueRef::Int64(value)) => Self::Number(value as f64),
            Some(ValueRef::Double(value)) => Self::Number(value),
            Some(ValueRef::String(text)) => Self::String(text.to_owned()),
            _ => Self::Undefined,
        }
    }

    /// Parses the array of a partition key header, such as `["a"]`, `[{}]` or `[]`; returns `None`
    /// if it is invalid.
    pub(crate) fn parse_all(text: &str) -> Option<Vec<Self>> {
        if KEY_TEXT_BYTES < text.len() {
            return None;
        }
        if let Some(simple) = simple_string(text) {
            return Some(vec![Self::String(simple.to_owned())]);
        }
        // The maximum nesting is 2: an array that may contain empty objects.
        let Ok(Value::Array(values)) = json::parse(text.as_bytes(), 2) else { return None };
        Self::of_list(&values)
    }

    pub(crate) fn of_list(values: &[Value]) -> Option<Vec<Self>> {
        if MAX_HEADER_KEYS < values.len() {
            return None;
        }
        values.iter().map(Self::from_header).collect()
    }

    fn from_header(value: &Value) -> Option<Self> {
        match value {
            Value::Document(document) if document.is_empty() => Some(Self::Undefined),
            Value::Document(_) | Value::Array(_) => None,
            other => Some(Self::of_value(Some(other.as_ref()))),
        }
    }

    /// Returns the component as a value for engine keys.
    pub(crate) fn as_value(&self) -> ValueRef<'_> {
        match self {
            Self::Undefined => ValueRef::Undefined,
            Self::Null => ValueRef::Null,
            Self::Bool(value) => ValueRef::Bool(*value),
            Self::Number(value) => ValueRef::Double(*value),
            Self::String(text) => ValueRef::String(text),
        }
    }

    /// Returns the number of bytes that count towards the key length limit.
    pub(crate) fn counted_bytes(&self) -> usize {
        match self {
            Self::String(text) => text.len(),
            Self::Undefined | Self::Null | Self::Bool(_) => 1,
            Self::Number(_) => 8,
        }
    }
}

/// Returns the string in an array of a single string without escapes. This form is the most common
/// one, so it is parsed here without the JSON parser.
fn simple_string(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("[\"")?.strip_suffix("\"]")?;
    let plain = |byte: u8| 0x20 <= byte && byte != b'"' && byte != b'\\';
    inner.bytes().all(plain).then_some(inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_in_headers() {
        use Component::{Bool, Null, Number, String, Undefined};
        for (text, want) in [
            ("[\"a\"]", Some(vec![String("a".to_owned())])),
            ("[\"a\",\"b\"]", Some(vec![String("a".to_owned()), String("b".to_owned())])),
            ("[\"a\\\"b\"]", Some(vec![String("a\"b".to_owned())])),
            ("[\"\\u65e5\"]", Some(vec![String("日".to_owned())])),
            ("[\"\"]", Some(vec![String(std::string::String::new())])),
            (" [ 1 ] ", Some(vec![Number(1.0)])),
            ("[1.0,-0]", Some(vec![Number(1.0), Number(-0.0)])),
            ("[true,null,{},false]", Some(vec![Bool(true), Null, Undefined, Bool(false)])),
            ("[]", Some(vec![])),
            ("[[]]", None),
            ("[{\"a\":1}]", None),
            ("[1,2,3,4,5,6,7,8,9]", None),
            ("\"a\"", None),
            ("a", None),
            ("", None),
            ("[\"a]", None),
            ("[\"a\"b\"]", None),
        ] {
            assert_eq!(Component::parse_all(text), want, "{text}");
        }
        assert_ne!(Number(0.0), Number(-0.0));
        assert_eq!(Component::parse_all(&format!("[\"{}\"]", "x".repeat(100_000))), None);
    }
}
