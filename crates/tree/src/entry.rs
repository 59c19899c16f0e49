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

    /// Returns the length of the whole value, with its body.
    pub(crate) fn value_len(&self) -> usize {
        match self {
            Self::Removed => 0,
            Self::Inline(value) => value.len(),
            Self::Apart { handle, inline } => inline.len() + handle.len as usize,
        }
    }

    /// Returns the slot as a reference; its bytes are the buffer.
    pub(crate) fn as_ref(&self) -> SlotRef<'_> {
        match self {
            Self::Removed => SlotRef::Removed,
            Self::Inline(value) => SlotRef::Inline { value, buffer: value },
            Self::Apart { handle, inline } => {
                SlotRef::Apart { handle: *handle, inline, buffer: inline }
            }
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
}

/// The value of a version in the buffer of its memtable or block.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SlotRef<'a> {
    /// The key was deleted, or its value was dropped.
    Removed,
    /// The whole value, which is a part of the buffer.
    Inline { value: &'a [u8], buffer: &'a Bytes },
    /// The start of the value, which is a part of the buffer, and the place of the rest.
    Apart { handle: Handle, inline: &'a [u8], buffer: &'a Bytes },
}

impl<'a> SlotRef<'a> {
    /// Creates the slot of a written value; `None` for a deletion.
    pub(crate) fn of_value(value: Option<&'a Bytes>) -> Self {
        value.map_or(Self::Removed, |value| Self::Inline { value, buffer: value })
    }

    /// Reads a slot of this kind, which is a part of the buffer.
    pub(crate) fn decode(kind: u8, value: &'a [u8], buffer: &'a Bytes) -> Option<Self> {
        match kind {
            0 if value.is_empty() => Some(Self::Removed),
            1 => Some(Self::Inline { value, buffer }),
            2 => {
                let mut decoder = Decoder::new(value);
                let handle = Handle::decode(&mut decoder)?;
                Some(Self::Apart { handle, inline: &value[HANDLE_BYTES..], buffer })
            }
            _ => None,
        }
    }

    /// Returns the slot; its bytes keep the buffer in memory.
    pub(crate) fn to_slot(self) -> Slot {
        match self {
            Self::Removed => Slot::Removed,
            Self::Inline { value, buffer } => Slot::Inline(buffer.slice_ref(value)),
            Self::Apart { handle, inline, buffer } => {
                Slot::Apart { handle, inline: buffer.slice_ref(inline) }
            }
        }
    }
}
