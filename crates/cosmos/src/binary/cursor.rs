//! A place in a body, within the bytes of the array or object that is being read.

use super::{
    invalid,
    marker::{Form, Marker},
};
use crate::failure::Result;

/// Bytes up to where reading has to end; positions count from the start of the body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { bytes, at }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.bytes.len() <= self.at
    }

    /// The next bytes.
    pub(super) fn take_bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.saturating_add(len);
        let taken = self.bytes.get(self.at..end);
        let taken = taken.ok_or_else(|| invalid("a value ends early", self.at))?;
        self.at = end;
        Ok(taken)
    }

    /// The next up to eight bytes as one number, lowest first.
    pub(super) fn read_number(&mut self, width: usize) -> Result<u64> {
        let bytes = self.take_bytes(width)?.iter().rev();
        Ok(bytes.fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// A length, count or position.
    pub(super) fn read_length(&mut self, width: usize) -> Result<usize> {
        Ok(usize::try_from(self.read_number(width)?).unwrap_or(usize::MAX))
    }

    /// The next byte.
    pub(super) fn read_byte(&mut self) -> Result<u8> {
        Ok(self.take_bytes(1)?.first().copied().unwrap_or_default())
    }

    /// The next marker.
    pub(super) fn read_marker(&mut self) -> Result<Marker> {
        let at = self.at;
        let byte = self.read_byte()?;
        Marker::of_byte(byte).ok_or_else(|| invalid(&format!("marker 0x{byte:02x} is unknown"), at))
    }

    /// The marker of a string.
    pub(super) fn read_string_form(&mut self) -> Result<Form> {
        let at = self.at;
        match self.read_marker()? {
            Marker::String(form) => Ok(form),
            _ => Err(invalid("there is no string", at)),
        }
    }

    /// Ends reading after so many bytes, and gives back how it would have gone on.
    pub(super) fn narrow(&mut self, len: usize) -> Result<&'a [u8]> {
        let within = self.bytes.get(..self.at.saturating_add(len));
        let within = within.ok_or_else(|| invalid("a length is beyond the end", self.at))?;
        Ok(std::mem::replace(&mut self.bytes, within))
    }

    /// Goes on where a narrower part has ended.
    pub(super) fn widen(&mut self, bytes: &'a [u8]) {
        self.bytes = bytes;
    }

    /// An earlier place, from which only what stands before `end` can be read.
    pub(super) fn look_back(&self, at: usize, end: usize) -> Self {
        Self { bytes: self.bytes.get(..end).unwrap_or_default(), at }
    }
}
