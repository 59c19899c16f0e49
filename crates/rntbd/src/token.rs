//! Tokens: the fields of a frame.

use crate::{Invalid, Result};

/// The kind of a token, which determines the width of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// One byte; also a boolean, 0 or 1.
    Byte = 0,
    /// An unsigned number of two bytes.
    UShort = 1,
    /// An unsigned number of four bytes.
    ULong = 2,
    /// A signed number of four bytes.
    Long = 3,
    /// An unsigned number of eight bytes.
    ULongLong = 4,
    /// A signed number of eight bytes.
    LongLong = 5,
    /// A UUID of 16 bytes, the first three groups little-endian.
    Guid = 6,
    /// UTF-8 text after a length of one byte.
    SmallString = 7,
    /// UTF-8 text after a length of two bytes.
    String = 8,
    /// UTF-8 text after a length of four bytes.
    ULongString = 9,
    /// Bytes after a length of one byte.
    SmallBytes = 10,
    /// Bytes after a length of two bytes.
    Bytes = 11,
    /// Bytes after a length of four bytes.
    ULongBytes = 12,
    /// A number in four bytes with a binary point.
    Float = 13,
    /// A number in eight bytes with a binary point.
    Double = 14,
}

/// Number of bytes of a value.
pub(crate) enum Width {
    Fixed(usize),
    /// A length of this many bytes precedes the value.
    Prefixed(usize),
}

impl Kind {
    const ALL: [Self; 15] = [
        Self::Byte,
        Self::UShort,
        Self::ULong,
        Self::Long,
        Self::ULongLong,
        Self::LongLong,
        Self::Guid,
        Self::SmallString,
        Self::String,
        Self::ULongString,
        Self::SmallBytes,
        Self::Bytes,
        Self::ULongBytes,
        Self::Float,
        Self::Double,
    ];

    fn of_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    pub(crate) const fn width(self) -> Width {
        match self {
            Self::Byte => Width::Fixed(1),
            Self::UShort => Width::Fixed(2),
            Self::ULong | Self::Long | Self::Float => Width::Fixed(4),
            Self::ULongLong | Self::LongLong | Self::Double => Width::Fixed(8),
            Self::Guid => Width::Fixed(16),
            Self::SmallString | Self::SmallBytes => Width::Prefixed(1),
            Self::String | Self::Bytes => Width::Prefixed(2),
            Self::ULongString | Self::ULongBytes => Width::Prefixed(4),
        }
    }

    const fn is_text(self) -> bool {
        matches!(self, Self::SmallString | Self::String | Self::ULongString)
    }
}

/// A token of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    /// The id, which denotes the token's name in the table of its direction.
    pub id: u16,
    /// The kind of the value.
    pub kind: Kind,
    /// The value without its length.
    pub value: &'a [u8],
}

impl<'a> Token<'a> {
    /// Returns the value of a token of text.
    pub fn text(&self) -> Result<&'a str> {
        let invalid = Invalid("a text of a token is not UTF-8");
        match self.kind.is_text() {
            true => std::str::from_utf8(self.value).map_err(|_| invalid),
            false => Err(Invalid("a token is not a text")),
        }
    }

    /// Returns the value of a token of kind `Byte`.
    pub fn byte(&self) -> Result<u8> {
        match self.value {
            [byte] => Ok(*byte),
            _ => Err(Invalid("a token is not a byte")),
        }
    }

    /// Returns the value of a token of kind `ULong`.
    pub fn ulong(&self) -> Result<u32> {
        let bytes = self.value.try_into().map_err(|_| Invalid("a token is not a ULong"))?;
        Ok(u32::from_le_bytes(bytes))
    }
}

/// The tokens in a part of a frame, in their order. The iterator ends after its first error.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    /// Creates an iterator over the bytes between the head of a frame and its body.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let cut = Invalid("a token ends beyond the end of its frame");
        let (taken, rest) = self.rest.split_at_checked(len).ok_or(cut)?;
        self.rest = rest;
        Ok(taken)
    }

    fn take_number(&mut self, len: usize) -> Result<usize> {
        let mut bytes = [0; 8];
        for (to, from) in bytes.iter_mut().zip(self.take(len)?) {
            *to = *from;
        }
        Ok(usize::try_from(u64::from_le_bytes(bytes)).unwrap_or(usize::MAX))
    }

    fn take_token(&mut self) -> Result<Token<'a>> {
        let id = u16::try_from(self.take_number(2)?).unwrap_or(u16::MAX);
        let code = self.take(1)?.first().copied().unwrap_or(u8::MAX);
        let kind = Kind::of_code(code).ok_or(Invalid("a token has an unknown kind"))?;
        let len = match kind.width() {
            Width::Fixed(len) => len,
            Width::Prefixed(len) => self.take_number(len)?,
        };
        Ok(Token { id, kind, value: self.take(len)? })
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Result<Token<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let token = self.take_token();
        if token.is_err() {
            self.rest = &[];
        }
        Some(token)
    }
}
