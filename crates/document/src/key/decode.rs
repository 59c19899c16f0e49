//! Decodes key bytes to values, unless they were truncated.

use std::borrow::Cow;

use super::{class, number};
use crate::{
    key::KEPT_KEY_COMPONENT_BYTES,
    object_id::ObjectId,
    value::{Document, Value},
};

/// The contents of a key component.
#[derive(Debug, PartialEq, Eq)]
pub enum Component {
    /// A value that compares as equal to the encoded one; its numeric type may differ.
    Value(Value),
    /// A truncated value with a hash; the value must be read from the row.
    Cut,
}

/// Decodes the component at the start of `bytes`; returns it and the bytes after it, or `None` if
/// the bytes are not a valid key.
///
/// Truncated components carry no marker. They are recognized by length: a component is
/// self-delimiting, so one that ends within `KEPT_KEY_COMPONENT_BYTES` is whole, and any other was
/// truncated.
pub fn decode(bytes: &[u8], descending: bool) -> Option<(Component, &[u8])> {
    let window = uninverted(bytes, descending);
    if let Some((value, rest)) = decode_component(&window) {
        // The window may be a copy, so the rest is sliced from the key itself.
        let used = window.len() - rest.len();
        return Some((Component::Value(value), bytes.get(used..)?));
    }
    // A hash of 16 bytes follows the kept bytes.
    Some((Component::Cut, bytes.get(KEPT_KEY_COMPONENT_BYTES + 16..)?))
}

/// Skips one component and returns the bytes after it.
pub fn skip(bytes: &[u8], descending: bool) -> Option<&[u8]> {
    decode(bytes, descending).map(|(_, rest)| rest)
}

/// Returns the start of the bytes in ascending form, up to the length of the longest component that
/// is not truncated. This also limits the size of the copy for a descending component.
fn uninverted(bytes: &[u8], descending: bool) -> Cow<'_, [u8]> {
    let window = bytes.get(..KEPT_KEY_COMPONENT_BYTES).unwrap_or(bytes);
    if descending {
        Cow::Owned(window.iter().map(|byte| !byte).collect())
    } else {
        Cow::Borrowed(window)
    }
}

fn decode_component(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let (class, rest) = bytes.split_first()?;
    decode_content(*class, rest)
}

/// Decodes the content after the class byte `class`, which identifies the type, and returns the
/// value with the bytes after it. Returns `None` if the bytes are not such content, for example
/// because it was truncated.
fn decode_content(class: u8, bytes: &[u8]) -> Option<(Value, &[u8])> {
    Some(match class {
        class::MIN_KEY => (Value::MinKey, bytes),
        class::UNDEFINED => (Value::Undefined, bytes),
        class::NULL => (Value::Null, bytes),
        class::NUMBER => number::decode_number(bytes)?,
        class::STRING => decode_text(bytes).map(|(text, rest)| (Value::String(text), rest))?,
        class::CODE => decode_text(bytes).map(|(text, rest)| (Value::JavaScript(text), rest))?,
        class::DOCUMENT => {
            decode_document(bytes).map(|(fields, rest)| (Value::Document(fields), rest))?
        }
        class::ARRAY | class::JSON_ARRAY => decode_array(bytes)?,
        class::BINARY => decode_binary(bytes)?,
        class::OBJECT_ID => {
            let (id, rest) = bytes.split_first_chunk()?;
            (Value::ObjectId(ObjectId(*id)), rest)
        }
        // 1 is false and 2 is true, because 0 terminates texts and lists.
        class::BOOL | class::JSON_BOOL => {
            let (byte, rest) = bytes.split_first()?;
            (Value::Bool(*byte == 2), rest)
        }
        class::DATE => {
            let (bits, rest) = bytes.split_first_chunk()?;
            (Value::DateTime((u64::from_be_bytes(*bits) ^ (1 << 63)) as i64), rest)
        }
        class::TIMESTAMP => {
            let (bits, rest) = bytes.split_first_chunk()?;
            (Value::Timestamp(u64::from_be_bytes(*bits)), rest)
        }
        class::REGEX => {
            let (pattern, rest) = decode_text(bytes)?;
            let (options, rest) = decode_text(rest)?;
            (Value::Regex { pattern, options }, rest)
        }
        class::DB_POINTER => {
            let (namespace, rest) = decode_text(bytes)?;
            let (id, rest) = rest.split_first_chunk()?;
            (Value::DbPointer { namespace, id: ObjectId(*id) }, rest)
        }
        class::CODE_WITH_SCOPE => {
            let (code, rest) = decode_text(bytes)?;
            let (scope, rest) = decode_document(rest)?;
            (Value::JavaScriptWithScope { code, scope }, rest)
        }
        class::MAX_KEY => (Value::MaxKey, bytes),
        _ => return None,
    })
}

/// Decodes text up to its terminating 0 and undoes the escapes. Fails on text that is not UTF-8, as
/// when it was truncated inside a character.
fn decode_text(bytes: &[u8]) -> Option<(String, &[u8])> {
    let mut text = Vec::new();
    let mut rest = bytes;
    loop {
        let (byte, behind) = rest.split_first()?;
        rest = behind;
        match byte {
            0 => return Some((String::from_utf8(text).ok()?, rest)),
            1 => {
                let (escaped, behind) = rest.split_first()?;
                rest = behind;
                text.push(escaped.checked_sub(1)?);
            }
            byte => text.push(*byte),
        }
    }
}

/// Decodes fields up to the terminating 0. The class byte of a value, which identifies its type,
/// precedes the field's name, since documents compare by type first.
fn decode_document(bytes: &[u8]) -> Option<(Document, &[u8])> {
    let mut fields = Document::new();
    let mut rest = bytes;
    loop {
        let (class, behind) = rest.split_first()?;
        if *class == 0 {
            return Some((fields, behind));
        }
        let (name, behind) = decode_text(behind)?;
        let (value, behind) = decode_content(*class, behind)?;
        fields.push(name, value);
        rest = behind;
    }
}

/// Decodes elements up to the terminating 0. An array is encoded alike for the order of MongoDB and
/// that of the NoSQL API, except for its first byte, the type, which the caller has read.
fn decode_array(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let mut values = Vec::new();
    let mut rest = bytes;
    loop {
        let (class, behind) = rest.split_first()?;
        if *class == 0 {
            return Some((Value::Array(values), behind));
        }
        let (value, behind) = decode_content(*class, behind)?;
        values.push(value);
        rest = behind;
    }
}

/// Decodes binary data: length, subtype, bytes.
fn decode_binary(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    let len = usize::try_from(u32::from_be_bytes(*len)).ok()?;
    let (subtype, rest) = rest.split_first()?;
    let bytes = rest.get(..len)?;
    Some((Value::Binary { subtype: *subtype, bytes: bytes.to_vec() }, rest.get(len..)?))
}
