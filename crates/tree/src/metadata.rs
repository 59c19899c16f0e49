//! Descriptions of tables and body files, as the list of files stores them.

use bytes::Bytes;

use crate::{
    codec::{Decoder, put_bytes, put_i64, put_varint},
    hooks::End,
};

/// The values of one kind in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The kind of their ends.
    pub kind: u32,
    /// Number of values of this kind.
    pub count: u64,
    /// The earliest of their ends.
    pub first: i64,
    /// The latest of their ends.
    pub last: i64,
}

/// The bodies of one body file to which a table refers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BodyUse {
    pub(crate) body: u64,
    pub(crate) count: u64,
    /// Sum of the lengths of these bodies.
    pub(crate) bytes: u64,
}

/// Description of a table, complete without its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableMeta {
    /// Number of the file on disk.
    pub(crate) id: u64,
    /// Length of the file in bytes.
    pub(crate) bytes: u64,
    /// Checksum in the footer, which covers the places of index and filter.
    pub(crate) footer: u32,
    pub(crate) first_key: Bytes,
    pub(crate) last_key: Bytes,
    /// Least and greatest number of a version.
    pub(crate) numbers: (u64, u64),
    /// Number of versions of all keys.
    pub(crate) entries: u64,
    /// Number of versions that are deletions.
    pub(crate) removals: u64,
    /// Number of versions with a newer version of the key in the same table.
    pub(crate) superseded: u64,
    /// Bytes of the keys and values of these versions, with their bodies.
    pub(crate) superseded_bytes: u64,
    /// Number of values without an end.
    pub(crate) endless: u64,
    /// The values with an end, by kind.
    pub(crate) endings: Vec<Ending>,
    /// The bodies that the table refers to, by body file.
    pub(crate) body_uses: Vec<BodyUse>,
}

/// Description of a body file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BodyMeta {
    /// Number by which handles refer to the file.
    pub(crate) id: u64,
    /// Number of the file on disk; another one after the file was rewritten.
    pub(crate) file: u64,
    /// Group of the latest ends in the file.
    pub(crate) group: u64,
    /// The latest end in the file; `None` if a body is not known to end.
    pub(crate) end: Option<End>,
    /// Valid length of the file in bytes. The file may be longer after a crash.
    pub(crate) bytes: u64,
    /// Number of bodies in the file.
    pub(crate) count: u64,
    /// Sum of the lengths of the bodies in the file.
    pub(crate) raw_bytes: u64,
    /// Offset and length of the frame with the new places of bodies, in a rewritten file.
    pub(crate) map: Option<(u64, u32)>,
}

impl TableMeta {
    /// Returns whether the table may contain a key between these, both included.
    pub(crate) fn overlaps(&self, first: &[u8], last: &[u8]) -> bool {
        self.first_key.as_ref() <= last && first <= self.last_key.as_ref()
    }

    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        for value in [self.id, self.bytes, u64::from(self.footer)] {
            put_varint(out, value);
        }
        put_bytes(out, &self.first_key);
        put_bytes(out, &self.last_key);
        let (least, greatest) = self.numbers;
        let superseded = [self.superseded, self.superseded_bytes];
        for value in [least, greatest, self.entries, self.removals] {
            put_varint(out, value);
        }
        for value in superseded.into_iter().chain([self.endless]) {
            put_varint(out, value);
        }
        put_varint(out, self.endings.len() as u64);
        for ending in &self.endings {
            put_varint(out, u64::from(ending.kind));
            put_varint(out, ending.count);
            put_i64(out, ending.first);
            put_i64(out, ending.last);
        }
        put_varint(out, self.body_uses.len() as u64);
        for of in &self.body_uses {
            for value in [of.body, of.count, of.bytes] {
                put_varint(out, value);
            }
        }
    }

    pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        let (id, bytes) = (decoder.varint()?, decoder.varint()?);
        let footer = u32::try_from(decoder.varint()?).ok()?;
        let first_key = Bytes::copy_from_slice(decoder.bytes()?);
        let last_key = Bytes::copy_from_slice(decoder.bytes()?);
        let numbers = (decoder.varint()?, decoder.varint()?);
        let (entries, removals) = (decoder.varint()?, decoder.varint()?);
        let (superseded, superseded_bytes) = (decoder.varint()?, decoder.varint()?);
        let endless = decoder.varint()?;
        let mut endings = Vec::new();
        for _ in 0..decoder.length()? {
            endings.push(Ending {
                kind: u32::try_from(decoder.varint()?).ok()?,
                count: decoder.varint()?,
                first: decoder.i64()?,
                last: decoder.i64()?,
            });
        }
        let mut body_uses = Vec::new();
        for _ in 0..decoder.length()? {
            let [body, count, bytes] = [decoder.varint()?, decoder.varint()?, decoder.varint()?];
            body_uses.push(BodyUse { body, count, bytes });
        }
        Some(Self {
            id,
            bytes,
            footer,
            first_key,
            last_key,
            numbers,
            entries,
            removals,
            superseded,
            superseded_bytes,
            endless,
            endings,
            body_uses,
        })
    }
}

impl BodyMeta {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        for value in [self.id, self.file, self.group] {
            put_varint(out, value);
        }
        match self.end {
            None => out.push(0),
            Some(end) => {
                out.push(1);
                put_varint(out, u64::from(end.kind));
                put_i64(out, end.at);
            }
        }
        let (map_at, map_len) = self.map.unwrap_or_default();
        for value in [self.bytes, self.count, self.raw_bytes, map_at, u64::from(map_len)] {
            put_varint(out, value);
        }
    }

    pub(crate) fn decode(decoder: &mut Decoder<'_>) -> Option<Self> {
        let [id, file, group] = [decoder.varint()?, decoder.varint()?, decoder.varint()?];
        let end = match decoder.u8()? {
            0 => None,
            1 => {
                let kind = u32::try_from(decoder.varint()?).ok()?;
                Some(End { kind, at: decoder.i64()? })
            }
            _ => return None,
        };
        let [bytes, count, raw_bytes] = [decoder.varint()?, decoder.varint()?, decoder.varint()?];
        let (map_at, map_len) = (decoder.varint()?, u32::try_from(decoder.varint()?).ok()?);
        let map = (map_len != 0).then_some((map_at, map_len));
        Some(Self { id, file, group, end, bytes, count, raw_bytes, map })
    }
}
