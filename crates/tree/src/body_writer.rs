//! Writing of body files: bodies are gathered in frames, which are appended to a file.

use bytes::Bytes;

use crate::{
    body_file::{Moved, encode_bodies, encode_map},
    entry::Handle,
    error::{Error, Result},
    file_writer::{FileMaker, FileWriter},
    files::file_name,
    frame::{self, FrameKind},
    hooks::End,
    metadata::BodyMeta,
};

/// Maximum number of bodies in a frame.
const FRAME_BODIES_MAX: usize = 4_096;

/// Memory of a frame that is kept for the next one, in bytes.
const RAW_BYTES_KEPT: usize = 1 << 20;

/// Appends bodies to a new or an existing file.
#[derive(Debug)]
pub(crate) struct BodyWriter {
    maker: FileMaker,
    out: FileWriter,
    meta: BodyMeta,
    /// Bodies of the next frame, with the caller's tags.
    pending: Vec<(usize, Bytes)>,
    pending_bytes: usize,
    /// Raw contents of a frame, kept for its memory.
    raw: Vec<u8>,
    /// Places of the written bodies by the caller's tags.
    handles: Vec<(usize, Handle)>,
    /// Whether the file is new, so that it is removed if it was not taken.
    remove: bool,
}

impl BodyWriter {
    /// Creates a file for bodies of this group, with this end or an earlier one of its kind.
    pub(crate) fn create(maker: &FileMaker, group: u64, end: Option<End>) -> Result<Self> {
        let out = maker.create()?;
        let id = out.id();
        let meta =
            BodyMeta { id, file: id, group, end, bytes: 0, count: 0, raw_bytes: 0, map: None };
        Ok(Self::new(maker, out, meta, true))
    }

    /// Continues a file behind its valid length.
    pub(crate) fn append(maker: &FileMaker, meta: &BodyMeta) -> Result<Self> {
        let out = FileWriter::new(meta.file, maker.files.open(meta.file)?, meta.bytes);
        Ok(Self::new(maker, out, meta.clone(), false))
    }

    /// Creates a file that replaces another one under the same number in handles.
    pub(crate) fn replace(maker: &FileMaker, old: &BodyMeta) -> Result<Self> {
        let out = maker.create()?;
        let meta = BodyMeta { file: out.id(), bytes: 0, count: 0, raw_bytes: 0, ..old.clone() };
        Ok(Self::new(maker, out, meta, true))
    }

    fn new(maker: &FileMaker, out: FileWriter, meta: BodyMeta, remove: bool) -> Self {
        let maker = maker.clone();
        let (pending, raw, handles) = (Vec::new(), Vec::new(), Vec::new());
        Self { maker, out, meta, pending, pending_bytes: 0, raw, handles, remove }
    }

    /// Returns whether the file has reached its maximum size.
    pub(crate) fn is_full(&self) -> bool {
        self.maker.options.body_file_bytes <= self.out.offset()
    }

    /// Appends a body. Its place is returned by [`finish`](Self::finish) with this tag.
    pub(crate) fn add(&mut self, tag: usize, body: Bytes, end: Option<End>) -> Result<()> {
        self.meta.end = latest(self.meta.end, end);
        self.meta.count += 1;
        self.meta.raw_bytes += body.len() as u64;
        self.pending_bytes += body.len();
        self.pending.push((tag, body));
        let full = self.maker.options.body_block_bytes <= self.pending_bytes;
        if full || FRAME_BODIES_MAX <= self.pending.len() { self.write_frame() } else { Ok(()) }
    }

    fn write_frame(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let (tags, bodies): (Vec<usize>, Vec<Bytes>) = self.pending.drain(..).unzip();
        self.pending_bytes = 0;
        let (offset, stored) = self.write_bodies(&bodies)?;
        for (index, (tag, body)) in tags.into_iter().zip(&bodies).enumerate() {
            let (index, len) = (index as u16, body.len() as u32);
            let body = self.meta.id;
            self.handles.push((tag, Handle { body, offset, stored, index, len }));
        }
        Ok(())
    }

    /// Writes a frame; returns its offset and length.
    fn write_bodies(&mut self, bodies: &[Bytes]) -> Result<(u32, u32)> {
        let mut raw = std::mem::take(&mut self.raw);
        raw.clear();
        encode_bodies(&mut raw, bodies);
        let written = self.write_raw(FrameKind::Bodies, &raw);
        if raw.capacity() <= RAW_BYTES_KEPT {
            self.raw = raw;
        }
        written
    }

    fn write_raw(&mut self, kind: FrameKind, raw: &[u8]) -> Result<(u32, u32)> {
        let offset = u32::try_from(self.out.offset()).map_err(|_| {
            Error::Refused(format!("{} would exceed 4 GiB", file_name(self.out.id())))
        })?;
        let place = (self.out.id(), u64::from(offset));
        let len = frame::encode(self.out.buffer(), place, kind, raw, true);
        self.out.write()?;
        Ok((offset, len))
    }

    /// Writes the live bodies of a frame of the replaced file; the others become empty, so that
    /// the live ones keep their positions.
    pub(crate) fn add_frame(&mut self, from: u32, bodies: &[Bytes], live: u64) -> Result<Moved> {
        self.meta.count += live;
        self.meta.raw_bytes += bodies.iter().map(|body| body.len() as u64).sum::<u64>();
        let (to, len) = self.write_bodies(bodies)?;
        Ok(Moved { from, to, len })
    }

    /// Completes a file with the places of the frames of the file that it replaces.
    pub(crate) fn finish_replacement(mut self, map: &[Moved]) -> Result<BodyMeta> {
        let (offset, len) = self.write_raw(FrameKind::BodyMap, &encode_map(map))?;
        self.meta.map = Some((u64::from(offset), len));
        self.finish().map(|(meta, _)| meta)
    }

    /// Makes the file durable. Returns its description and the places of the bodies.
    pub(crate) fn finish(mut self) -> Result<(BodyMeta, Vec<(usize, Handle)>)> {
        self.write_frame()?;
        self.out.finish()?;
        self.meta.bytes = self.out.offset();
        self.remove = false;
        Ok((self.meta.clone(), std::mem::take(&mut self.handles)))
    }
}

impl Drop for BodyWriter {
    fn drop(&mut self) {
        if self.remove {
            self.maker.files.trash.push_file(self.out.id());
        }
    }
}

/// Returns the end after both; `None` if one of them never ends or the kinds differ.
fn latest(one: Option<End>, other: Option<End>) -> Option<End> {
    let (one, other) = (one?, other?);
    (one.kind == other.kind).then(|| End { kind: one.kind, at: one.at.max(other.at) })
}
