//! How far a query has come: the place of its last result in the canonical order, small enough for
//! a token whatever the data. Places are byte strings in the order of results.
//!
//! A place of up to [`MARK_BYTES`] + [`HASH_BYTES`] bytes is kept as it is. Of a longer one the
//! beginning is kept with a hash of the whole. Several places may share that beginning, so the mark
//! also says how many of them came up to it (`ties`): the next page counts them again and finds the
//! very place by its hash. When that place is gone, because its document was deleted or has
//! expired, the count decides: as many places with that beginning as before are passed over.
//!
//! ```text
//! place  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|b....c
//! mark   aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|hash    ties = 3
//!        `------------- MARK_BYTES -----------------'
//! ```

use sha2::{Digest, Sha256};

use crate::limits::{HASH_BYTES, MARK_BYTES};

/// The version of the bytes.
const VERSION: u8 = 1;
/// The place is kept whole.
const WHOLE: u8 = 1;

/// Where a query goes on: a place, and how many results came up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The place, or its beginning and a hash of the whole.
    pub(super) place: Vec<u8>,
    /// Whether the place is there as a whole.
    pub(super) whole: bool,
    /// How many places with the beginning of the last one have come so far.
    pub(super) ties: u64,
    /// Which of the rows that the place's document makes was the last one (a JOIN makes several);
    /// `u64::MAX` when all of them are done.
    pub(super) ordinal: u64,
    /// How many results have been passed: given out, or passed over by OFFSET.
    pub(super) done: u64,
}

impl Resume {
    /// The bytes of a token: version, flags, three numbers, place.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION, if self.whole { WHOLE } else { 0 }];
        for number in [self.ties, self.ordinal, self.done] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.extend_from_slice(&self.place);
        out
    }

    /// Reads a token. Nothing when it is not one: it comes from a client.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<2>()?;
        let [VERSION, flags] = *head else { return None };
        // A later version may have more flags: such a token is not read.
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
        // A place that was cut has one length: what has any other was not made here.
        let fits = if whole {
            rest.len() <= MARK_BYTES + HASH_BYTES
        } else {
            rest.len() == MARK_BYTES + HASH_BYTES
        };
        fits.then(|| Self { place: rest.to_vec(), whole, ties, ordinal, done })
    }

    /// The mark of a result at a place.
    pub(super) fn at_place(place: &[u8], ordinal: u64, ties: u64, done: u64) -> Self {
        let (place, whole) = match cut_place(place) {
            Some(cut) => (cut, false),
            None => (place.to_vec(), true),
        };
        Self { place, whole, ties, ordinal, done }
    }

    /// What is known of the place: all of it, or its beginning.
    pub(super) fn known_place(&self) -> &[u8] {
        let end = if self.whole { self.place.len() } else { MARK_BYTES.min(self.place.len()) };
        self.place.get(..end).unwrap_or_default()
    }

    /// Whether a row at a place may come after the mark. For a mark that was cut, rows with the
    /// same beginning may.
    pub(super) fn may_be_behind(&self, place: &[u8], ordinal: u64) -> bool {
        let known = self.known_place();
        // The rest of a place that was cut is not known: the gate decides by its hash.
        known < place || (known == place && (!self.whole || self.ordinal < ordinal))
    }
}

/// The beginning of a long place and a hash of the whole; nothing when the place is short enough to
/// be kept.
fn cut_place(place: &[u8]) -> Option<Vec<u8>> {
    if place.len() <= MARK_BYTES + HASH_BYTES {
        return None;
    }
    let mut out = place.get(..MARK_BYTES)?.to_vec();
    out.extend_from_slice(&hash_of(place));
    Some(out)
}

/// The first 128 bits of SHA-256. A client could look for two places with one hash, and would skip
/// or repeat a result of its own.
fn hash_of(place: &[u8]) -> [u8; HASH_BYTES] {
    let mut out = [0; HASH_BYTES];
    Sha256::digest(place).iter().zip(&mut out).for_each(|(byte, place)| *place = *byte);
    out
}

/// A key a little before this one, for a scan that has to see this key again: the last byte is
/// lowered and followed by the greatest bytes, so that hardly any key lies between.
pub(super) fn shortly_before(key: &[u8]) -> Vec<u8> {
    let mut out = key.to_vec();
    // A last byte of zero is dropped: the shorter key lies before this one, too.
    if let Some(last @ 1..) = out.pop() {
        out.push(last - 1);
        out.extend_from_slice(&[0xff; 8]);
    }
    out
}

/// Lets places pass that come after a mark. Places have to come in order; a place may come several
/// times in a row, once for each row of it.
#[derive(Debug)]
pub(super) struct Gate {
    /// Where the page before ended; none for the first page.
    mark: Option<Resume>,
    /// The last place that came, and the ordinal from which on its rows pass.
    last: Option<(Vec<u8>, Option<u64>)>,
    /// Places with the beginning of the last one that came so far.
    ties: u64,
    /// Whether the mark's own place has come.
    met: bool,
}

impl Gate {
    /// A gate that lets pass what comes after a mark.
    pub(super) fn new(mark: Option<Resume>) -> Self {
        Self { mark, last: None, ties: 0, met: false }
    }

    /// From which ordinal on the rows of this place come after the mark; nothing when none does.
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
        // The memory of the one before is used again.
        let mut kept = self.last.take().map_or(Vec::new(), |(last, _)| last);
        kept.clear();
        kept.extend_from_slice(place);
        self.last = Some((kept, said));
        said
    }

    /// The same for a place that has not been asked for before.
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
        // The mark's own place is gone when as many others came before it.
        (mark.ties <= self.ties).then_some(0)
    }

    /// The mark of a row of the last place that passed.
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
            // The same where the marked place is gone.
            let mut less = places.clone();
            less.remove(at);
            let behind: Vec<usize> = (at..less.len()).collect();
            assert_eq!(passed(&less, mark), behind, "{at}");
        }
    }
}
