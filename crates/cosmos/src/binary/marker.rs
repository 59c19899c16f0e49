//! Markers: the first byte of a value, which gives its type and the encoding of the following
//! bytes. A number in a variant below is the width in bytes of a length, count or offset. The table
//! is that of Azure Cosmos DB's SDKs; markers that no SDK writes are refused.

/// The type and encoding of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Null,
    Bool(bool),
    /// An integer encoded in the marker.
    Small(u8),
    Number(Number),
    /// A string in one of its encodings.
    String(StringEncoding),
    /// A GUID of 16 bytes in .NET's layout, which is a string in JSON.
    Guid,
    /// Bytes, preceded by their length in this number of bytes; a base64 string in JSON.
    Bytes(usize),
    /// An array of values with markers.
    Array(Frame),
    /// An object: alternating names and values.
    Object(Frame),
    /// An array of numbers of one type: the marker of the type, a count of this width, then the
    /// numbers without markers.
    Numbers(usize),
    /// An array of number arrays of equal length: the marker of the arrays, the marker of their
    /// numbers, the two counts of this width, then the numbers.
    Tables(usize),
}

/// The type and size of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// An unsigned integer with this number of bytes.
    Unsigned(usize),
    /// A two's complement integer with this number of bytes.
    Signed(usize),
    Single,
    Double,
}

/// The encoding of a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StringEncoding {
    /// A predefined string, by its index in `system`.
    System(u8),
    /// A string in the client's dictionary, which is not in the body, so it cannot be decoded.
    Dictionary,
    /// A UTF-8 string with this number of bytes.
    Short(usize),
    /// A UTF-8 string, preceded by its length in this number of bytes.
    Long(usize),
    /// A reference to an equal earlier string: the offset of that string, in this number of bytes.
    Earlier(usize),
    /// 32 hexadecimal digits, low half first, with the dashes of a GUID.
    Guid { digits: Digits, quoted: bool },
    /// A base64 string: the number of groups of four characters, a byte that describes the end of
    /// the last group, and the decoded bytes.
    Base64 { width: usize, url: bool },
    /// A string of a restricted alphabet: its length, then half a byte per character.
    Digits(Digits),
    /// A string of packed characters: their number, the lowest character code if `based`, and
    /// `bits` bits per character.
    Packed { bits: usize, based: bool, width: usize },
}

/// A set of sixteen characters, each encoded in half a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits {
    Lower,
    Upper,
    /// The characters of an ISO 8601 timestamp.
    Date,
}

impl Digits {
    /// Returns the character of the low half of a byte.
    pub(super) fn character_of(self, half: u8) -> u8 {
        let all = match self {
            Self::Lower => b"0123456789abcdef",
            Self::Upper => b"0123456789ABCDEF",
            Self::Date => b" 0123456789:-.TZ",
        };
        all.get(usize::from(half & 0xf)).copied().unwrap_or_default()
    }
}

/// Method by which the end of an array or object is determined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// The array or object is empty.
    Empty,
    /// A single value, or a single name and value. No length is encoded.
    One,
    /// A length in bytes of this `width` and, if `counted`, a count of values of the same width.
    Long { width: usize, counted: bool },
}

impl Frame {
    /// Returns the frame by the distance from the first marker of its type: arrays and objects have
    /// eight markers each, in the same order.
    fn of_distance(distance: u8) -> Self {
        match distance {
            0 => Self::Empty,
            1 => Self::One,
            2 => Self::Long { width: 1, counted: false },
            3 => Self::Long { width: 2, counted: false },
            4 => Self::Long { width: 4, counted: false },
            5 => Self::Long { width: 1, counted: true },
            6 => Self::Long { width: 2, counted: true },
            _ => Self::Long { width: 4, counted: true },
        }
    }
}

impl Number {
    /// Returns the type of the numbers in a number array, given its marker; `None` for other
    /// markers.
    pub(super) fn of_array(byte: u8) -> Option<Self> {
        Some(match byte {
            0xcd => Self::Single,
            0xce => Self::Double,
            0xd7 => Self::Unsigned(1),
            0xd8 => Self::Signed(1),
            0xd9 => Self::Signed(2),
            0xda => Self::Signed(4),
            0xdb => Self::Signed(8),
            0xdc => Self::Unsigned(4),
            _ => return None,
        })
    }

    /// Returns the type of a single number, given its marker; `None` for other markers. The markers
    /// of numbers in number arrays are valid here, too.
    fn of_marker(byte: u8) -> Option<Self> {
        Some(match byte {
            0xc7 => Self::Unsigned(8),
            0xc8 => Self::Unsigned(1),
            0xc9 => Self::Signed(2),
            0xca => Self::Signed(4),
            0xcb => Self::Signed(8),
            0xcc => Self::Double,
            _ => return Self::of_array(byte),
        })
    }
}

impl StringEncoding {
    /// Returns the string encoding of a marker; `None` if no client writes it.
    fn of_marker(byte: u8) -> Option<Self> {
        Some(match byte {
            0x20..=0x3f => Self::System(byte - 0x20),
            0x40..=0x67 => Self::Dictionary,
            0x71 => Self::Base64 { width: 1, url: false },
            0x72 => Self::Base64 { width: 2, url: false },
            0x73 => Self::Base64 { width: 1, url: true },
            0x74 => Self::Base64 { width: 2, url: true },
            0x75 => Self::Guid { digits: Digits::Lower, quoted: false },
            0x76 => Self::Guid { digits: Digits::Upper, quoted: false },
            0x77 => Self::Guid { digits: Digits::Lower, quoted: true },
            0x78 => Self::Digits(Digits::Lower),
            0x79 => Self::Digits(Digits::Upper),
            0x7a => Self::Digits(Digits::Date),
            0x7b => Self::Packed { bits: 4, based: true, width: 1 },
            0x7c => Self::Packed { bits: 5, based: true, width: 1 },
            0x7d => Self::Packed { bits: 6, based: true, width: 1 },
            0x7e => Self::Packed { bits: 7, based: false, width: 1 },
            0x7f => Self::Packed { bits: 7, based: false, width: 2 },
            0x80..=0xbf => Self::Short(usize::from(byte - 0x80)),
            0xc0 => Self::Long(1),
            0xc1 => Self::Long(2),
            0xc2 => Self::Long(4),
            0xc3 => Self::Earlier(1),
            0xc4 => Self::Earlier(2),
            0xc5 => Self::Earlier(3),
            0xc6 => Self::Earlier(4),
            _ => return None,
        })
    }
}

impl Marker {
    /// Decodes a marker byte; returns `None` if no client writes it.
    pub(super) fn of_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x00..=0x1f => Self::Small(byte),
            0x20..=0xc6 => Self::String(StringEncoding::of_marker(byte)?),
            0xd0 => Self::Null,
            0xd1 => Self::Bool(false),
            0xd2 => Self::Bool(true),
            0xd3 => Self::Guid,
            0xdd => Self::Bytes(1),
            0xde => Self::Bytes(2),
            0xdf => Self::Bytes(4),
            0xe0..=0xe7 => Self::Array(Frame::of_distance(byte - 0xe0)),
            0xe8..=0xef => Self::Object(Frame::of_distance(byte - 0xe8)),
            0xf0 => Self::Numbers(1),
            0xf1 => Self::Numbers(2),
            0xf2 => Self::Tables(1),
            0xf3 => Self::Tables(2),
            _ => Self::Number(Number::of_marker(byte)?),
        })
    }
}
