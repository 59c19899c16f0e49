//! Ranges of effective partition keys, as clients ask for them: from an inclusive to an exclusive
//! end, in hexadecimal digits.

/// A part of a container: from `min` to before `max`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EpkRange {
    pub(crate) min: Vec<u8>,
    /// `None`: to the end.
    pub(crate) max: Option<Vec<u8>>,
}

impl EpkRange {
    /// Reads the two ends; `None`: they are not ends of a range.
    pub(crate) fn parse(min: &str, max: &str) -> Option<Self> {
        let min = bytes(min)?;
        let max = match max {
            "FF" | "ff" => None,
            max => Some(bytes(max)?),
        };
        Some(Self { min, max })
    }

    /// What has exactly this key, or begins with it where `prefix` says so.
    pub(crate) fn of_key(key: Vec<u8>) -> Self {
        let max = successor(key.clone());
        Self { min: key, max }
    }
}

/// The next key of the same length; `None`: there is none.
fn successor(mut key: Vec<u8>) -> Option<Vec<u8>> {
    while let Some(last) = key.pop() {
        if let Some(next) = last.checked_add(1) {
            key.push(next);
            return Some(key);
        }
    }
    None
}

/// Pairs of hexadecimal digits.
fn bytes(text: &str) -> Option<Vec<u8>> {
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
