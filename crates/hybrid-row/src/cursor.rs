//! A read position in a stream, limited to a part of it.

use crate::{Invalid, Result};

/// Maximum length of a variable-length number in bytes.
const MAX_VARUINT_BYTES: usize = 10;

/// The unread bytes of a part of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    /// Offset of `rest` in the stream, for errors.
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Creates a cursor over a part of a stream that starts at the offset `at`.
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self { rest: bytes, at }
    }

    /// Returns the offset of the next byte in the stream.
    pub(crate) fn position(&self) -> usize {
        self.at
    }

    /// Returns whether all bytes have been read.
    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Creates an error that names the next byte as the invalid one; `what` describes the mistake.
    pub(crate) fn invalid(&self, what: &'static str) -> Invalid {
        Invalid { what, at: self.at }
    }

    /// Takes the next `len` bytes. Fails if fewer are left.
    pub(crate) fn take_bytes(&mut self, len: usize) -> Result<&'a [u8]> {
        let Some((taken, rest)) = self.rest.split_at_checked(len) else {
            return Err(self.invalid("a value ends beyond the end of its row or stream"));
        };
        self.rest = rest;
        self.at += len;
        Ok(taken)
    }

    /// Takes an array of a fixed number of bytes.
    pub(crate) fn take_array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take_bytes(N)?);
        Ok(array)
    }

    pub(crate) fn take_byte(&mut self) -> Result<u8> {
        self.take_array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn take_i32(&mut self) -> Result<i32> {
        self.take_array().map(i32::from_le_bytes)
    }

    pub(crate) fn take_u32(&mut self) -> Result<u32> {
        self.take_array().map(u32::from_le_bytes)
    }

    /// Takes a four-byte length, which must not be negative.
    pub(crate) fn take_length(&mut self) -> Result<usize> {
        let error = self.invalid("a length is negative");
        usize::try_from(self.take_i32()?).map_err(|_| error)
    }

    /// Takes a variable-length number: seven bits per byte, lowest first.
    pub(crate) fn take_varuint(&mut self) -> Result<u64> {
        let error = self.invalid("a variable-length number is too long");
        let mut number = 0;
        for place in 0..MAX_VARUINT_BYTES {
            let byte = self.take_byte()?;
            let bits = u64::from(byte & 0x7f);
            let shifted = bits << (7 * place);
            if shifted >> (7 * place) != bits {
                return Err(error);
            }
            number |= shifted;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(error)
    }

    pub(crate) fn take_binary(&mut self) -> Result<&'a [u8]> {
        // A length beyond the address space also exceeds the stream.
        let len = usize::try_from(self.take_varuint()?).unwrap_or(usize::MAX);
        self.take_bytes(len)
    }

    pub(crate) fn take_text(&mut self) -> Result<&'a str> {
        let error = self.invalid("a string is not valid UTF-8");
        std::str::from_utf8(self.take_binary()?).map_err(|_| error)
    }
}

pub(crate) fn push_varuint(mut number: usize, out: &mut Vec<u8>) {
    while let Some(low) = u8::try_from(number & 0x7f).ok().filter(|_| 0x7f < number) {
        out.push(low | 0x80);
        number >>= 7;
    }
    out.extend(u8::try_from(number));
}

pub(crate) fn push_binary(bytes: &[u8], out: &mut Vec<u8>) {
    push_varuint(bytes.len(), out);
    out.extend_from_slice(bytes);
}
