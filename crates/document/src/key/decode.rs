//! Key bytes back to values, as far as they were not cut.

use std::borrow::Cow;

use super::{class, number};
use crate::{
    limits::KEPT_KEY_COMPONENT_BYTES,
    object_id::ObjectId,
    value::{Document, Value},
};

/// What a key component holds.
#[derive(Debug, PartialEq, Eq)]
pub enum Component {
    /// A value that compares as equal to the encoded one; its numeric type may differ.
    Value(Value),
    /// Only the beginning and a hash are there: look at the row.
    Cut,
}

/// Reads the component at the start of `bytes`; answers it and what follows.
/// Returns `None` where the bytes are no key of ours.
///
/// Nothing in the bytes marks a cut component. It is known by this: a component delimits itself,
/// so one that ends within the kept length is whole, and one that does not was cut.
pub fn decode(bytes: &[u8], descending: bool) -> Option<(Component, &[u8])> {
    let window = uninverted(bytes, descending);
    if let Some((value, rest)) = decode_component(&window) {
        // Counted in the window, whose bytes may be a copy; the rest is taken from the key itself.
        let used = window.len() - rest.len();
        return Some((Component::Value(value), bytes.get(used..)?));
    }
    // 16 bytes of hash stand after what was kept.
    Some((Component::Cut, bytes.get(KEPT_KEY_COMPONENT_BYTES + 16..)?))
}

/// Steps over one component.
pub fn skip(bytes: &[u8], descending: bool) -> Option<&[u8]> {
    decode(bytes, descending).map(|(_, rest)| rest)
}

/// The bytes in ascending form, no further than a component that was not cut can reach.
/// Looking no further also keeps the copy for a descending component small.
fn uninverted(bytes: &[u8], descending: bool) -> Cow<'_, [u8]> {
    let window = bytes.get(..KEPT_KEY_COMPONENT_BYTES).unwrap_or(bytes);
    if descending {
        Cow::Owned(window.iter().map(|byte| !byte).collect())
    } else {
        Cow::Borrowed(window)
    }
}

/// Reads a component: its class and its content.
fn decode_component(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let (class, rest) = bytes.split_first()?;
    decode_content(*class, rest)
}

/// Reads the content of a value of this class, and returns what follows it. Nothing where the bytes
/// are not such a value, as when it was cut.
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
        // 1 is false and 2 is true: 0 is kept for the ends of texts and lists.
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

/// Reads text up to its 0, undoing the escapes.
/// Fails on text that is not UTF-8, as it is where a cut fell inside a character.
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

/// Reads fields up to the closing 0. The class of a value stands before its name, since documents
/// compare by class first.
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

/// Reads elements up to the closing 0.
/// Both orders write arrays alike, apart from the class byte that the caller has read.
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

/// Reads binary data: its length, its subtype, its bytes.
fn decode_binary(bytes: &[u8]) -> Option<(Value, &[u8])> {
    let (len, rest) = bytes.split_first_chunk()?;
    let len = usize::try_from(u32::from_be_bytes(*len)).ok()?;
    let (subtype, rest) = rest.split_first()?;
    let bytes = rest.get(..len)?;
    Some((Value::Binary { subtype: *subtype, bytes: bytes.to_vec() }, rest.get(len..)?))
}
