//! An entry of the cluster's journal: a group of commits, encoded as in a local journal, in an
//! envelope that binds it to its cluster, its epoch and the preceding entry.
//!
//! Layout, version 1, numbers little-endian:
//! ```text
//!  version u8 · cluster 16 bytes · shard u32 · epoch u64 · n u64 · before u32 · committed u64
//!  closes u8 · length of the body u32 · body · checksum u32, CRC-32C of all before it
//! ```

use bytes::Bytes;
use store::{Error, Kind};
use uuid::Uuid;

const VERSION: u8 = 1;
/// Size of the header before the body.
const HEAD_BYTES: usize = 1 + 16 + 4 + 8 + 8 + 4 + 8 + 1 + 4;
const CHECKSUM_BYTES: usize = 4;

/// An entry of a shard's journal. Epoch and number identify its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Id of the cluster that the entry belongs to.
    pub cluster: Uuid,
    /// Number of the shard that the entry belongs to.
    pub shard: u32,
    /// Epoch of the owner that wrote the entry.
    pub epoch: u64,
    /// Number of the entry; numbers start at 1 and are consecutive across epochs.
    pub n: u64,
    /// Checksum of the preceding entry; 0 for the first.
    pub before: u32,
    /// Number of the last entry that the writer knew to be committed: an entry of this epoch or the
    /// last one of the preceding epoch.
    pub committed: u64,
    /// Whether the entry is the last entry of its segment.
    pub closes: bool,
    /// The encoded journal entry; empty in the first entry of an epoch.
    pub body: Bytes,
}

/// The encoded form of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Encoded {
    /// The entry's encoding, including its checksum.
    pub bytes: Bytes,
    /// Checksum of the entry, which the next entry contains as `before`.
    pub checksum: u32,
}

impl Entry {
    /// Encodes the entry with a checksum at its end.
    pub fn encode(&self) -> Encoded {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + self.body.len() + CHECKSUM_BYTES);
        bytes.push(VERSION);
        bytes.extend_from_slice(self.cluster.as_bytes());
        bytes.extend_from_slice(&self.shard.to_le_bytes());
        bytes.extend_from_slice(&self.epoch.to_le_bytes());
        bytes.extend_from_slice(&self.n.to_le_bytes());
        bytes.extend_from_slice(&self.before.to_le_bytes());
        bytes.extend_from_slice(&self.committed.to_le_bytes());
        bytes.push(u8::from(self.closes));
        let length = u32::try_from(self.body.len()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&self.body);
        let checksum = crc32c::crc32c(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        Encoded { bytes: Bytes::from(bytes), checksum }
    }

    /// Decodes the output of [`encode`](Self::encode) and returns the entry with its checksum.
    /// Fails with `Corrupt` on any other input and with `Refused` on an unknown version. The body
    /// shares the memory of `bytes`.
    pub fn decode(bytes: &Bytes) -> Result<(Self, u32), Error> {
        let end = bytes.len().checked_sub(CHECKSUM_BYTES).ok_or_else(damaged)?;
        let mut rest = bytes.get(end..).unwrap_or_default();
        let checksum = u32::from_le_bytes(array(&mut rest).ok_or_else(damaged)?);
        let mut rest = bytes.get(..end).unwrap_or_default();
        if checksum != crc32c::crc32c(rest) {
            return Err(damaged());
        }
        let [version] = array(&mut rest).ok_or_else(damaged)?;
        if version != VERSION {
            let text = format!("a cluster entry has the unknown version {version}");
            return Err(Error::new(Kind::Refused, text));
        }
        let entry = Self::decode_rest(rest, bytes, end).ok_or_else(damaged)?;
        Ok((entry, checksum))
    }

    /// Decodes everything after the version byte.
    fn decode_rest(mut rest: &[u8], bytes: &Bytes, end: usize) -> Option<Self> {
        let rest = &mut rest;
        let cluster = Uuid::from_bytes(array(rest)?);
        let shard = u32::from_le_bytes(array(rest)?);
        let epoch = u64::from_le_bytes(array(rest)?);
        let n = u64::from_le_bytes(array(rest)?);
        let before = u32::from_le_bytes(array(rest)?);
        let committed = u64::from_le_bytes(array(rest)?);
        let [closes @ (0 | 1)] = array(rest)? else { return None };
        let length = u32::from_le_bytes(array(rest)?);
        if usize::try_from(length).ok()? != rest.len() {
            return None;
        }
        let body = bytes.slice(HEAD_BYTES..end);
        Some(Self { cluster, shard, epoch, n, before, committed, closes: closes == 1, body })
    }
}

fn damaged() -> Error {
    Error::new(Kind::Corrupt, "an entry of the cluster's journal is damaged")
}

/// Removes and returns the first `N` bytes of `rest`.
fn array<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(body: &'static [u8]) -> Entry {
        Entry {
            cluster: Uuid::from_u128(7),
            shard: 3,
            epoch: 4,
            n: u64::MAX,
            before: 17,
            committed: 12,
            closes: true,
            body: Bytes::from_static(body),
        }
    }

    #[test]
    fn entries_are_read_as_they_were_written() {
        for body in [&b""[..], b"body"] {
            let encoded = entry(body).encode();
            let (decoded, checksum) = Entry::decode(&encoded.bytes).unwrap();
            assert_eq!((decoded, checksum), (entry(body), encoded.checksum));
        }
    }

    #[test]
    fn nothing_cut_and_nothing_flipped_is_an_entry() {
        let whole = entry(b"body").encode().bytes;
        for end in 0..whole.len() {
            assert_eq!(Entry::decode(&whole.slice(..end)).unwrap_err().kind, Kind::Corrupt);
        }
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut bytes = whole.to_vec();
                bytes[at] ^= 1 << bit;
                let kind = Entry::decode(&Bytes::from(bytes)).unwrap_err().kind;
                assert_eq!(kind, Kind::Corrupt, "byte {at}, bit {bit}");
            }
        }
    }

    /// Entries with a valid checksum but an invalid layout are refused.
    #[test]
    fn what_is_not_laid_out_so_is_no_entry() {
        let whole = entry(b"body").encode().bytes;
        let inner = &whole[..whole.len() - CHECKSUM_BYTES];
        let sealed = |inner: &[u8]| {
            let checksum = crc32c::crc32c(inner).to_le_bytes();
            Bytes::from([inner, &checksum].concat())
        };
        let kind = |inner: &[u8]| Entry::decode(&sealed(inner)).map(drop).map_err(|e| e.kind);
        assert_eq!(kind(inner), Ok(()));
        for end in 0..inner.len() {
            assert_eq!(kind(&inner[..end]), Err(Kind::Corrupt), "{end}");
        }
        assert_eq!(kind(&[inner, &[0]].concat()), Err(Kind::Corrupt));
        let changed = |at: usize, to: u8| {
            let mut inner = inner.to_vec();
            inner[at] = to;
            kind(&inner)
        };
        assert_eq!(changed(0, 2), Err(Kind::Refused));
        assert_eq!(changed(HEAD_BYTES - 5, 2), Err(Kind::Corrupt));
        assert_eq!(changed(HEAD_BYTES - 1, 255), Err(Kind::Corrupt));
    }
}
