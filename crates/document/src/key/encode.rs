//! Encodes values as key bytes.
//!
//! ```text
//! class byte | content
//!
//! "ab"       STRING   a b 0                     text, terminated by a 0
//! [1, "x"]   ARRAY    NUMBER .. STRING x 0 0    components, terminated by a 0
//! {a: 1}     DOCUMENT NUMBER a 0 .. 0           class, name and content of each field
//! ```
//!
//! A component that is too long is truncated and followed by a hash of the whole. Equal values have
//! equal keys and different values different ones, but two long values with the same prefix are not
//! ordered by value.

use sha2::{Digest, Sha256};

use super::{TypeOrder, class, number};
use crate::{
    key::KEPT_KEY_COMPONENT_BYTES,
    number::Number,
    value::{DocRef, ValueRef},
};

/// Appends one component; `descending` reverses its order by inverting every byte. Returns whether
/// the component was truncated. The whole value is encoded before it is truncated, because the hash
/// covers all of it; the caller must bound the size of the value.
pub fn encode(value: ValueRef<'_>, order: TypeOrder, descending: bool, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    push_component(value, order, out);
    // Exactly the components that are longer than the kept length are truncated, so a reader
    // recognizes them without a marker.
    let cut = KEPT_KEY_COMPONENT_BYTES < out.len() - start;
    if cut {
        let hash = Sha256::digest(&out[start..]);
        out.truncate(start + KEPT_KEY_COMPONENT_BYTES);
        out.extend_from_slice(&hash[..16]);
        // A key may be kept for long, so the memory that the whole value needed is released.
        out.shrink_to_fit();
    }
    // The hash does not order anything, but is inverted too because readers invert the whole
    // component.
    if descending {
        out[start..].iter_mut().for_each(|byte| *byte = !*byte);
    }
    cut
}

/// Returns the component that a hashed index has in place of `component`: a number that equal
/// components share, and that different ones hardly ever share.
pub fn hashed_component(component: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let hash = component_hash(component);
    encode(ValueRef::Int64(hash), TypeOrder::Bson, false, &mut out);
    out
}

/// Returns the number by which a hashed index represents a component.
pub fn component_hash(component: &[u8]) -> i64 {
    let digest = Sha256::digest(component);
    digest.first_chunk().map_or(0, |first| i64::from_be_bytes(*first))
}

/// Returns the class byte of a value, which orders values of different types. JSON's order has
/// other class bytes than BSON's for arrays and booleans.
fn class_of(value: ValueRef<'_>, order: TypeOrder) -> u8 {
    match value {
        ValueRef::MinKey => class::MIN_KEY,
        ValueRef::Undefined => class::UNDEFINED,
        ValueRef::Null => class::NULL,
        ValueRef::Int32(_) | ValueRef::Int64(_) | ValueRef::Double(_) | ValueRef::Decimal128(_) => {
            class::NUMBER
        }
        ValueRef::String(_) | ValueRef::Symbol(_) => class::STRING,
        ValueRef::Document(_) => class::DOCUMENT,
        ValueRef::Array(_) if order == TypeOrder::Json => class::JSON_ARRAY,
        ValueRef::Array(_) => class::ARRAY,
        ValueRef::Binary { .. } => class::BINARY,
        ValueRef::ObjectId(_) => class::OBJECT_ID,
        ValueRef::Bool(_) if order == TypeOrder::Json => class::JSON_BOOL,
        ValueRef::Bool(_) => class::BOOL,
        ValueRef::DateTime(_) => class::DATE,
        ValueRef::Timestamp(_) => class::TIMESTAMP,
        ValueRef::Regex { .. } => class::REGEX,
        ValueRef::DbPointer { .. } => class::DB_POINTER,
        ValueRef::JavaScript(_) => class::CODE,
        ValueRef::JavaScriptWithScope { .. } => class::CODE_WITH_SCOPE,
        ValueRef::MaxKey => class::MAX_KEY,
    }
}

/// Appends the class byte of a value, which identifies its type, and its encoded content.
fn push_component(value: ValueRef<'_>, order: TypeOrder, out: &mut Vec<u8>) {
    // The class is not part of the content, because documents put the field's name between the two.
    out.push(class_of(value, order));
    push_content(value, order, out);
}

/// Appends the bytes after the class byte. Types with a single value, such as null, have none.
fn push_content(value: ValueRef<'_>, order: TypeOrder, out: &mut Vec<u8>) {
    if let Some(number) = Number::of(value) {
        return number::push_number(number, out);
    }
    match value {
        ValueRef::String(v) | ValueRef::Symbol(v) | ValueRef::JavaScript(v) => push_text(v, out),
        ValueRef::Document(v) => push_document(v, order, out),
        ValueRef::Array(v) => {
            v.iter().for_each(|value| push_component(value, order, out));
            out.push(0);
        }
        // Binary data compares by length, then subtype, then bytes.
        ValueRef::Binary { subtype, bytes } => {
            let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
            out.extend_from_slice(&len.to_be_bytes());
            out.push(subtype);
            out.extend_from_slice(bytes);
        }
        ValueRef::ObjectId(v) => out.extend_from_slice(&v.0),
        // Encoded as 1 and 2, since 0 terminates lists.
        ValueRef::Bool(v) => out.push(u8::from(v) + 1),
        // Big-endian, as all fixed-width values here, so that bytes compare from the highest.
        ValueRef::DateTime(v) => out.extend_from_slice(&ordered_bits(v).to_be_bytes()),
        ValueRef::Timestamp(v) => out.extend_from_slice(&v.to_be_bytes()),
        ValueRef::Regex { pattern, options } => {
            push_text(pattern, out);
            push_text(options, out);
        }
        ValueRef::DbPointer { namespace, id } => {
            push_text(namespace, out);
            out.extend_from_slice(&id.0);
        }
        ValueRef::JavaScriptWithScope { code, scope } => {
            push_text(code, out);
            push_document(scope, order, out);
        }
        _ => {}
    }
}

/// Appends the class byte, name and content of each field: documents compare in this order.
fn push_document(fields: DocRef<'_>, order: TypeOrder, out: &mut Vec<u8>) {
    for (name, value) in fields.iter() {
        out.push(class_of(value, order));
        push_text(name, out);
        push_content(value, order, out);
    }
    out.push(0);
}

/// Appends text with 0 and 1 escaped by a 1, terminated by a 0. So no encoded text is a prefix of
/// another, and the bytes compare as the texts do.
fn push_text(text: &str, out: &mut Vec<u8>) {
    // Reserved at once, since growing step by step would hold several copies in memory.
    out.reserve(text.len() + 1);
    let mut left = text.as_bytes();
    // Most texts contain nothing to escape and are copied at once.
    while let Some(at) = left.iter().position(|byte| *byte <= 1) {
        let (plain, rest) = left.split_at(at);
        out.extend_from_slice(plain);
        out.extend([1, rest[0] + 1]);
        left = &rest[1..];
    }
    out.extend_from_slice(left);
    out.push(0);
}

/// Maps an `i64` to a `u64` with the same order by flipping the sign bit.
fn ordered_bits(value: i64) -> u64 {
    (value as u64) ^ (1 << 63)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_of_a_long_value_holds_no_more_than_itself() {
        let long = "x".repeat(1_000_000);
        let mut out = vec![7];
        assert!(encode(ValueRef::String(&long), TypeOrder::Json, false, &mut out));
        assert_eq!(out.len(), 1 + KEPT_KEY_COMPONENT_BYTES + 16);
        assert!(out.capacity() < 2 * out.len(), "{}", out.capacity());
    }
}
