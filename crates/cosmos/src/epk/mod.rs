//! Effective partition keys: where a partition key lies between "" and "FF". Clients compute the
//! same from the same components when they work on ranges of keys, so every bit counts.
//!
//! There are three kinds. Version 2 is one hash of all components: 16 bytes whose two highest bits
//! are zero, which keeps it below "FF". A hierarchical key is one such hash for each component, one
//! after the other, so that keys with the same first components lie together. Version 1 is a hash
//! as a number, then the components themselves in a form whose bytes compare as the components do.
//!
//! ```text
//! ["a"]        version 2   one hash                       16 bytes
//! ["a", 1]     MultiHash   hash of "a", hash of 1         32 bytes
//! ["a"]        version 1   tag, hash, tag, "a" shifted     any length
//! ```
//!
//! `vectors.txt` has what an official client makes of over a hundred keys.

mod murmur;
mod range;

pub(crate) use range::EpkRange;

use crate::partition_key::{Component, HashKind};

/// Characters of a text that the hash of the first version looks at; what is after them does not
/// count.
const V1_CHARS: usize = 100;
/// Bytes of a text that the first version's order keeps.
const V1_BYTES: usize = 100;

/// The effective partition key of these components, as bytes. No components are the beginning of
/// all keys. It depends on the bits of the components alone: `1` and `1.0` are one number, `0` and
/// `-0` are two.
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

/// The hash of all components, without its two highest bits.
fn hash_v2(components: &[Component]) -> [u8; 16] {
    let mut bytes = Vec::with_capacity(32);
    for component in components {
        push_hashed(component, 0xff, &mut bytes);
    }
    let hash = murmur::hash_128(&bytes) & (u128::MAX >> 2);
    hash.to_be_bytes()
}

/// The key of the first version. The hash is taken of the cut components, and written as if it were
/// a number among them.
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

/// A component as the first version sees it.
fn truncate_text(component: &Component) -> Component {
    match component {
        Component::String(text) => Component::String(text.chars().take(V1_CHARS).collect()),
        other => other.clone(),
    }
}

/// The byte that says of which type a component is. The order of the numbers is that of types in
/// the query language; the gaps are types that no key has.
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

/// Appends what is hashed of a component. The byte at the end of a text differs between the
/// versions: it keeps `["a","b"]` apart from `["ab"]`.
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

/// Appends the form of the first version whose bytes compare as the components do.
fn push_ordered(component: &Component, out: &mut Vec<u8>) {
    out.push(type_tag(component));
    match component {
        Component::Undefined | Component::Null | Component::Bool(_) => {}
        Component::Number(number) => ordered_number(*number, out),
        Component::String(text) => {
            let bytes = text.as_bytes();
            // A longer text is cut one byte later and has no end.
            let kept = if bytes.len() <= V1_BYTES { V1_BYTES } else { V1_BYTES + 1 };
            out.extend(bytes.iter().take(kept).map(|byte| byte.wrapping_add(1)));
            if bytes.len() <= V1_BYTES {
                out.push(0);
            }
        }
    }
}

/// Appends a number so that bytes compare as numbers do: the bits of IEEE 754, turned round for
/// negative ones, eight bits first and then seven a byte, whose lowest bit says whether another
/// byte follows. Trailing zeros are left out.
fn ordered_number(number: f64, out: &mut Vec<u8>) {
    const SIGN: u64 = 1 << 63;
    let bits = number.to_bits();
    // Positive numbers have the sign bit set and negative ones are complemented, which makes the
    // order of bits that of numbers.
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

    /// HashKind, components and what the Python client makes of them; see the file's first line.
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
