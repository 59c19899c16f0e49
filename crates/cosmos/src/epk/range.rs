//! Ranges of effective partition keys as clients request them: an inclusive and an exclusive bound
//! in hexadecimal. SDKs send them when they split a query or a feed among several workers.

/// A range of effective partition keys from `min` (inclusive) to `max` (exclusive). Keys compare as
/// bytes; a prefix precedes the longer keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EpkRange {
    pub(crate) min: Vec<u8>,
    /// Upper bound, exclusive; `None` if the range extends to the last key.
    pub(crate) max: Option<Vec<u8>>,
}

impl EpkRange {
    /// Parses the two bounds; returns `None` if they are not pairs of hexadecimal digits. "FF" is
    /// the end of all keys and not a key of one byte.
    pub(crate) fn parse(min: &str, max: &str) -> Option<Self> {
        let min = parse_hex(min)?;
        let max = match max {
            "FF" | "ff" => None,
            max => Some(parse_hex(max)?),
        };
        Some(Self { min, max })
    }

    /// Returns whether the range contains a key.
    pub(crate) fn contains_key(&self, key: &[u8]) -> bool {
        self.min.as_slice() <= key && self.max.as_ref().is_none_or(|max| key < max.as_slice())
    }

    /// Returns the smallest range over key prefixes of `len` bytes that contains all keys of this
    /// range, and whether it contains no other keys. Row keys hold only such prefixes, so if the
    /// result contains other keys, each item found must be checked again.
    pub(crate) fn of_beginnings(&self, len: usize) -> (Self, bool) {
        // A bound no longer than the prefixes remains valid for prefixes unchanged.
        let beginning = |key: &[u8]| key.get(..len).map(<[u8]>::to_vec);
        let exact = self.min.len() <= len && self.max.as_ref().is_none_or(|max| max.len() <= len);
        let min = beginning(&self.min).unwrap_or_else(|| self.min.clone());
        // If the upper bound is longer than a prefix, keys with the bound's prefix lie on both
        // sides of it, so the whole prefix must be included.
        let max = match self.max.as_ref() {
            Some(max) if len < max.len() => Self::of_key(beginning(max).unwrap_or_default()).max,
            max => max.cloned(),
        };
        (Self { min, max }, exact)
    }

    /// Returns the range of all keys with this prefix.
    pub(crate) fn of_key(key: Vec<u8>) -> Self {
        let max = next_key(key.clone());
        Self { min: key, max }
    }
}

/// Returns the smallest key after all keys with this prefix; `None` if all its bytes are 0xff.
fn next_key(mut key: Vec<u8>) -> Option<Vec<u8>> {
    while let Some(last) = key.pop() {
        if let Some(next) = last.checked_add(1) {
            key.push(next);
            return Some(key);
        }
    }
    None
}

fn parse_hex(text: &str) -> Option<Vec<u8>> {
    let digit =
        |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    };
    text.as_bytes().chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_ranges() {
        for (min, max, want) in [
            ("", "FF", Some((vec![], None))),
            ("3A53", "3A54", Some((vec![0x3a, 0x53], Some(vec![0x3a, 0x54])))),
            ("3a", "ff", Some((vec![0x3a], None))),
            ("05C1", "05C1FF", Some((vec![5, 0xc1], Some(vec![5, 0xc1, 0xff])))),
            ("3A5", "FF", None),
            ("zz", "FF", None),
            ("é", "FF", None),
            ("", "x", None),
        ] {
            let found = EpkRange::parse(min, max).map(|range| (range.min, range.max));
            assert_eq!(found, want, "{min} {max}");
        }
    }

    #[test]
    fn ranges_of_beginnings() {
        for (min, max, want, exact) in [
            ("0102", "0304", ("0102", "0304"), true),
            ("010203", "0304", ("0102", "0304"), false),
            ("0102", "030405", ("0102", "0305"), false),
            ("", "FF", ("", "FF"), true),
            ("0102", "FFFF01", ("0102", "FF"), false),
        ] {
            let (found, whole) = EpkRange::parse(min, max).unwrap().of_beginnings(2);
            assert_eq!(
                (Some(found), whole),
                (EpkRange::parse(want.0, want.1), exact),
                "{min} {max}"
            );
        }
        let range = EpkRange::parse("0102", "010203").unwrap();
        for (key, want) in [
            (&[1, 1, 9][..], false),
            (&[1, 2], true),
            (&[1, 2, 2, 9], true),
            (&[1, 2, 3], false),
            (&[2], false),
        ] {
            assert_eq!(range.contains_key(key), want, "{key:?}");
        }
    }

    #[test]
    fn the_range_of_a_key_ends_at_the_next() {
        for (key, max) in [
            (vec![0xb7], Some(vec![0xb8])),
            (vec![1, 0xff], Some(vec![2])),
            (vec![0xff, 0xff], None),
            (vec![], None),
        ] {
            assert_eq!(EpkRange::of_key(key).max, max);
        }
    }
}
