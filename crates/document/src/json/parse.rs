//! Parses JSON: limits the depth, keeps the order of names, refuses duplicate names in one object.
//!
//! ```text
//! {"a": [1, 2.5]}    depth 2   a document with an array
//! {"a": 1, "a": 2}             refused: duplicate name
//! 18446744073709551615         a double: beyond a signed 64-bit integer
//! ```

use std::{collections::HashSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::value::{Document, Value};

/// Reason why a text is not a JSON value that can be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// Description of the error, with its line and column.
    pub message: String,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Invalid {}

impl From<serde_json::Error> for Invalid {
    fn from(error: serde_json::Error) -> Self {
        Self { message: error.to_string() }
    }
}

/// Parses a text that is exactly one value; `depth` limits nested objects and arrays. The parser
/// recurses with the nesting, so `depth` also protects the call stack.
pub fn parse(text: &[u8], depth: usize) -> Result<Value, Invalid> {
    parse_strict(text, depth).or_else(|invalid| match escape_controls(text) {
        Some(escaped) => parse_strict(&escaped, depth).map_err(|_| invalid),
        None => Err(invalid),
    })
}

/// Number of bytes by which escaping may lengthen a text in addition to doubling its length.
const FEW_BYTES: usize = 1024;

/// Escapes raw tabs and line breaks inside strings, which JSON forbids and Azure Cosmos DB accepts.
/// Returns `None` if the text has none, if one follows a backslash, or if the result would be more
/// than about twice as long as the text. This limit bounds the memory that a malicious text costs.
fn escape_controls(text: &[u8]) -> Option<Vec<u8>> {
    let (mut quoted, mut escaped, mut found) = (false, false, false);
    let mut out = Vec::with_capacity(text.len());
    for byte in text {
        match byte {
            0..=0x1f if escaped => return None,
            b'\t' | b'\n' | b'\r' if quoted => {
                found = true;
                out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
            }
            _ => out.push(*byte),
        }
        if 2 * text.len() + FEW_BYTES < out.len() {
            return None;
        }
        quoted ^= *byte == b'"' && !escaped;
        escaped = quoted && *byte == b'\\' && !escaped;
    }
    found.then_some(out)
}

/// Parses a text strictly by the JSON standard.
fn parse_strict(text: &[u8], depth: usize) -> Result<Value, Invalid> {
    // serde_json's own limit is fixed and has an error text of its own; `depth` replaces it.
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    deserializer.disable_recursion_limit();
    let value = Seed { depth }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Parses a text that must be an object, since items are objects; other values are refused with the
/// same error type.
pub fn parse_document(text: &[u8], depth: usize) -> Result<Document, Invalid> {
    match parse(text, depth)? {
        Value::Document(document) => Ok(document),
        _ => Err(Invalid { message: "the text is not an object".to_owned() }),
    }
}

/// Objects with up to this many names are checked for duplicates by linear search, longer ones with
/// a set, since the search would be quadratic.
const FEW_NAMES: usize = 16;

/// Deserializes one value. Holds the number of nesting levels that the value may still have.
#[derive(Clone, Copy)]
struct Seed {
    depth: usize,
}

impl Seed {
    /// Returns the deserializer for a nested value; fails if no nesting level remains.
    fn inner<E: serde::de::Error>(self) -> Result<Self, E> {
        let depth = self.depth.checked_sub(1);
        depth.map(|depth| Self { depth }).ok_or_else(|| E::custom("nested too deeply"))
    }
}

impl<'de> DeserializeSeed<'de> for Seed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int64(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        // serde_json calls this for all numbers without a sign, most of which fit an `i64`.
        Ok(i64::try_from(value).map_or(Value::Double(value as f64), Value::Int64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Double(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut values = Vec::new();
        while let Some(value) = access.next_element_seed(inner)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut document = Document::new();
        let mut names: HashSet<String> = HashSet::new();
        while let Some(name) = access.next_key::<String>()? {
            // BSON terminates names with a NUL, so such a name cannot be stored.
            if name.contains('\0') {
                return Err(A::Error::custom("a property name holds the character U+0000"));
            }
            // With few names a set would cost more than it saves.
            let known = if document.len() < FEW_NAMES {
                document.get(&name).is_some()
            } else {
                if names.is_empty() {
                    names.extend(document.fields().iter().map(|(name, _)| name.clone()));
                }
                !names.insert(name.clone())
            };
            if known {
                return Err(A::Error::custom(format!("property '{name}' occurs twice")));
            }
            let value = access.next_value_seed(inner)?;
            document.push(name, value);
        }
        Ok(Value::Document(document))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::to_string;

    fn round(text: &str) -> String {
        match parse(text.as_bytes(), 128) {
            Ok(value) => to_string(value.as_ref()),
            Err(_) => "refused".to_owned(),
        }
    }

    #[test]
    fn values_come_back_as_they_are() {
        for (text, want) in [
            ("null", "null"),
            (" [ true , false ] ", "[true,false]"),
            ("1", "1"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("9223372036854775807", "9223372036854775807"),
            ("9223372036854775808", "9.223372036854776e+18"),
            ("123456789012345678901234567890", "1.2345678901234568e+29"),
            ("20.0", "20"),
            ("1e2", "100"),
            ("-0", "-0"),
            ("0.1", "0.1"),
            ("1.7976931348623157e308", "1.7976931348623157e+308"),
            ("1e400", "refused"),
            ("NaN", "refused"),
            ("{\"b\":1,\"a\":{\"c\":\"\\u00e9\\n\\\"\"}}", "{\"b\":1,\"a\":{\"c\":\"é\\n\\\"\"}}"),
            ("{\"a\":1,\"a\":2}", "refused"),
            ("{\"a\\u0000b\":1}", "refused"),
            ("\"a\\u0000b\"", "\"a\\u0000b\""),
            ("\"\\ud800\"", "refused"),
            ("1 2", "refused"),
            ("[1,]", "refused"),
            ("", "refused"),
        ] {
            assert_eq!(round(text), want, "{text}");
        }
        assert!(parse(b"\"\xff\"", 128).is_err());
    }

    #[test]
    fn tabs_and_ends_of_lines_in_strings_are_taken_as_they_are() {
        for (text, want) in [
            ("{\"a\tb\":\"c\nd\re\"}", "{\"a\\tb\":\"c\\nd\\re\"}"),
            ("[\"\t\u{1f}\"]", "refused"),
            ("[\"\0\"]", "refused"),
            ("[\"\\\"\t\", 1,\n\t2]", "[\"\\\"\\t\",1,2]"),
            ("[\"\\\t\"]", "refused"),
            ("[\"\t\"", "refused"),
            ("[\"\t\" \u{1}]", "refused"),
            ("[\u{b}]", "refused"),
        ] {
            assert_eq!(round(text), want, "{text:?}");
        }
        let long = "x".repeat(100);
        assert_ne!(round(&format!("[\"{long}{}\"]", "\t".repeat(10))), "refused");
        assert_eq!(round(&format!("[\"{}\"]", "\t".repeat(10_000))), "refused");
    }

    #[test]
    fn depth_is_limited_exactly() {
        for (depth, good) in [(1, true), (128, true), (129, false), (1_000_000, false)] {
            let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            assert_eq!(parse(text.as_bytes(), 128).is_ok(), good, "{depth}");
        }
    }

    #[test]
    fn a_name_twice_is_refused_in_large_objects_too() {
        let fields: Vec<String> = (0..100).map(|at| format!("\"n{at}\":{at}")).collect();
        let good = format!("{{{}}}", fields.join(","));
        assert_eq!(round(&good), good);
        for twice in [0, 15, 16, 99] {
            assert_eq!(round(&format!("{{{},\"n{twice}\":0}}", fields.join(","))), "refused");
        }
    }

    #[test]
    fn only_an_object_is_a_document() {
        assert_eq!(parse_document(b"{\"a\":1}", 1).unwrap().len(), 1);
        assert!(parse_document(b"[1]", 1).is_err());
        assert!(parse_document(b"{\"a\":{}}", 1).is_err());
    }
}
