//! An entry: what one turn of the store's committer writes, and its bytes.
//!
//! Layout, version 1, numbers little-endian, `v` a number of 7 bits a byte, lowest first, in at
//! most 10 bytes:
//!
//! ```text
//!  length u32        of all of it, these four bytes included
//!  checksum u32      CRC-32C of all that follows
//!  version u8        1
//!  n u64 · seq u64 · at_ms i64 · under u64
//!  spaces dropped v  then each: space v
//!  runs v            then each: space v · mutations v, and these:
//!                    length of the key v · 0 or 1 + length of the value v · key · value
//! ```
//!
//! A run holds neighbours of one space; 0 in the place of a value's length is a deletion.

mod decode;
mod encode;

use bytes::Bytes;
use store::{Error, Kind, Stamp};

/// Bytes up to the number of spaces dropped.
pub(crate) const HEAD_BYTES: usize = 4 + 4 + 1 + 4 * 8;
/// The version of the layout that is written.
const VERSION: u8 = 1;

/// A change of one key, by its place. Values are absolute: putting one twice is putting it once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mutation {
    /// The space of the key, by a number of the user's own.
    pub space: u64,
    /// The key.
    pub key: Bytes,
    /// Its new value; `None` deletes the key.
    pub value: Option<Bytes>,
}

/// A group of commits, all or nothing. Applying entries again is harmless as long as it goes on to
/// the end, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its dense number, from 1.
    pub n: u64,
    /// The stamp of the last commit in it.
    pub last: Stamp,
    /// A number of the user's own, kept and given back: under which the mutations are to be
    /// applied, so that applying them again repeats it.
    pub under: u64,
    /// Spaces that are removed with all they held, before the mutations.
    pub dropped: Vec<u64>,
    /// Changes in order; sorted by place they take the least room.
    pub mutations: Vec<Mutation>,
}

impl Entry {
    /// Its bytes. `Invalid` when they would be 4 GiB or more.
    pub fn encode(&self) -> Result<EncodedEntry, Error> {
        let bytes = encode::encode(self)?;
        Ok(EncodedEntry { n: self.n, bytes })
    }

    /// Reads what [`encode`](Self::encode) made: all of these bytes, no more. `Corrupt` when they
    /// are not that; `Refused` when they are of a version that is not known. Keys and values
    /// share the memory of `bytes`.
    pub fn decode(bytes: &Bytes) -> Result<Self, Error> {
        decode::decode(bytes)
    }
}

/// The bytes of an entry, ready to be appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedEntry {
    n: u64,
    bytes: Bytes,
}

impl EncodedEntry {
    /// The first of entries that lie one behind the other, and what follows it. `Corrupt` when there is
    /// none; the entry itself is not looked into but for its number.
    pub fn first_of(bytes: &Bytes) -> Result<(Self, Bytes), Error> {
        let damaged = || Error::new(Kind::Corrupt, "an entry of the journal is damaged");
        let length = length_at(bytes, 0).ok_or_else(damaged)?;
        let number = bytes.get(HEAD_BYTES - 4 * 8..HEAD_BYTES - 3 * 8).ok_or_else(damaged)?;
        let n = u64::from_le_bytes(number.try_into().map_err(|_| damaged())?);
        Ok((Self { n, bytes: bytes.slice(..length) }, bytes.slice(length..)))
    }

    /// The entry's number.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// The last stamp in it, as its bytes say; they are not checked.
    pub fn last(&self) -> Option<Stamp> {
        let number = |at: usize| -> Option<[u8; 8]> {
            let at = HEAD_BYTES - 4 * 8 + 8 * at;
            self.bytes.get(at..at + 8)?.try_into().ok()
        };
        Some(Stamp { seq: u64::from_le_bytes(number(1)?), at_ms: i64::from_le_bytes(number(2)?) })
    }

    /// Its bytes.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }
}

/// The length that an entry's bytes begin with; `None` where there are not this many.
pub(crate) fn length_at(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?;
    let length = u32::from_le_bytes(rest.get(..4)?.try_into().ok()?);
    let length = usize::try_from(length).ok()?;
    (HEAD_BYTES <= length && length <= rest.len()).then_some(length)
}

#[cfg(test)]
mod tests;
