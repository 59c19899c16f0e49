//! One version of a key, as memtables, tables and scans pass it on.

use bytes::Bytes;

use crate::codec::Decoder;

/// The place of a body in a body file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Handle {
    /// Number of the body file.
    pub(crate) body: u64,
    /// Offset of the body's frame when it was written.
    pub(crate) offset: u32,
    /// Length of this frame when it was written.
    pub(crate) stored: u32,
    /// Position of the body in the frame.
    pub(crate) index: u16,
    /// Length of the body in bytes.
    pub(crate) len: u32,
}

/// Size of an encoded [`Handle`].
pub(crate) const HANDLE_BYTES: usize = 22;

/// The value of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// The key was deleted, or its value was dropped.
    Removed,
    /// The whole value is here.
    Inline(Bytes),
    /// The start of the value, and the place of the rest.
    Apart { handle: Handle, inline: Bytes },
}

/// A version of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: Bytes,
    /// Number of the batch that wrote the version.
    pub(crate) number: u64,
    pub(crate) slot: Slot,
}

impl Handle {
    fn encode(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.body.to_le_bytes());
        out.extend_from_slice(&self.offset.to_le_bytes());
        out.extend_from_slice(&self.stored.to_le_bytes());
        out.extend_from_slice(&self.index.to_le_bytes());
        out.extend_from_slice(&self.len.to_le_bytes());
    }

    fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        Some(Self {
            body: decoder.u64()?,
            offset: decoder.u32()?,
            stored: decoder.u32()?,
            index: decoder.u16()?,
            len: decoder.u32()?,
        })
    }
}

impl Slot {
    /// Creates the slot of a written value; `None` for a deletion.
    pub(crate) fn of_value(value: Option<Bytes>) -> Self {
        value.map_or(Self::Removed, Self::Inline)
    }

    /// Returns the byte that identifies the kind of the slot in tables.
    pub(crate) fn kind(&self) -> u8 {
        match self {
            Self::Removed => 0,
            Self::Inline(_) => 1,
            Self::Apart { .. } => 2,
        }
    }

    /// Returns the part of the value that is stored with the key: all of it, or its start.
    pub(crate) fn inline(&self) -> Option<&Bytes> {
        match self {
            Self::Removed => None,
            Self::Inline(value) => Some(value),
            Self::Apart { inline, .. } => Some(inline),
        }
    }

    /// Returns the number of bytes that [`encode`](Self::encode) appends.
    pub(crate) fn encoded_len(&self) -> usize {
        match self {
            Self::Removed => 0,
            Self::Inline(value) => value.len(),
            Self::Apart { inline, .. } => HANDLE_BYTES + inline.len(),
        }
    }

    /// Appends the slot without its kind and length.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Removed => {}
            Self::Inline(value) => out.extend_from_slice(value),
            Self::Apart { handle, inline } => {
                handle.encode(out);
                out.extend_from_slice(inline);
            }
        }
    }

    /// Reads a slot of this kind.
    pub(crate) fn decode(kind: u8, value: Bytes) -> Option<Self> {
        match kind {
            0 if value.is_empty() => Some(Self::Removed),
            1 => Some(Self::Inline(value)),
            2 => {
                let handle = Handle::decode(&mut Decoder::new(&value))?;
                Some(Self::Apart { handle, inline: value.slice(HANDLE_BYTES..) })
            }
            _ => None,
        }
    }
}
