//! Effective partition keys (EPK): byte strings between "" and "FF" in hexadecimal that order the
//! partition keys of a container. Clients that use key ranges compute them, too, so the results
//! must be identical to those of the SDKs.
//!
//! There are three kinds. Version 2 is one hash of all components: 16 bytes whose two highest bits
//! are zero, which keeps it below "FF". A hierarchical key is the concatenation of such a hash per
//! component, so that keys with the same first components are adjacent. Version 1 is a hash as a
//! number, then the components in an order-preserving encoding.
//!
//! ```text
//! ["a"]        version 2   one hash                       16 bytes
//! ["a", 1]     MultiHash   hash of "a", hash of 1         32 bytes
//! ["a"]        version 1   tag, hash, tag, bytes of "a"+1 any length
//! ```
//!
//! `vectors.txt` contains the results of an official client for over a hundred keys.

mod murmur;
mod range;

pub(crate) use range::EpkRange;

use crate::partition_key::{Component, HashKind};

/// Number of characters of a text that the version 1 hash covers.
const V1_CHARS: usize = 100;
/// Number of bytes of a text in the version 1 encoding.
const V1_BYTES: usize = 100;

/// Returns the effective partition key of these components. Without components it is empty, which
/// is a prefix of all keys. Numbers are compared by their bits: `1` and `1.0` have the same key,
/// `0` and `-0` have different keys.
pub(crate) fn effective_key(kind: HashKind, components: &[Component]) -> Vec<u8> {
    if components.is_empty() {
        return Vec::new();
    }
    match kind {
        HashKind::HashV1 => key_v1(components),
        HashKind::HashV2 => hash_v2(components).to_vec(),
        HashKind::MultiHash => components.chunks(1).flat_map(hash_v2).collect(),
    }
}

/// Returns the hash of all components with its two highest bits cleared.
fn hash_v2(components: &[Component]) -> [u8; 16] {
    let mut bytes = Vec::with_capacity(32);
    for component in components {
        push_hashed(component, 0xff, &mut bytes);
    }
    let hash = murmur::hash_128(&bytes) & (u128::MAX >> 2);
    hash.to_be_bytes()
}

/// Returns the version 1 key: the hash of the truncated components, encoded as a number component,
/// followed by those components.
fn key_v1(components: &[Component]) -> Vec<u8> {
    let components: Vec<Component> = components.iter().map(truncate_text).collect();
    let mut bytes = Vec::with_capacity(32);
    for component in &components {
        push_hashed(component, 0, &mut bytes);
    }
    let hash = Component::Number(f64::from(murmur::hash_32(&bytes)));
    bytes.clear();
    for component in std::iter::once(&hash).chain(&components) {
        push_ordered(component, &mut bytes);
    }
    bytes
}

/// Truncates a text to the characters that version 1 uses.
fn truncate_text(component: &Component) -> Component {
    match component {
        Component::String(text) => Component::String(text.chars().take(V1_CHARS).collect()),
        other => other.clone(),
    }
}

/// Returns the type byte of a component. The values follow the order of types in the query
/// language; the numbers between them are types that partition keys cannot have.
fn type_tag(component: &Component) -> u8 {
    match component {
        Component::Undefined => 0,
        Component::Null => 1,
        Component::Bool(false) => 2,
        Component::Bool(true) => 3,
        Component::Number(_) => 5,
        Component::String(_) => 8,
    }
}

/// Appends the bytes of a component that are hashed. `end_of_text` is appended to texts as a
/// terminator, which distinguishes `["a","b"]` from `["ab"]` and differs between the versions of
/// the hash.
fn push_hashed(component: &Component, end_of_text: u8, out: &mut Vec<u8>) {
    out.push(type_tag(component));
    match component {
        Component::Undefined | Component::Null | Component::Bool(_) => {}
        Component::Number(number) => out.extend_from_slice(&number.to_le_bytes()),
        Component::String(text) => {
            out.extend_from_slice(text.as_bytes());
            out.push(end_of_text);
        }
    }
}

/// Appends the order-preserving version 1 encoding of a component.
fn push_ordered(component: &Component, out: &mut Vec<u8>) {
    out.push(type_tag(component));
    match component {
        Component::Undefined | Component::Null | Component::Bool(_) => {}
        Component::Number(number) => ordered_number(*number, out),
        Component::String(text) => {
            let bytes = text.as_bytes();
            // A text of more than `V1_BYTES` bytes is truncated to one byte more than that, and has
            // no terminator.
            let kept = if bytes.len() <= V1_BYTES { V1_BYTES } else { V1_BYTES + 1 };
            out.extend(bytes.iter().take(kept).map(|byte| byte.wrapping_add(1)));
            if bytes.len() <= V1_BYTES {
                out.push(0);
            }
        }
    }
}

/// Appends an order-preserving encoding of a number: its IEEE 754 bits with the sign bit set, or
/// negated as an integer if the number is negative. The first byte holds eight of these bits; each
/// further byte holds seven and, as its lowest bit, whether another byte follows. Trailing zeros
/// are omitted.
fn ordered_number(number: f64, out: &mut Vec<u8>) {
    const SIGN: u64 = 1 << 63;
    let bits = number.to_bits();
    // Setting the sign bit of positive numbers and negating the bits of negative ones makes the
    // bits sort like the numbers.
    let mut payload = if bits < SIGN { bits ^ SIGN } else { bits.wrapping_neg() };
    out.push((payload >> 56) as u8);
    payload <<= 8;
    let mut last = None;
    while payload != 0 {
        out.extend(last);
        last = Some((payload >> 56) as u8 | 1);
        payload <<= 7;
    }
    out.push(last.unwrap_or(0) & 0xfe);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02X}")).collect()
    }

    /// Test vectors: hash kind, components, and the key that the Python client computes. The first
    /// line of the file names the client's version.
    const VECTORS: &str = include_str!("vectors.txt");

    #[test]
    fn clients_compute_the_same() {
        let mut seen = 0;
        for line in VECTORS.lines().filter(|line| !line.starts_with('#')) {
            let mut parts = line.split('\t');
            let kind = match parts.next().unwrap() {
                "V1" => HashKind::HashV1,
                "V2" => HashKind::HashV2,
                _ => HashKind::MultiHash,
            };
            let components = Component::parse_all(parts.next().unwrap()).unwrap();
            assert_eq!(hex(&effective_key(kind, &components)), parts.next().unwrap(), "{line}");
            seen += 1;
        }
        assert_eq!(seen, 105);
        assert!(effective_key(HashKind::HashV2, &[]).is_empty());
    }
}
