//! Splitting of encoded entries into parts. Each part starts with a byte: 1 if another part
//! follows, 0 in the last part. An entry with a missing part counts as missing.

use bytes::Bytes;

use crate::request::EntryPart;

/// Mark of a part that is followed by another one.
const MORE: u8 = 1;
/// Mark of the last part of an entry.
const LAST: u8 = 0;

/// Splits an encoded entry into parts of at most `size` bytes each, not counting the marker byte.
pub fn split(n: u64, bytes: &Bytes, size: usize) -> Vec<EntryPart> {
    let size = size.max(1);
    let count = bytes.len().div_ceil(size).max(1);
    let part = |at: usize| {
        let slice = bytes.get(at * size..bytes.len().min((at + 1) * size)).unwrap_or_default();
        let mut body = Vec::with_capacity(1 + slice.len());
        body.push(if at + 1 == count { LAST } else { MORE });
        body.extend_from_slice(slice);
        EntryPart { n, part: u32::try_from(at).unwrap_or(u32::MAX), body: Bytes::from(body) }
    };
    (0..count).map(part).collect()
}

/// Joins the parts, which are sorted by number and part, and returns the complete entries.
pub fn join(parts: &[EntryPart]) -> Vec<(u64, Bytes)> {
    let entries = parts.chunk_by(|a, b| a.n == b.n);
    entries.filter_map(|parts| Some((parts.first()?.n, join_one(parts)?))).collect()
}

/// Joins the parts of one entry; `None` if any is missing.
fn join_one(parts: &[EntryPart]) -> Option<Bytes> {
    let mut whole = Vec::with_capacity(parts.iter().map(|part| part.body.len()).sum());
    for (at, part) in parts.iter().enumerate() {
        let mark = if at + 1 == parts.len() { LAST } else { MORE };
        let (first, rest) = part.body.split_first()?;
        if usize::try_from(part.part).ok()? != at || *first != mark {
            return None;
        }
        if parts.len() == 1 {
            return Some(part.body.slice(1..));
        }
        whole.extend_from_slice(rest);
    }
    Some(Bytes::from(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_put_together_as_they_were() {
        for length in 0..20u8 {
            let bytes = Bytes::from_iter(0..length);
            for size in 0..22 {
                let parts = split(5, &bytes, size);
                assert!(parts.iter().all(|part| part.body.len() <= size.max(1) + 1));
                assert_eq!(join(&parts), [(5, bytes.clone())], "{length} in {size}");
            }
        }
    }

    #[test]
    fn an_entry_without_one_of_its_parts_is_missing() {
        let of = |n| split(n, &Bytes::from_static(b"0123456789"), 3);
        for lost in 0..4 {
            let mut middle = of(2);
            middle.remove(lost);
            let parts = [of(1), middle, of(3)].concat();
            let found: Vec<u64> = join(&parts).iter().map(|(n, _)| *n).collect();
            assert_eq!(found, [1, 3], "part {lost}");
        }
    }

    /// Corrupt markers do not panic.
    #[test]
    fn a_mark_that_is_wrong_makes_an_entry_missing() {
        for at in 0..4 {
            for mark in 0..=255 {
                let mut parts = split(2, &Bytes::from_static(b"0123456789"), 3);
                let right = parts[at].body[0];
                let mut body = parts[at].body.to_vec();
                body[0] = mark;
                parts[at].body = Bytes::from(body);
                assert_eq!(join(&parts).len(), usize::from(mark == right));
            }
            let mut parts = split(2, &Bytes::from_static(b"0123456789"), 3);
            parts[at].body = Bytes::new();
            assert_eq!(join(&parts), []);
        }
    }
}
