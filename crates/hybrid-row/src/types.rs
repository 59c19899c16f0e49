//! Values and their type codes. Values of other types are skipped by their length, because newer
//! clients may add sparse columns.

use crate::{
    Result,
    cursor::{Cursor, push_binary},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Int32,
    UInt32,
    Float64,
    /// A boolean. As a sparse column it has no bytes of its own, because its type code encodes the
    /// value.
    Bool,
    Utf8,
    Binary,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Int32(i32),
    UInt32(u32),
    Float64(f64),
    Bool(bool),
    Utf8(&'a str),
    Binary(&'a [u8]),
}

/// Type codes of sparse values.
mod code {
    pub(super) const FALSE: u8 = 0x02;
    pub(super) const TRUE: u8 = 0x03;
    pub(super) const INT32: u8 = 0x07;
    pub(super) const UINT32: u8 = 0x0b;
    pub(super) const FLOAT64: u8 = 0x10;
    pub(super) const UTF8: u8 = 0x14;
    pub(super) const BINARY: u8 = 0x15;
}

impl Type {
    /// Returns the column type of a type code; `None` if no column of the schemas has this type.
    pub(crate) fn of_code(byte: u8) -> Option<Self> {
        Some(match byte {
            code::FALSE | code::TRUE => Self::Bool,
            code::INT32 => Self::Int32,
            code::UINT32 => Self::UInt32,
            code::FLOAT64 => Self::Float64,
            code::UTF8 => Self::Utf8,
            code::BINARY => Self::Binary,
            _ => return None,
        })
    }

    /// Decodes a value of this type. `code` is its type code, which encodes the value of a bool.
    pub(crate) fn read_value<'a>(self, code: u8, cursor: &mut Cursor<'a>) -> Result<Value<'a>> {
        Ok(match self {
            Self::Int32 => Value::Int32(cursor.take_i32()?),
            Self::UInt32 => Value::UInt32(cursor.take_u32()?),
            Self::Float64 => Value::Float64(cursor.take_array().map(f64::from_le_bytes)?),
            Self::Bool => Value::Bool(code == code::TRUE),
            Self::Utf8 => Value::Utf8(cursor.take_text()?),
            Self::Binary => Value::Binary(cursor.take_binary()?),
        })
    }
}

/// Skips a value of any type that is not nested; fails for unknown and nested types.
pub(crate) fn skip_value(code: u8, cursor: &mut Cursor<'_>) -> Result<()> {
    let len = match code {
        // null, false, true
        0x01..=0x03 => 0,
        // int8, uint8
        0x05 | 0x09 => 1,
        // int16, uint16
        0x06 | 0x0a => 2,
        // int32, uint32, float32
        0x07 | 0x0b | 0x0f => 4,
        // int64, uint64, float64, datetime, unixdatetime
        0x08 | 0x0c | 0x10 | 0x12 | 0x17 => 8,
        // decimal, guid, float128
        0x11 | 0x13 | 0x16 => 16,
        // mongodbobjectid
        0x18 => 12,
        // varint, varuint
        0x0d | 0x0e => return cursor.take_varuint().map(drop),
        // utf8
        0x14 => return cursor.take_text().map(drop),
        // binary
        0x15 => return cursor.take_binary().map(drop),
        _ => return Err(cursor.invalid("a value has an unknown or nested type")),
    };
    cursor.take_bytes(len).map(drop)
}

impl Value<'_> {
    pub(crate) fn kind(&self) -> Type {
        match self {
            Self::Int32(_) => Type::Int32,
            Self::UInt32(_) => Type::UInt32,
            Self::Float64(_) => Type::Float64,
            Self::Bool(_) => Type::Bool,
            Self::Utf8(_) => Type::Utf8,
            Self::Binary(_) => Type::Binary,
        }
    }

    /// Returns the type code of the value as a sparse column.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Int32(_) => code::INT32,
            Self::UInt32(_) => code::UINT32,
            Self::Float64(_) => code::FLOAT64,
            Self::Bool(false) => code::FALSE,
            Self::Bool(true) => code::TRUE,
            Self::Utf8(_) => code::UTF8,
            Self::Binary(_) => code::BINARY,
        }
    }

    /// Appends the value without its type code.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Int32(number) => out.extend_from_slice(&number.to_le_bytes()),
            Self::UInt32(number) => out.extend_from_slice(&number.to_le_bytes()),
            Self::Float64(number) => out.extend_from_slice(&number.to_le_bytes()),
            Self::Bool(_) => {}
            Self::Utf8(text) => push_binary(text.as_bytes(), out),
            Self::Binary(bytes) => push_binary(bytes, out),
        }
    }
}
