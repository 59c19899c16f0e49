//! An entry: what one batch of the store's committer writes, and its encoding.
//!
//! Layout, version 1, little-endian; `v` is a variable-length integer of 7 bits per byte, lowest
//! first, at most 10 bytes:
//!
//! ```text
//!  length u32        of the whole entry, these four bytes included
//!  checksum u32      CRC-32C of everything that follows
//!  version u8        1
//!  n u64 · seq u64 · at_ms i64 · under u64
//!  spaces dropped v  then each: space v
//!  runs v            then each: space v · mutations v, and these:
//!                    length of the key v · 0 or 1 + length of the value v · key · value
//! ```
//!
//! `n` is the entry's number, `seq` and `at_ms` are the stamp of its last commit, and `under` is
//! the sequence number under which the tree applies the mutations.
//!
//! A space is a set of keys, identified by a number. A run holds adjacent mutations of one space. A
//! value length of 0 is a deletion.

mod decode;
mod encode;

use bytes::Bytes;
use store::{Error, Kind, Stamp};

/// Bytes before the number of dropped spaces.
pub(crate) const HEAD_BYTES: usize = 4 + 4 + 1 + 4 * 8;
/// Version of the encoding's layout.
const VERSION: u8 = 1;

/// A change of one key. Values are absolute, so applying a mutation twice is harmless.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// The space of the key, as numbered by the user.
    pub space: u64,
    /// The key within the space.
    pub key: Bytes,
    /// The new value; `None` deletes the key.
    pub value: Option<Bytes>,
}

/// A batch of commits, applied completely or not at all. A user may apply entries again, if it then
/// also applies all later ones in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The dense entry number, starting at 1.
    pub n: u64,
    /// The stamp of the last commit in the entry.
    pub last: Stamp,
    /// A sequence number of the user's own, under which the mutations are applied, so that applying
    /// them again has the same result.
    pub under: u64,
    /// Spaces to delete with all their contents, before the mutations.
    pub dropped: Vec<u64>,
    /// Changes in order; their encoding is smallest if they are sorted by space and key.
    pub mutations: Vec<Mutation>,
}

impl Entry {
    /// Encodes the entry. Fails with `Invalid` if it has 4 GiB or more.
    pub fn encode(&self) -> Result<EncodedEntry, Error> {
        let bytes = encode::encode(self)?;
        Ok(EncodedEntry { n: self.n, bytes })
    }

    /// Decodes the output of [`encode`](Self::encode), which must be all of `bytes`. Fails with
    /// `Corrupt` if they are damaged, `Refused` if their version is unknown. Keys and values share
    /// the memory of `bytes`.
    pub fn decode(bytes: &Bytes) -> Result<Self, Error> {
        decode::decode(bytes)
    }
}

/// An encoded entry, ready to be appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedEntry {
    n: u64,
    bytes: Bytes,
}

impl EncodedEntry {
    /// Splits concatenated entries into the first and the rest. Fails with `Corrupt` if there is no
    /// entry; only the length and number are read, nothing is checked.
    pub fn first_of(bytes: &Bytes) -> Result<(Self, Bytes), Error> {
        let damaged = || Error::new(Kind::Corrupt, "an entry of the journal is damaged");
        let length = length_at(bytes, 0).ok_or_else(damaged)?;
        let number = bytes.get(HEAD_BYTES - 4 * 8..HEAD_BYTES - 3 * 8).ok_or_else(damaged)?;
        let n = u64::from_le_bytes(number.try_into().map_err(|_| damaged())?);
        Ok((Self { n, bytes: bytes.slice(..length) }, bytes.slice(length..)))
    }

    /// Returns the number of the entry.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Returns the stamp of the last commit as encoded, without checking the bytes.
    pub fn last(&self) -> Option<Stamp> {
        let number = |at: usize| -> Option<[u8; 8]> {
            let at = HEAD_BYTES - 4 * 8 + 8 * at;
            self.bytes.get(at..at + 8)?.try_into().ok()
        };
        Some(Stamp { seq: u64::from_le_bytes(number(1)?), at_ms: i64::from_le_bytes(number(2)?) })
    }

    /// Returns the encoded bytes of the entry.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// Returns the length of the entry at an offset; `None` if fewer bytes follow.
pub(crate) fn length_at(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let length = u32::from_le_bytes(rest.get(..4)?.try_into().ok()?);
    let length = usize::try_from(length).ok()?;
    (HEAD_BYTES <= length && length <= rest.len()).then_some(length)
}

#[cfg(test)]
mod tests;
