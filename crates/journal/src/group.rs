//! A group of entries as stored in a segment: a head, the entries' bytes, and zeros up to the next
//! block. Each group holds the checksum of the one before it.
//!
//! Layout of the head, little-endian; it starts at a multiple of 4,096:
//!
//! ```text
//!  0     salt u64          the segment's
//!  8     generation u64    the segment's
//!  16    first u64         number of the first entry
//!  24    last u64          number of the last entry
//!  32    length u32        of the entries
//!  36    before u32        checksum of the group before it
//!  40    checksum u32      CRC-32C of the 40 bytes before it and of the entries
//!  44    of the head u32   CRC-32C of the 44 bytes before it
//! ```
//!
//! Stale bytes of a reused segment have an older generation and another salt. Data of users cannot
//! imitate a head, since the salt is unpredictable.

use bytes::Bytes;

use crate::{
    entry::{EncodedEntry, Entry, length_at},
    segment_header::SegmentId,
};

/// Groups start at multiples of this number of bytes.
pub(crate) const BLOCK: u64 = 4096;
/// Size of a group's head in bytes.
pub(crate) const HEAD_BYTES: usize = 48;

/// The head of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GroupHead {
    pub(crate) segment: SegmentId,
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Total size of the group's entries in bytes.
    pub(crate) length: u32,
    /// Checksum of the preceding group.
    pub(crate) before: u32,
    pub(crate) checksum: u32,
}

impl GroupHead {
    /// Creates the head for these entries in a segment; `before` is the checksum of the preceding
    /// group. Returns `None` if the group is empty or larger than the length field can hold.
    pub(crate) fn new(segment: SegmentId, before: u32, group: &[EncodedEntry]) -> Option<Self> {
        let length = group.iter().map(|entry| entry.bytes().len()).sum::<usize>();
        let mut head = Self {
            segment,
            first: group.first()?.n(),
            last: group.last()?.n(),
            length: u32::try_from(length).ok()?,
            before,
            checksum: 0,
        };
        let start = crc32c::crc32c(&head.covered());
        head.checksum = group
            .iter()
            .fold(start, |checksum, entry| crc32c::crc32c_append(checksum, entry.bytes()));
        Some(head)
    }

    /// Returns the 40 bytes of the head that its checksum covers, besides the entries.
    fn covered(&self) -> [u8; 40] {
        let mut out = [0; 40];
        let (numbers, rest) = out.split_at_mut(32);
        let fields = [self.segment.salt, self.segment.generation, self.first, self.last];
        for (place, field) in numbers.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        for (place, field) in rest.chunks_exact_mut(4).zip([self.length, self.before]) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        out
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = self.covered().to_vec();
        out.extend_from_slice(&self.checksum.to_le_bytes());
        let checksum = crc32c::crc32c(&out);
        out.extend_from_slice(&checksum.to_le_bytes());
        out
    }

    /// Decodes a head of this segment; returns `None` if the bytes are not a head of this segment.
    pub(crate) fn decode(bytes: &[u8], segment: SegmentId) -> Option<Self> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let number = |at: usize| Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?));
        // Check the salt first: it rejects nearly everything that is not a head.
        if number(0)? != segment.salt
            || number(8)? != segment.generation
            || crc32c::crc32c(bytes.get(..44)?) != word(44)?
        {
            return None;
        }
        let head = Self {
            segment,
            first: number(16)?,
            last: number(24)?,
            length: word(32)?,
            before: word(36)?,
            checksum: word(40)?,
        };
        (head.first <= head.last).then_some(head)
    }

    /// Returns whether these bytes are the group's entries: length and checksum agree with the
    /// head.
    pub(crate) fn covers(&self, entries: &[u8]) -> bool {
        usize::try_from(self.length) == Ok(entries.len())
            && crc32c::crc32c_append(crc32c::crc32c(&self.covered()), entries) == self.checksum
    }

    /// Returns the offset of the next group, given the offset of this one.
    pub(crate) fn end_from(&self, at: u64) -> u64 {
        at + padded_bytes(u64::from(self.length))
    }

    /// Decodes the group's entries; returns `None` if they do not match the head.
    pub(crate) fn entries(&self, bytes: &Bytes) -> Option<Vec<Entry>> {
        let mut entries = Vec::new();
        let mut at = 0;
        for n in self.first..=self.last {
            let length = length_at(bytes, at)?;
            let entry = Entry::decode(&bytes.slice(at..at + length)).ok()?;
            if entry.n != n {
                return None;
            }
            entries.push(entry);
            at += length;
        }
        (at == bytes.len()).then_some(entries)
    }
}

/// Returns the size in a segment of a group with this many bytes of entries.
pub(crate) fn padded_bytes(entries: u64) -> u64 {
    (HEAD_BYTES as u64 + entries).next_multiple_of(BLOCK)
}

#[cfg(test)]
mod tests {
    use store::Stamp;

    use super::*;

    fn entry(n: u64) -> EncodedEntry {
        let last = Stamp { seq: n, at_ms: 1 };
        Entry { n, last, under: 0, dropped: vec![n], mutations: Vec::new() }.encode().unwrap()
    }

    #[test]
    fn a_group_covers_its_entries_and_the_group_before() {
        let segment = SegmentId { salt: 7, generation: 3 };
        let group = [entry(4), entry(5)];
        let bytes = Bytes::from([&group[0].bytes()[..], &group[1].bytes()[..]].concat());
        let head = GroupHead::new(segment, 9, &group).unwrap();
        assert_eq!(GroupHead::decode(&head.encode(), segment), Some(head));
        assert!(head.covers(&bytes));
        assert!(!head.covers(&bytes[1..]));
        assert!(!GroupHead { before: 8, ..head }.covers(&bytes));
        assert_eq!(head.entries(&bytes).unwrap().len(), 2);
        for other in [
            GroupHead { last: 6, ..head },
            GroupHead { last: 4, ..head },
            GroupHead { first: 3, last: 4, ..head },
        ] {
            assert_eq!(other.entries(&bytes), None);
        }
        for segment in [SegmentId { salt: 8, ..segment }, SegmentId { generation: 2, ..segment }] {
            assert_eq!(GroupHead::decode(&head.encode(), segment), None);
        }
        for bit in 0..HEAD_BYTES * 8 {
            let mut bytes = head.encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(GroupHead::decode(&bytes, segment), None, "bit {bit}");
        }
    }

    #[test]
    fn groups_take_whole_blocks() {
        for (entries, padded) in
            [(1, 4096), (4048, 4096), (4049, 8192), (1 << 20, (1 << 20) + 4096)]
        {
            assert_eq!(padded_bytes(entries), padded);
        }
        assert_eq!(GroupHead::new(SegmentId::default(), 0, &[]), None);
    }
}
