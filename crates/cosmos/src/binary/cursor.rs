//! A read position in a body, limited to the array or object that is being decoded. It returns
//! bytes and does not interpret them.

use super::{
    invalid,
    marker::{Marker, StringEncoding},
};
use crate::failure::Result;

/// The bytes up to the end of the current array or object, and the offset of the next byte. Offsets
/// count from the start of the body, as references between strings do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at an offset.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// Returns the offset of the next byte.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns whether the end of the array, object or body is reached.
    pub(super) fn is_at_end(&self) -> bool {
        self.bytes.len() <= self.at
    }

    /// Takes the next bytes; fails if fewer are left.
    pub(super) fn take_bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.saturating_add(len);
        let taken = self.bytes.get(self.at..end);
        let taken = taken.ok_or_else(|| invalid("a value ends early", self.at))?;
        self.at = end;
        Ok(taken)
    }

    /// Reads the next bytes, at most eight, as an unsigned little-endian number.
    pub(super) fn read_number(&mut self, width: usize) -> Result<u64> {
        let bytes = self.take_bytes(width)?.iter().rev();
        Ok(bytes.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Reads a length, count or offset of `width` bytes. A value that is too large for memory is
    /// clamped; it then exceeds the end of the body and is refused.
    pub(super) fn read_length(&mut self, width: usize) -> Result<usize> {
        Ok(usize::try_from(self.read_number(width)?).unwrap_or(usize::MAX))
    }

    pub(super) fn read_byte(&mut self) -> Result<u8> {
        Ok(self.take_bytes(1)?.first().copied().unwrap_or_default())
    }

    /// Reads the next marker; fails on an unknown byte.
    pub(super) fn read_marker(&mut self) -> Result<Marker> {
        let at = self.at;
        let byte = self.read_byte()?;
        Marker::of_byte(byte).ok_or_else(|| invalid(&format!("marker 0x{byte:02x} is unknown"), at))
    }

    /// Reads the marker of a string, the only type permitted for property names and reference
    /// targets.
    pub(super) fn read_string_encoding(&mut self) -> Result<StringEncoding> {
        let at = self.at;
        match self.read_marker()? {
            Marker::String(encoding) => Ok(encoding),
            _ => Err(invalid("there is no string", at)),
        }
    }

    /// Limits reading to the next `len` bytes, so that a nested value cannot read beyond its array
    /// or object, even if its own length is wrong. Returns the previous limit, for `widen`.
    pub(super) fn narrow(&mut self, len: usize) -> Result<&'a [u8]> {
        let within = self.bytes.get(..self.at.saturating_add(len));
        let within = within.ok_or_else(|| invalid("a length is beyond the end", self.at))?;
        Ok(std::mem::replace(&mut self.bytes, within))
    }

    /// Restores the limit that `narrow` has returned: the end of the enclosing array or object.
    pub(super) fn widen(&mut self, bytes: &'a [u8]) {
        self.bytes = bytes;
    }

    /// Returns a cursor at an earlier offset that ends at `end`. The target of a reference is read
    /// with it, so that a reference cannot refer to itself or to anything after it.
    pub(super) fn look_back(&self, at: usize, end: usize) -> Self {
        Self { bytes: self.bytes.get(..end).unwrap_or_default(), at }
    }
}
