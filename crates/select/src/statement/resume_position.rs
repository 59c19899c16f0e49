//! The resume position of a query: the sort position of its last result, bounded in size so that it
//! fits a continuation token with any data. Sort positions are byte strings in the order of
//! results.
//!
//! A sort position of up to [`RESUME_BYTES`] + [`HASH_BYTES`] bytes is kept whole. A longer one is
//! truncated to a prefix and followed by a hash of the whole. Several sort positions may share that
//! prefix, so those up to and including this one are counted (`ties`). The next page counts them
//! again and recognizes this one by its hash. If it no longer exists, because its document was
//! deleted or has expired, the count decides: as many of them as before are skipped.
//!
//! ```text
//! sort position    aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|b....c
//! resume position  aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa|hash    ties = 3
//!                  `------------- RESUME_BYTES ---------------'
//! ```

use sha2::{Digest, Sha256};

/// Bytes of a long sort position that a continuation token keeps; a hash replaces the rest. Tokens
/// travel in a header, which clients and proxies limit to a few kilobytes.
const RESUME_BYTES: usize = 512;
/// Bytes of the hash at the end of a truncated sort position.
const HASH_BYTES: usize = 16;
/// Version of the format of continuation tokens.
const VERSION: u8 = 1;
/// Flag of a continuation token: its sort position is not truncated.
const WHOLE: u8 = 1;

/// The position at which a query continues: a sort position, and the number of results up to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resume {
    /// The sort position or, if that is long, its prefix and a hash of the whole.
    pub(super) sort_position: Vec<u8>,
    /// Whether the sort position is not truncated.
    pub(super) is_whole: bool,
    /// Number of sort positions so far, including this one, that have the same prefix. Other sort
    /// positions may share the prefix of a truncated one.
    pub(super) ties: u64,
    /// Ordinal of the last row: its index among the rows of its document, of which a JOIN makes
    /// several; `u64::MAX` if all of them are done.
    pub(super) ordinal: u64,
    /// Results returned, or skipped by OFFSET, since the first page.
    pub(super) done: u64,
}

impl Resume {
    /// Encodes the position as the bytes of a continuation token: version, flags, `ties`,
    /// `ordinal`, `done`, sort position.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = vec![VERSION, if self.is_whole { WHOLE } else { 0 }];
        for number in [self.ties, self.ordinal, self.done] {
            out.extend_from_slice(&number.to_be_bytes());
        }
        out.extend_from_slice(&self.sort_position);
        out
    }

    /// Decodes a continuation token, which comes from a client; `None` if it is invalid.
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
        let is_whole = flags == WHOLE;
        // A truncated sort position has exactly one length; any other was not encoded here.
        let fits = if is_whole {
            rest.len() <= RESUME_BYTES + HASH_BYTES
        } else {
            rest.len() == RESUME_BYTES + HASH_BYTES
        };
        fits.then(|| Self { sort_position: rest.to_vec(), is_whole, ties, ordinal, done })
    }

    /// Creates the position after a result, at which the next page resumes. `ties` is the number of
    /// sort positions so far that share its prefix, and `done` the number of results so far.
    pub(super) fn at_position(sort_position: &[u8], ordinal: u64, ties: u64, done: u64) -> Self {
        let (sort_position, is_whole) = match truncate_sort_position(sort_position) {
            Some(cut) => (cut, false),
            None => (sort_position.to_vec(), true),
        };
        Self { sort_position, is_whole, ties, ordinal, done }
    }

    /// Returns the known part of the sort position: all of it, or its prefix.
    pub(super) fn known_sort_position(&self) -> &[u8] {
        let end = if self.is_whole {
            self.sort_position.len()
        } else {
            RESUME_BYTES.min(self.sort_position.len())
        };
        self.sort_position.get(..end).unwrap_or_default()
    }

    /// Returns whether a row may come after this resume position. If the position is truncated, all
    /// rows with its prefix may come after it.
    pub(super) fn may_be_behind(&self, sort_position: &[u8], ordinal: u64) -> bool {
        let known = self.known_sort_position();
        // The rest of a truncated sort position is unknown: `ResumeFilter` decides by its hash.
        known < sort_position
            || (known == sort_position && (!self.is_whole || self.ordinal < ordinal))
    }
}

/// Returns the prefix of a long sort position and a hash of the whole; `None` if the sort position
/// is short enough to be kept whole.
fn truncate_sort_position(sort_position: &[u8]) -> Option<Vec<u8>> {
    if sort_position.len() <= RESUME_BYTES + HASH_BYTES {
        return None;
    }
    let mut out = sort_position.get(..RESUME_BYTES)?.to_vec();
    out.extend_from_slice(&hash_of(sort_position));
    Some(out)
}

/// Returns the first 128 bits of SHA-256. A client that searched for two sort positions with one
/// hash would only skip or repeat its own results.
fn hash_of(sort_position: &[u8]) -> [u8; HASH_BYTES] {
    let mut out = [0; HASH_BYTES];
    Sha256::digest(sort_position)
        .iter()
        .zip(&mut out)
        .for_each(|(byte, sort_position)| *sort_position = *byte);
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
pub(super) struct ResumeFilter {
    /// The position at which the previous page ended; `None` on the first page.
    resume_position: Option<Resume>,
    /// The last sort position seen, and the ordinal of its first row that belongs to this page; the
    /// inner `None` means that none of its rows does.
    last: Option<(Vec<u8>, Option<u64>)>,
    /// Number of sort positions so far that share the first [`RESUME_BYTES`] bytes with the last
    /// one. They are counted because a long resume position consists of a prefix and a hash only.
    ties: u64,
    /// Whether the sort position at which the previous page ended was reached.
    is_reached: bool,
}

impl ResumeFilter {
    pub(super) fn new(resume_position: Option<Resume>) -> Self {
        Self { resume_position, last: None, ties: 0, is_reached: false }
    }

    /// Returns the ordinal of the first row with this sort position that comes after the resume
    /// position; `None` if no row with this sort position does.
    pub(super) fn first_ordinal_after(&mut self, sort_position: &[u8]) -> Option<u64> {
        if let Some((last, said)) = &self.last
            && last == sort_position
        {
            return *said;
        }
        let same = |last: &(Vec<u8>, Option<u64>)| {
            last.0.get(..RESUME_BYTES).is_some_and(|start| sort_position.starts_with(start))
        };
        self.ties = if self.last.as_ref().is_some_and(same) { self.ties + 1 } else { 1 };
        let said = self.decide_sort_position(sort_position);
        // Reuses the buffer of the previous sort position.
        let mut buffered = self.last.take().map_or(Vec::new(), |(last, _)| last);
        buffered.clear();
        buffered.extend_from_slice(sort_position);
        self.last = Some((buffered, said));
        said
    }

    /// Computes the result of `first_ordinal_after` for a sort position that differs from the last
    /// one.
    fn decide_sort_position(&mut self, sort_position: &[u8]) -> Option<u64> {
        let Some(resume_position) = &self.resume_position else { return Some(0) };
        let known = resume_position.known_sort_position();
        if resume_position.is_whole {
            return match sort_position.cmp(known) {
                std::cmp::Ordering::Less => None,
                std::cmp::Ordering::Equal => resume_position.ordinal.checked_add(1),
                std::cmp::Ordering::Greater => Some(0),
            };
        }
        if !sort_position.starts_with(known) || self.is_reached {
            return (known < sort_position).then_some(0);
        }
        if truncate_sort_position(sort_position).as_ref() == Some(&resume_position.sort_position) {
            self.is_reached = true;
            return resume_position.ordinal.checked_add(1);
        }
        // As many sort positions with this prefix as preceded the resume position were skipped. The
        // resume position itself no longer exists, so this one comes after it.
        (resume_position.ties <= self.ties).then_some(0)
    }

    /// Returns the resume position after the row with this ordinal at the last sort position seen.
    pub(super) fn resume_of_last(&self, ordinal: u64, done: u64) -> Option<Resume> {
        let (sort_position, _) = self.last.as_ref()?;
        Some(Resume::at_position(sort_position, ordinal, self.ties, done))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_and_nothing_else_does() {
        let long = vec![7; 5_000];
        for sort_position in [&b""[..], b"abc", &long[..RESUME_BYTES + HASH_BYTES], &long] {
            let resume = Resume::at_position(sort_position, u64::MAX, 3, 12);
            let bytes = resume.to_bytes();
            assert!(bytes.len() < 600);
            assert_eq!(Resume::from_bytes(&bytes), Some(resume.clone()));
            let short = Resume::from_bytes(&bytes[..bytes.len() - 1]);
            assert_eq!(short.is_some(), !sort_position.is_empty() && resume.is_whole);
        }
        let bytes = Resume::at_position(b"abc", 0, 1, 0).to_bytes();
        for (at, value) in [(0, 0), (0, 2), (1, 2), (1, 0)] {
            let mut other = bytes.clone();
            other[at] = value;
            assert_eq!(Resume::from_bytes(&other), None);
        }
        assert_eq!(Resume::from_bytes(&[bytes, vec![0; 600]].concat()), None);
        assert_eq!(Resume::from_bytes(b""), None);
    }

    fn passed(places: &[Vec<u8>], resume_position: Option<Resume>) -> Vec<usize> {
        let mut resume_filter = ResumeFilter::new(resume_position);
        (0..places.len())
            .filter(|at| resume_filter.first_ordinal_after(&places[*at]).is_some())
            .collect()
    }

    #[test]
    fn every_place_is_met_again() {
        let long = |tail: &str| [vec![b'x'; 700], tail.as_bytes().to_vec()].concat();
        let places: Vec<Vec<u8>> =
            [&b"a"[..], b"ab", &long("1"), &long("2"), &long("3"), &long("4"), b"y", b"z"]
                .map(<[u8]>::to_vec)
                .to_vec();
        for at in 0..places.len() {
            let mut resume_filter = ResumeFilter::new(None);
            for sort_position in &places[..=at] {
                resume_filter.first_ordinal_after(sort_position);
            }
            let resume_position = resume_filter.resume_of_last(u64::MAX, 0);
            let behind: Vec<usize> = (at + 1..places.len()).collect();
            assert_eq!(passed(&places, resume_position.clone()), behind);
            // If the row at the resume position is deleted, the results after it stay the same.
            let mut less = places.clone();
            less.remove(at);
            let behind: Vec<usize> = (at..less.len()).collect();
            assert_eq!(passed(&less, resume_position), behind, "{at}");
        }
    }
}
