//! How far a query has come: the place of its last result in the canonical order, small enough for
//! a token whatever the data. Places are byte strings in the order of results.

use sha2::{Digest, Sha256};

use crate::limits::{HASH_BYTES, MARK_BYTES};

/// The version of the bytes.
const VERSION: u8 = 1;
/// The place is kept whole.
const WHOLE: u8 = 1;

/// Where a query goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The place, or its beginning and a hash of the whole.
    pub(super) place: Vec<u8>,
    pub(super) whole: bool,
    /// How many places with the same beginning there were up to this one.
    pub(super) ties: u64,
    /// The row of a JOIN inside the place.
    pub(super) ordinal: u64,
    /// How many results have been passed: given out, or passed over by OFFSET.
    pub(super) done: u64,
}

impl Resume {
    /// The bytes of a token: at most some 600.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION, if self.whole { WHOLE } else { 0 }];
        for number in [self.ties, self.ordinal, self.done] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.extend_from_slice(&self.place);
        out
    }

    /// Reads a token; nothing when it is not one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<2>()?;
        let [VERSION, flags] = *head else { return None };
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
        let fits = if whole {
            rest.len() <= MARK_BYTES + HASH_BYTES
        } else {
            rest.len() == MARK_BYTES + HASH_BYTES
        };
        fits.then(|| Self { place: rest.to_vec(), whole, ties, ordinal, done })
    }

    /// The place of a result.
    pub(super) fn at(place: &[u8], ordinal: u64, ties: u64, done: u64) -> Self {
        let (place, whole) = match cut(place) {
            Some(cut) => (cut, false),
            None => (place.to_vec(), true),
        };
        Self { place, whole, ties, ordinal, done }
    }

    /// What is known of the place: all of it, or its beginning.
    pub(super) fn known(&self) -> &[u8] {
        let end = if self.whole { self.place.len() } else { MARK_BYTES.min(self.place.len()) };
        self.place.get(..end).unwrap_or_default()
    }

    /// Whether a row of a place may be behind this one.
    pub(super) fn may_be_behind(&self, place: &[u8], ordinal: u64) -> bool {
        let known = self.known();
        known < place || (known == place && (!self.whole || self.ordinal < ordinal))
    }
}

/// The beginning of a long place and a hash of the whole.
fn cut(place: &[u8]) -> Option<Vec<u8>> {
    if place.len() <= MARK_BYTES + HASH_BYTES {
        return None;
    }
    let mut out = place.get(..MARK_BYTES)?.to_vec();
    out.extend_from_slice(&hash(place));
    Some(out)
}

/// 128 bits of a hash.
fn hash(place: &[u8]) -> [u8; HASH_BYTES] {
    let mut out = [0; HASH_BYTES];
    Sha256::digest(place).iter().zip(&mut out).for_each(|(byte, place)| *place = *byte);
    out
}

/// A key a little before this one: little can be between them.
pub(super) fn shortly_before(key: &[u8]) -> Vec<u8> {
    let mut out = key.to_vec();
    if let Some(last @ 1..) = out.pop() {
        out.push(last - 1);
        out.extend_from_slice(&[0xff; 8]);
    }
    out
}

/// Lets places pass that are behind a mark. They have to come in order.
#[derive(Debug)]
pub(super) struct Gate {
    mark: Option<Resume>,
    /// The last place that came, and what was said of it.
    last: Option<(Vec<u8>, Option<u64>)>,
    /// Places with the beginning of the last one that came so far.
    ties: u64,
    /// Whether the mark's own place came.
    met: bool,
}

impl Gate {
    pub(super) fn new(mark: Option<Resume>) -> Self {
        Self { mark, last: None, ties: 0, met: false }
    }

    /// From which ordinal on the rows of this place are behind the mark; nothing when none is.
    pub(super) fn pass(&mut self, place: &[u8]) -> Option<u64> {
        if let Some((last, said)) = &self.last
            && last == place
        {
            return *said;
        }
        let same = |last: &(Vec<u8>, Option<u64>)| {
            last.0.get(..MARK_BYTES).is_some_and(|start| place.starts_with(start))
        };
        self.ties = if self.last.as_ref().is_some_and(same) { self.ties + 1 } else { 1 };
        let said = self.judge(place);
        // The memory of the one before is used again.
        let mut kept = self.last.take().map_or(Vec::new(), |(last, _)| last);
        kept.clear();
        kept.extend_from_slice(place);
        self.last = Some((kept, said));
        said
    }

    fn judge(&mut self, place: &[u8]) -> Option<u64> {
        let Some(mark) = &self.mark else { return Some(0) };
        let known = mark.known();
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
        if cut(place).as_ref() == Some(&mark.place) {
            self.met = true;
            return mark.ordinal.checked_add(1);
        }
        // The mark's own place is gone when as many others came before it.
        (mark.ties <= self.ties).then_some(0)
    }

    /// The mark of a row that passed last.
    pub(super) fn mark(&self, ordinal: u64, done: u64) -> Option<Resume> {
        let (place, _) = self.last.as_ref()?;
        Some(Resume::at(place, ordinal, self.ties, done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_and_nothing_else_does() {
        let long = vec![7; 5_000];
        for place in [&b""[..], b"abc", &long[..MARK_BYTES + HASH_BYTES], &long] {
            let resume = Resume::at(place, u64::MAX, 3, 12);
            let bytes = resume.to_bytes();
            assert!(bytes.len() < 600);
            assert_eq!(Resume::from_bytes(&bytes), Some(resume.clone()));
            let short = Resume::from_bytes(&bytes[..bytes.len() - 1]);
            assert_eq!(short.is_some(), !place.is_empty() && resume.whole);
        }
        let bytes = Resume::at(b"abc", 0, 1, 0).to_bytes();
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
        (0..places.len()).filter(|at| gate.pass(&places[*at]).is_some()).collect()
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
                gate.pass(place);
            }
            let mark = gate.mark(u64::MAX, 0);
            let behind: Vec<usize> = (at + 1..places.len()).collect();
            assert_eq!(passed(&places, mark.clone()), behind);
            // The same where the marked place is gone.
            let mut less = places.clone();
            less.remove(at);
            let behind: Vec<usize> = (at..less.len()).collect();
            assert_eq!(passed(&less, mark), behind, "{at}");
        }
    }
}
