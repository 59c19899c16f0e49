//! Decoding of entries. Lengths are untrusted: no allocation exceeds what the bytes can hold, and
//! trailing bytes are an error.

use bytes::Bytes;
use store::{Error, Kind, Stamp};

use super::{Entry, HEAD_BYTES, Mutation, VERSION, length_at};

/// Maximum number of items for which a list has capacity at first; it grows as more are decoded.
const ITEMS_AT_ONCE: u64 = 1024;

/// Decodes the entry in these bytes.
pub(super) fn decode(bytes: &Bytes) -> Result<Entry, Error> {
    let damaged = || Error::new(Kind::Corrupt, "an entry of the journal is damaged");
    if length_at(bytes, 0) != Some(bytes.len()) {
        return Err(damaged());
    }
    let mut parts = Parts { bytes, at: 4 };
    let checksum = parts.fixed().map(u32::from_le_bytes);
    if checksum != bytes.get(8..).map(crc32c::crc32c) {
        return Err(damaged());
    }
    let [version] = parts.fixed().ok_or_else(damaged)?;
    if version != VERSION {
        let text = format!("a journal entry has the unknown version {version}");
        return Err(Error::new(Kind::Refused, text));
    }
    parts.entry().filter(|_| parts.at == bytes.len()).ok_or_else(damaged)
}

/// A reader of an entry's remaining bytes. Each method returns `None` if too few are left.
struct Parts<'a> {
    bytes: &'a Bytes,
    at: usize,
}

impl Parts<'_> {
    /// Decodes everything after the version.
    fn entry(&mut self) -> Option<Entry> {
        let n = u64::from_le_bytes(self.fixed()?);
        let seq = u64::from_le_bytes(self.fixed()?);
        let at_ms = i64::from_le_bytes(self.fixed()?);
        let under = u64::from_le_bytes(self.fixed()?);
        debug_assert_eq!(self.at, HEAD_BYTES);
        let count = self.number()?;
        let mut dropped = room_for(count);
        for _ in 0..count {
            dropped.push(self.number()?);
        }
        let mut mutations = Vec::new();
        for _ in 0..self.number()? {
            let space = self.number()?;
            let count = self.number()?;
            if mutations.is_empty() {
                mutations = room_for(count);
            }
            for _ in 0..count {
                mutations.push(self.mutation(space)?);
            }
        }
        Some(Entry { n, last: Stamp { seq, at_ms }, under, dropped, mutations })
    }

    /// Decodes one mutation of a run, whose mutations are all in `space`.
    fn mutation(&mut self, space: u64) -> Option<Mutation> {
        let key_len = self.number()?;
        let value_len = self.number()?;
        let key = self.slice(key_len)?;
        let value = match value_len.checked_sub(1) {
            Some(len) => Some(self.slice(len)?),
            None => None,
        };
        Some(Mutation { space, key, value })
    }

    /// Takes this many bytes without copying them.
    fn slice(&mut self, len: u64) -> Option<Bytes> {
        let end = self.at.checked_add(usize::try_from(len).ok()?)?;
        if self.bytes.len() < end {
            return None;
        }
        let slice = self.bytes.slice(self.at..end);
        self.at = end;
        Some(slice)
    }

    /// Takes a fixed number of bytes.
    fn fixed<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.bytes.get(self.at..)?.get(..N)?.try_into().ok()?;
        self.at += N;
        Some(bytes)
    }

    /// Decodes a variable-length integer, 7 bits per byte.
    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let [byte] = self.fixed()?;
            let bits = u64::from(byte & 0x7f);
            // The tenth byte may only hold one bit.
            if bits << shift >> shift != bits {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }
}

/// Creates a list with capacity for `count` items, but limited: the count is untrusted.
fn room_for<T>(count: u64) -> Vec<T> {
    Vec::with_capacity(usize::try_from(count.min(ITEMS_AT_ONCE)).unwrap_or(0))
}
