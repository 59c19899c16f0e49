//! The types of BSON values, with their codes and names.
//!
//! Each type has a variant here, a code in encoded BSON, and a name in requests and messages.
//!
//! ```text
//! Kind::Int32      0x10   "int"
//! Kind::DateTime   0x09   "date"
//! Kind::Bool       0x08   "bool"
//! ```

/// The element type codes of BSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[expect(missing_docs, reason = "the names are BSON's own")]
pub enum Kind {
    Double = 0x01,
    String = 0x02,
    Document = 0x03,
    Array = 0x04,
    Binary = 0x05,
    /// Deprecated in BSON; distinct from null in comparisons.
    Undefined = 0x06,
    ObjectId = 0x07,
    Bool = 0x08,
    /// Milliseconds since the Unix epoch; negative before it.
    DateTime = 0x09,
    Null = 0x0a,
    Regex = 0x0b,
    /// A namespace and an id; deprecated, stored unchanged.
    DbPointer = 0x0c,
    JavaScript = 0x0d,
    /// A text with a type code of its own; compares as a string.
    Symbol = 0x0e,
    JavaScriptWithScope = 0x0f,
    Int32 = 0x10,
    /// MongoDB's internal timestamp: seconds and a counter, not a date.
    Timestamp = 0x11,
    Int64 = 0x12,
    Decimal128 = 0x13,
    /// Compares above every other value.
    MaxKey = 0x7f,
    /// Compares below every other value.
    MinKey = 0xff,
}

impl Kind {
    /// Returns the type with this element code, or `None` for an unknown code. The validator has
    /// refused unknown codes.
    pub fn from_code(code: u8) -> Option<Self> {
        Some(match code {
            0x01 => Self::Double,
            0x02 => Self::String,
            0x03 => Self::Document,
            0x04 => Self::Array,
            0x05 => Self::Binary,
            0x06 => Self::Undefined,
            0x07 => Self::ObjectId,
            0x08 => Self::Bool,
            0x09 => Self::DateTime,
            0x0a => Self::Null,
            0x0b => Self::Regex,
            0x0c => Self::DbPointer,
            0x0d => Self::JavaScript,
            0x0e => Self::Symbol,
            0x0f => Self::JavaScriptWithScope,
            0x10 => Self::Int32,
            0x11 => Self::Timestamp,
            0x12 => Self::Int64,
            0x13 => Self::Decimal128,
            0x7f => Self::MaxKey,
            0xff => Self::MinKey,
            _ => return None,
        })
    }

    /// Returns the name used by `$type` and by error messages ("int", "objectId", ...).
    pub fn name(self) -> &'static str {
        match self {
            Self::Double => "double",
            Self::String => "string",
            Self::Document => "object",
            Self::Array => "array",
            Self::Binary => "binData",
            Self::Undefined => "undefined",
            Self::ObjectId => "objectId",
            Self::Bool => "bool",
            Self::DateTime => "date",
            Self::Null => "null",
            Self::Regex => "regex",
            Self::DbPointer => "dbPointer",
            Self::JavaScript => "javascript",
            Self::Symbol => "symbol",
            Self::JavaScriptWithScope => "javascriptWithScope",
            Self::Int32 => "int",
            Self::Timestamp => "timestamp",
            Self::Int64 => "long",
            Self::Decimal128 => "decimal",
            Self::MaxKey => "maxKey",
            Self::MinKey => "minKey",
        }
    }
}
