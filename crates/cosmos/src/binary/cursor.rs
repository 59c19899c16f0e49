//! A place in a body, within the bytes of the array or object that is being read. It hands out
//! bytes and never reads beyond the end it was given; what the bytes mean is decided elsewhere.

use super::{
    invalid,
    marker::{Form, Marker},
};
use crate::failure::Result;

/// Bytes up to where reading has to end, and the next one to be read. Positions count from the
/// start of the body, because references between strings do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at a position of these bytes.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    /// The position of the next byte.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Whether nothing is left of the array, object or body that is being read.
    pub(super) fn is_at_end(&self) -> bool {
        self.bytes.len() <= self.at
    }

    /// Takes the next bytes, or fails where fewer are left.
    pub(super) fn take_bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.saturating_add(len);
        let taken = self.bytes.get(self.at..end);
        let taken = taken.ok_or_else(|| invalid("a value ends early", self.at))?;
        self.at = end;
        Ok(taken)
    }

    /// Reads the next bytes, eight at most, as one unsigned number, lowest byte first.
    pub(super) fn read_number(&mut self, width: usize) -> Result<u64> {
        let bytes = self.take_bytes(width)?.iter().rev();
        Ok(bytes.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// Reads a length, count or position of this many bytes. One that does not fit into memory
    /// becomes the largest there is, which is then found to be beyond the end.
    pub(super) fn read_length(&mut self, width: usize) -> Result<usize> {
        Ok(usize::try_from(self.read_number(width)?).unwrap_or(usize::MAX))
    }

    /// Reads the next byte.
    pub(super) fn read_byte(&mut self) -> Result<u8> {
        Ok(self.take_bytes(1)?.first().copied().unwrap_or_default())
    }

    /// Reads the next marker, or fails where the byte is not a marker.
    pub(super) fn read_marker(&mut self) -> Result<Marker> {
        let at = self.at;
        let byte = self.read_byte()?;
        Marker::of_byte(byte).ok_or_else(|| invalid(&format!("marker 0x{byte:02x} is unknown"), at))
    }

    /// Reads the marker of a string: names of properties, and what references mean, can be nothing
    /// else.
    pub(super) fn read_string_form(&mut self) -> Result<Form> {
        let at = self.at;
        match self.read_marker()? {
            Marker::String(form) => Ok(form),
            _ => Err(invalid("there is no string", at)),
        }
    }

    /// Ends reading this many bytes ahead, and returns the bytes as they went on before, for
    /// `widen`. An inner value cannot read beyond the array or object that it lies in, whatever its
    /// own length says.
    pub(super) fn narrow(&mut self, len: usize) -> Result<&'a [u8]> {
        let within = self.bytes.get(..self.at.saturating_add(len));
        let within = within.ok_or_else(|| invalid("a length is beyond the end", self.at))?;
        Ok(std::mem::replace(&mut self.bytes, within))
    }

    /// Goes on after a narrower part that has ended.
    pub(super) fn widen(&mut self, bytes: &'a [u8]) {
        self.bytes = bytes;
    }

    /// A cursor at an earlier place, which reads nothing from `end` on. A reference is read with
    /// it, so it cannot reach itself or anything after it.
    pub(super) fn look_back(&self, at: usize, end: usize) -> Self {
        Self { bytes: self.bytes.get(..end).unwrap_or_default(), at }
    }
}
