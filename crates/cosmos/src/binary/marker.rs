//! Markers: the byte that a value begins with, and what it says about the bytes after it. Lengths,
//! counts and positions are named by the number of bytes that they take. The table of bytes is that
//! of the service's own SDKs; a byte that they do not write is unknown here too.

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Null,
    Bool(bool),
    /// A whole number within the marker.
    Small(u8),
    Number(Number),
    /// A text in one of its forms.
    String(Form),
    /// 16 bytes in the order of .NET; a string in JSON.
    Guid,
    /// A length and bytes; a string of base64 in JSON.
    Bytes(usize),
    /// An array whose values follow, each with a marker of its own.
    Array(Frame),
    /// An object: a string and a value in turn.
    Object(Frame),
    /// An array of numbers of one type: the marker of all, a count of this many bytes, then the
    /// numbers without markers.
    Numbers(usize),
    /// An array of such arrays, which all have one length: the marker of each, that of their
    /// numbers, and both counts of this many bytes.
    Tables(usize),
}

/// How a number is stored: its type and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// A whole number of this many bytes, from zero on.
    Unsigned(usize),
    /// A whole number of this many bytes in two's complement.
    Signed(usize),
    /// A double that was cut to 32 bits without loss.
    Single,
    /// A number of 64 bits as IEEE 754 has it.
    Double,
}

/// How a string is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// One that both sides know, by its number in the list of `system`.
    System(u8),
    /// One of a dictionary of the client's own. It is not in the body, so it cannot be read.
    Dictionary,
    /// This many bytes of UTF-8.
    Short(usize),
    /// A length of this many bytes, and UTF-8.
    Long(usize),
    /// A position of this many bytes, at which an earlier string stands.
    Earlier(usize),
    /// 32 hexadecimal digits, low half first, with the usual dashes.
    Guid { digits: Digits, quoted: bool },
    /// A count of groups of four characters, what is missing at the end, bytes.
    Base64 { width: usize, url: bool },
    /// A count and half a byte for each character.
    Digits(Digits),
    /// A count, the lowest character if it is not U+0000, and this many bits for each.
    Packed { bits: usize, based: bool, width: usize },
}

/// A set of sixteen characters, so that each takes half a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits {
    /// Hexadecimal digits in lower case.
    Lower,
    /// Hexadecimal digits in upper case.
    Upper,
    /// What a timestamp of ISO 8601 is made of.
    Date,
}

impl Digits {
    /// The character of the low half of a byte.
    pub(super) fn character_of(self, half: u8) -> u8 {
        let all = match self {
            Self::Lower => b"0123456789abcdef",
            Self::Upper => b"0123456789ABCDEF",
            Self::Date => b" 0123456789:-.TZ",
        };
        all.get(usize::from(half & 0xf)).copied().unwrap_or_default()
    }
}

/// How the end of an array or object is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// It holds nothing.
    Empty,
    /// It holds one value, or one name with its value, and has no length.
    One,
    /// Its length in bytes and, where `counted`, how many values it holds; each takes `width`
    /// bytes.
    Long { width: usize, counted: bool },
}

impl Frame {
    /// By the distance from the first marker of its kind: arrays and objects have eight markers
    /// each, in the same order.
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
    /// The numbers that arrays of numbers are made of; other markers return `None`.
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

    /// The numbers that stand alone: those that arrays are made of, and a few more.
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

impl Form {
    /// A string's form by its marker; `None` where no client writes it.
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
    /// What a byte says; `None` where no client writes it.
    pub(super) fn of_byte(byte: u8) -> Option<Self> {
        Some(match byte {
            0x00..=0x1f => Self::Small(byte),
            0x20..=0xc6 => Self::String(Form::of_marker(byte)?),
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
