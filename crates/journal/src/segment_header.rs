//! The header of a segment: which part of the journal the file holds, how the previous part ended,
//! and where the journal begins. Two copies at the start of the file are written one after the
//! other with a sync in between, so that one is always readable.
//!
//! Layout, version 1, little-endian:
//!
//! ```text
//!  0     "EBBJRNL\n"
//!  8     checksum u32      CRC-32C of everything that follows, floors included
//!  12    version u32       1
//!  16    number u64        number in the file's name
//!  24    generation u64    dense; 0 in a spare segment that was never used
//!  32    revision u64      tells which of two copies of a generation is newer
//!  40    salt u64          starts every group; unpredictable
//!  48    bytes u64         size of the file
//!  56    first u64         number of the first entry
//!  64    before_end u64    offset in the previous generation's file at which its groups end
//!  72    tail u64          generation of the oldest segment that belongs to the journal
//!  80    chain u32         checksum of the last group before it
//!  84    length u32        of the floors, followed by them
//! ```

use std::hash::{BuildHasher, Hasher, RandomState};

/// Maximum size of the floors in a header, in bytes.
pub const FLOORS_BYTES_MAX: usize = COPY_BYTES - FIXED_BYTES;

/// Size of one of the header's two copies in bytes, a multiple of the block size.
pub(crate) const COPY_BYTES: usize = 8 * 1024;
/// Offset of a segment's first group: after both copies.
pub(crate) const GROUPS_AT: u64 = 2 * COPY_BYTES as u64;
/// Size of the fixed fields of a header before the floors, in bytes.
const FIXED_BYTES: usize = 88;
const MAGIC: &[u8; 8] = b"EBBJRNL\n";
/// Format version of a segment, groups included.
const VERSION: u32 = 1;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub(crate) number: u64,
    pub(crate) generation: u64,
    pub(crate) revision: u64,
    pub(crate) salt: u64,
    pub(crate) bytes: u64,
    pub(crate) first: u64,
    pub(crate) before_end: u64,
    pub(crate) tail: u64,
    pub(crate) chain: u32,
    pub(crate) floors: Vec<u8>,
}

/// Identifies one use of a segment; starts the head of each of its groups.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SegmentId {
    pub(crate) salt: u64,
    pub(crate) generation: u64,
}

/// Reason why a header cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HeaderFault {
    Damaged,
    /// A format version that this program does not support.
    Version(u32),
}

impl SegmentHeader {
    /// Creates the header of a spare segment.
    pub(crate) fn spare(number: u64, bytes: u64) -> Self {
        Self { number, bytes, ..Self::default() }
    }

    pub(crate) fn id(&self) -> SegmentId {
        SegmentId { salt: self.salt, generation: self.generation }
    }

    /// Encodes one copy of the header, padded with zeros. Floors too long are truncated; callers
    /// reject them.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let floors = self.floors.get(..FLOORS_BYTES_MAX).unwrap_or(&self.floors);
        let mut out = Vec::with_capacity(COPY_BYTES);
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&VERSION.to_le_bytes());
        for number in [
            self.number,
            self.generation,
            self.revision,
            self.salt,
            self.bytes,
            self.first,
            self.before_end,
            self.tail,
        ] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&self.chain.to_le_bytes());
        out.extend_from_slice(&(floors.len() as u32).to_le_bytes());
        out.extend_from_slice(floors);
        let checksum = crc32c::crc32c(out.get(12..).unwrap_or_default());
        out.splice(8..12, checksum.to_le_bytes());
        out.resize(COPY_BYTES, 0);
        out
    }

    pub(crate) fn decode(copy: &[u8]) -> Result<Self, HeaderFault> {
        let damaged = HeaderFault::Damaged;
        let word = |at: usize| fixed::<4>(copy, at).map(u32::from_le_bytes);
        let number = |at: usize| fixed::<8>(copy, at).map(u64::from_le_bytes).ok_or(damaged);
        let len = word(84).and_then(|len| usize::try_from(len).ok()).ok_or(damaged)?;
        let end = FIXED_BYTES.checked_add(len).ok_or(damaged)?;
        let covered = copy.get(12..end).ok_or(damaged)?;
        if !copy.starts_with(MAGIC) || word(8) != Some(crc32c::crc32c(covered)) {
            return Err(damaged);
        }
        match word(12) {
            Some(VERSION) => {}
            other => return Err(other.map_or(damaged, HeaderFault::Version)),
        }
        Ok(Self {
            number: number(16)?,
            generation: number(24)?,
            revision: number(32)?,
            salt: number(40)?,
            bytes: number(48)?,
            first: number(56)?,
            before_end: number(64)?,
            tail: number(72)?,
            chain: word(80).ok_or(damaged)?,
            floors: copy.get(FIXED_BYTES..end).unwrap_or_default().to_vec(),
        })
    }

    /// Returns the newer of two readable copies of a header.
    pub(crate) fn newer(self, other: Self) -> Self {
        let age = |header: &Self| (header.generation, header.revision);
        if age(&self) < age(&other) { other } else { self }
    }
}

/// Returns an unpredictable number, for a salt.
pub(crate) fn new_salt() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Returns the bytes of a fixed-size field at an offset.
fn fixed<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.get(..N)?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(floors: usize) -> SegmentHeader {
        SegmentHeader {
            number: 1,
            generation: 2,
            revision: 3,
            salt: 4,
            bytes: 5,
            first: 6,
            before_end: 7,
            tail: 8,
            chain: 9,
            floors: vec![10; floors],
        }
    }

    #[test]
    fn headers_go_through_bytes_unchanged() {
        for header in [SegmentHeader::default(), sample(0), sample(77), sample(FLOORS_BYTES_MAX)] {
            let copy = header.encode();
            assert_eq!(copy.len(), COPY_BYTES);
            assert_eq!(SegmentHeader::decode(&copy), Ok(header));
        }
    }

    #[test]
    fn every_flipped_bit_that_matters_is_noticed() {
        let header = sample(20);
        let copy = header.encode();
        for bit in 0..(FIXED_BYTES + 30) * 8 {
            let mut copy = copy.clone();
            copy[bit / 8] ^= 1 << (bit % 8);
            let read = SegmentHeader::decode(&copy);
            if bit / 8 < FIXED_BYTES + 20 {
                assert_eq!(read, Err(HeaderFault::Damaged), "bit {bit}");
            } else {
                assert_eq!(read, Ok(header.clone()), "bit {bit}");
            }
        }
        for end in 0..FIXED_BYTES + 20 {
            assert_eq!(SegmentHeader::decode(&copy[..end]), Err(HeaderFault::Damaged), "{end}");
        }
    }

    #[test]
    fn another_version_is_named() {
        let mut copy = sample(0).encode();
        copy[12] = 2;
        let checksum = crc32c::crc32c(&copy[12..FIXED_BYTES]);
        copy[8..12].copy_from_slice(&checksum.to_le_bytes());
        assert_eq!(SegmentHeader::decode(&copy), Err(HeaderFault::Version(2)));
    }

    #[test]
    fn the_newer_copy_is_taken() {
        let at = |generation, revision| SegmentHeader { generation, revision, ..sample(0) };
        for (one, other, newer) in [((1, 9), (2, 0), (2, 0)), ((2, 1), (2, 0), (2, 1))] {
            let newer = at(newer.0, newer.1);
            assert_eq!(at(one.0, one.1).newer(at(other.0, other.1)), newer);
            assert_eq!(at(other.0, other.1).newer(at(one.0, one.1)), newer);
        }
    }
}
