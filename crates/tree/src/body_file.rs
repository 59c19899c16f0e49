//! Reading of body files: frames with the parts of large values that are not stored with their
//! keys.
//!
//! ```text
//! frame ... | map of a rewritten file
//! frame: bodies u16 | length u32 of each | bodies
//! map: number | old offset, new offset and new length of each frame, as varints
//! ```
//!
//! A handle names the place that a body had when it was written. In a file that was rewritten
//! without its dead bodies, the map leads from there to the new place, so that tables need no change.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;

use crate::{
    codec::{Decoder, put_varint},
    entry::Handle,
    error::{Error, Result},
    files::{Files, file_name},
    frame::FrameKind,
    metadata::BodyMeta,
    trash::ListedFile,
};

/// The place of a frame after a file was rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) len: u32,
}

/// A body file in a version.
#[derive(Debug)]
pub(crate) struct BodyFile {
    pub(crate) meta: BodyMeta,
    pub(crate) file: Arc<ListedFile>,
    /// Number and bytes of the bodies that the tables of the version refer to.
    pub(crate) used: (u64, u64),
    map: OnceLock<Vec<Moved>>,
}

impl BodyFile {
    pub(crate) fn new(meta: BodyMeta, file: Arc<ListedFile>, used: (u64, u64)) -> Arc<Self> {
        Arc::new(Self { meta, file, used, map: OnceLock::new() })
    }

    fn damaged(&self, offset: u64, problem: &str) -> Error {
        Error::damaged(&file_name(self.meta.file), offset, problem)
    }

    /// Returns the new places of frames; `None` if the file was not rewritten.
    pub(crate) fn map(&self, files: &Files) -> Result<Option<&[Moved]>> {
        let Some((at, len)) = self.meta.map else { return Ok(None) };
        if let Some(map) = self.map.get() {
            return Ok(Some(map));
        }
        let raw = files.read_frame(self.meta.file, FrameKind::BodyMap, at, len)?;
        let map = decode_map(&raw).ok_or_else(|| self.damaged(at, "the map is malformed"))?;
        Ok(Some(self.map.get_or_init(|| map)))
    }

    /// Returns the current offset and length of the frame with a body.
    pub(crate) fn place_of(&self, files: &Files, handle: Handle) -> Result<(u64, u32)> {
        let Some(map) = self.map(files)? else {
            return Ok((u64::from(handle.offset), handle.stored));
        };
        match map.binary_search_by_key(&handle.offset, |moved| moved.from) {
            Ok(at) => Ok((u64::from(map[at].to), map[at].len)),
            Err(_) => {
                let at = self.meta.map.unwrap_or_default().0;
                Err(self.damaged(at, "a body is missing after the file was rewritten"))
            }
        }
    }

    /// Returns a body of the frame that was read from this offset.
    pub(crate) fn body_in<'a>(
        &self,
        frame: &'a [u8],
        offset: u64,
        handle: Handle,
    ) -> Result<&'a [u8]> {
        body_in(frame, handle.index, Some(handle.len))
            .ok_or_else(|| self.damaged(offset, "a body is not where its key says"))
    }
}

/// Appends the raw contents of a frame with these bodies.
pub(crate) fn encode_bodies(out: &mut Vec<u8>, bodies: &[Bytes]) {
    out.extend_from_slice(&(bodies.len() as u16).to_le_bytes());
    for body in bodies {
        out.extend_from_slice(&(body.len() as u32).to_le_bytes());
    }
    for body in bodies {
        out.extend_from_slice(body);
    }
}

/// Returns a body of a frame; `None` if the frame is malformed, does not have it, or has one of
/// another length.
pub(crate) fn body_in(frame: &[u8], index: u16, len: Option<u32>) -> Option<&[u8]> {
    let mut decoder = Decoder::new(frame);
    let count = usize::from(decoder.u16()?);
    let mut at = 2 + count * 4;
    for _ in 0..index {
        at = at.checked_add(decoder.u32()? as usize)?;
    }
    let found = decoder.u32()?;
    if usize::from(index) >= count || len.is_some_and(|len| len != found) {
        return None;
    }
    let end = at.checked_add(found as usize)?;
    frame.get(at..end)
}

/// Returns the number of bodies of a frame, including removed ones.
pub(crate) fn count_in(frame: &Bytes) -> Option<u16> {
    Decoder::new(frame).u16()
}

/// Encodes the places of moved frames, in the order of their old places.
pub(crate) fn encode_map(map: &[Moved]) -> Vec<u8> {
    let mut out = Vec::new();
    put_varint(&mut out, map.len() as u64);
    for moved in map {
        for value in [moved.from, moved.to, moved.len] {
            put_varint(&mut out, u64::from(value));
        }
    }
    out
}

fn decode_map(raw: &[u8]) -> Option<Vec<Moved>> {
    let mut decoder = Decoder::new(raw);
    let count = decoder.length()?;
    let mut map = Vec::with_capacity(count.min(decoder.remaining()));
    for _ in 0..count {
        let [from, to, len] = [decoder.varint()?, decoder.varint()?, decoder.varint()?];
        let narrow = |value: u64| u32::try_from(value).ok();
        map.push(Moved { from: narrow(from)?, to: narrow(to)?, len: narrow(len)? });
    }
    (decoder.is_empty() && map.is_sorted_by_key(|moved| moved.from)).then_some(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_of_a_frame_are_found() {
        let bodies = [Bytes::from_static(b"one"), Bytes::new(), Bytes::from_static(b"three")];
        let mut frame = Vec::new();
        encode_bodies(&mut frame, &bodies);
        let frame = Bytes::from(frame);
        for (index, body) in bodies.iter().enumerate() {
            let len = Some(body.len() as u32);
            assert_eq!(body_in(&frame, index as u16, len), Some(body.as_ref()));
        }
        assert_eq!(body_in(&frame, 3, None), None);
        assert_eq!(body_in(&frame, 0, Some(4)), None);
        assert_eq!(body_in(&frame.slice(..5), 1, None), None);
        assert_eq!(count_in(&frame), Some(3));
    }

    #[test]
    fn maps_are_read_back() {
        let map = [Moved { from: 0, to: 0, len: 9 }, Moved { from: 400, to: 9, len: 7 }];
        assert_eq!(decode_map(&encode_map(&map)).unwrap(), map);
        assert_eq!(decode_map(&encode_map(&map)[1..]), None);
    }
}
