//! The resume position ("mark" in code) of a query: the sort position ("place" in code) of its last
//! result, bounded in size so that it fits a continuation token with any data. Sort positions are
//! byte strings in the order of results.
//!
//! A sort position of up to [`MARK_BYTES`] + [`HASH_BYTES`] bytes is kept whole. A longer one is
//! truncated to a prefix and followed by a hash of the whole. Several sort positions may share that
//! prefix, so those up to and including this one are counted (`ties`). The next page counts them
//! again and recognizes this one by its hash. If it no longer exists, because its document was
//! deleted or has expired, the count decides: as many of them as before are skipped.
//!
//! ```text
//! sort position    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|b....c
//! resume position  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|hash    ties = 3
//!                  `------------- MARK_BYTES -----------------'
//! ```

use sha2::{Digest, Sha256};

use crate::limits::{HASH_BYTES, MARK_BYTES};

/// Version of the token's format.
const VERSION: u8 = 1;
/// Flag of a token: its sort position is not truncated.
const WHOLE: u8 = 1;

/// Where a query continues: a sort position, and the number of results up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The sort position or, if that is long, its prefix and a hash of the whole.
    pub(super) place: Vec<u8>,
    /// Whether the sort position is not truncated.
    pub(super) whole: bool,
    /// Number of sort positions with the same prefix, up to and including this one.
    pub(super) ties: u64,
    /// Ordinal of the last row among the rows of its document (a JOIN makes several); `u64::MAX` if
    /// all of them are done.
    pub(super) ordinal: u64,
    /// Results returned, or skipped by OFFSET, since the first page.
    pub(super) done: u64,
}

impl Resume {
    /// Encodes the bytes of a token: version, flags, three numbers, sort position.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION, if self.whole { WHOLE } else { 0 }];
        for number in [self.ties, self.ordinal, self.done] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.extend_from_slice(&self.place);
        out
    }

    /// Decodes a token, which comes from a client; `None` if it is invalid.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<2>()?;
        let [VERSION, flags] = *head else { return None };
        // Flags of a later version are unknown: such a token is refused.
        if flags & !WHOLE != 0 {
            return None;
        }
        let mut rest = rest;
        let mut number = || {
            let (first, more) = rest.split_first_chunk::<8>()?;
            rest = more;
            Some(u64::from_be_bytes(*first))
        };
        let (ties, ordinal, done) = (number()?, number()?, number()?);
        let whole = flags == WHOLE;
        // A truncated sort position has exactly one length; any other was not encoded here.
        let fits = if whole {
            rest.len() <= MARK_BYTES + HASH_BYTES
        } else {
            rest.len() == MARK_BYTES + HASH_BYTES
        };
        fits.then(|| Self { place: rest.to_vec(), whole, ties, ordinal, done })
    }

    /// Creates the position after a result, at which the next page resumes.
    pub(super) fn at_place(place: &[u8], ordinal: u64, ties: u64, done: u64) -> Self {
        let (place, whole) = match cut_place(place) {
            Some(cut) => (cut, false),
            None => (place.to_vec(), true),
        };
        Self { place, whole, ties, ordinal, done }
    }

    /// Returns the known part of the sort position: all of it, or its prefix.
    pub(super) fn known_place(&self) -> &[u8] {
        let end = if self.whole { self.place.len() } else { MARK_BYTES.min(self.place.len()) };
        self.place.get(..end).unwrap_or_default()
    }

    /// Returns whether a row may come after this resume position. If the position is truncated, all
    /// rows with its prefix may come after it.
    pub(super) fn may_be_behind(&self, place: &[u8], ordinal: u64) -> bool {
        let known = self.known_place();
        // The rest of a truncated sort position is unknown: the gate decides by its hash.
        known < place || (known == place && (!self.whole || self.ordinal < ordinal))
    }
}

/// Returns the prefix of a long sort position and a hash of the whole; `None` if the sort position
/// is short enough to be kept whole.
fn cut_place(place: &[u8]) -> Option<Vec<u8>> {
    if place.len() <= MARK_BYTES + HASH_BYTES {
        return None;
    }
    let mut out = place.get(..MARK_BYTES)?.to_vec();
    out.extend_from_slice(&hash_of(place));
    Some(out)
}

/// Returns the first 128 bits of SHA-256. A client that searched for two sort positions with one
/// hash would only skip or repeat its own results.
fn hash_of(place: &[u8]) -> [u8; HASH_BYTES] {
    let mut out = [0; HASH_BYTES];
    Sha256::digest(place).iter().zip(&mut out).for_each(|(byte, place)| *place = *byte);
    out
}

/// Returns a key that sorts shortly before `key`, for a scan that must return `key` again. The last
/// byte is decremented and followed by the greatest bytes, so that hardly any key lies between.
pub(super) fn shortly_before(key: &[u8]) -> Vec<u8> {
    let mut out = key.to_vec();
    // A last byte of zero is dropped: the shorter key sorts before this one, too.
    if let Some(last @ 1..) = out.pop() {
        out.push(last - 1);
        out.extend_from_slice(&[0xff; 8]);
    }
    out
}

/// A filter for the sort positions after a resume position. Sort positions have to be passed in
/// order; the same one may be passed several times in succession, once for each of its rows.
#[derive(Debug)]
pub(super) struct Gate {
    /// The position at which the previous page ended; `None` on the first page.
    mark: Option<Resume>,
    /// The last sort position, and the first ordinal at it that belongs to this page.
    last: Option<(Vec<u8>, Option<u64>)>,
    /// Number of sort positions so far that have the same prefix as the last one.
    ties: u64,
    /// Whether the sort position at which the previous page ended was reached.
    met: bool,
}

impl Gate {
    pub(super) fn new(mark: Option<Resume>) -> Self {
        Self { mark, last: None, ties: 0, met: false }
    }

    /// Returns the first ordinal at this sort position that comes after the resume position; `None`
    /// if none does.
    pub(super) fn first_ordinal_after(&mut self, place: &[u8]) -> Option<u64> {
        if let Some((last, said)) = &self.last
            && last == place
        {
            return *said;
        }
        let same = |last: &(Vec<u8>, Option<u64>)| {
            last.0.get(..MARK_BYTES).is_some_and(|start| place.starts_with(start))
        };
        self.ties = if self.last.as_ref().is_some_and(same) { self.ties + 1 } else { 1 };
        let said = self.decide_place(place);
        // Reuses the buffer of the previous sort position.
        let mut kept = self.last.take().map_or(Vec::new(), |(last, _)| last);
        kept.clear();
        kept.extend_from_slice(place);
        self.last = Some((kept, said));
        said
    }

    /// Computes `first_ordinal_after` for a new sort position.
    fn decide_place(&mut self, place: &[u8]) -> Option<u64> {
        let Some(mark) = &self.mark else { return Some(0) };
        let known = mark.known_place();
        if mark.whole {
            return match place.cmp(known) {
                std::cmp::Ordering::Less => None,
                std::cmp::Ordering::Equal => mark.ordinal.checked_add(1),
                std::cmp::Ordering::Greater => Some(0),
            };
        }
        if !place.starts_with(known) || self.met {
            return (known < place).then_some(0);
        }
        if cut_place(place).as_ref() == Some(&mark.place) {
            self.met = true;
            return mark.ordinal.checked_add(1);
        }
        // As many sort positions as precede the resume position were skipped, so its own no longer
        // exists.
        (mark.ties <= self.ties).then_some(0)
    }

    /// Returns the position after a row with the last sort position.
    pub(super) fn mark_of_last(&self, ordinal: u64, done: u64) -> Option<Resume> {
        let (place, _) = self.last.as_ref()?;
        Some(Resume::at_place(place, ordinal, self.ties, done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_and_nothing_else_does() {
        let long = vec![7; 5_000];
        for place in [&b""[..], b"abc", &long[..MARK_BYTES + HASH_BYTES], &long] {
            let resume = Resume::at_place(place, u64::MAX, 3, 12);
            let bytes = resume.to_bytes();
            assert!(bytes.len() < 600);
            assert_eq!(Resume::from_bytes(&bytes), Some(resume.clone()));
            let short = Resume::from_bytes(&bytes[..bytes.len() - 1]);
            assert_eq!(short.is_some(), !place.is_empty() && resume.whole);
        }
        let bytes = Resume::at_place(b"abc", 0, 1, 0).to_bytes();
        for (at, value) in [(0, 0), (0, 2), (1, 2), (1, 0)] {
            let mut other = bytes.clone();
            other[at] = value;
            assert_eq!(Resume::from_bytes(&other), None);
        }
        assert_eq!(Resume::from_bytes(&[bytes, vec![0; 600]].concat()), None);
        assert_eq!(Resume::from_bytes(b""), None);
    }

    fn passed(places: &[Vec<u8>], mark: Option<Resume>) -> Vec<usize> {
        let mut gate = Gate::new(mark);
        (0..places.len()).filter(|at| gate.first_ordinal_after(&places[*at]).is_some()).collect()
    }

    #[test]
    fn every_place_is_met_again() {
        let long = |tail: &str| [vec![b'x'; 700], tail.as_bytes().to_vec()].concat();
        let places: Vec<Vec<u8>> =
            [&b"a"[..], b"ab", &long("1"), &long("2"), &long("3"), &long("4"), b"y", b"z"]
                .map(<[u8]>::to_vec)
                .to_vec();
        for at in 0..places.len() {
            let mut gate = Gate::new(None);
            for place in &places[..=at] {
                gate.first_ordinal_after(place);
            }
            let mark = gate.mark_of_last(u64::MAX, 0);
            let behind: Vec<usize> = (at + 1..places.len()).collect();
            assert_eq!(passed(&places, mark.clone()), behind);
            // The same results follow after the row at the resume position was deleted.
            let mut less = places.clone();
            less.remove(at);
            let behind: Vec<usize> = (at..less.len()).collect();
            assert_eq!(passed(&less, mark), behind, "{at}");
        }
    }
}
