//! Writes a backup, part by part. Whoever calls has the parts in their order.

use std::io::Write;

use crate::{
    error::Error,
    frame::{FrameKind, FrameWriter},
    header::{Header, LINE, Trailer, json},
};

/// A backup that is being written.
#[derive(Debug)]
pub struct Writer<W> {
    frames: FrameWriter<W>,
    trailer: Trailer,
}

impl<W: Write> Writer<W> {
    /// Begins one.
    pub fn begin(out: W, header: &Header) -> Result<Self, Error> {
        let frames = FrameWriter::begin(out, LINE)?;
        let trailer = Trailer { frames: 0, bytes: 0, sha256: String::new() };
        let mut writer = Self { frames, trailer };
        writer.put(FrameKind::Header, &json(header)?)?;
        Ok(writer)
    }

    /// Writes a piece of the store's image.
    pub fn piece(&mut self, piece: &[u8]) -> Result<(), Error> {
        self.trailer.bytes += piece.len() as u64;
        self.put(FrameKind::Piece, piece)
    }

    /// Writes entries of the journal, one behind the other.
    pub fn entries(&mut self, entries: &[u8]) -> Result<(), Error> {
        self.trailer.bytes += entries.len() as u64;
        self.put(FrameKind::Entries, entries)
    }

    /// Writes where the clock stands, behind all that was read of the store; and the switches, where some
    /// were turned. Returns what it wrote to, once the trailer is handed over.
    pub fn finish(mut self, clock: &[u8], switches: Option<&[u8]>) -> Result<(W, Trailer), Error> {
        self.put(FrameKind::Clock, clock)?;
        if let Some(switches) = switches {
            self.put(FrameKind::Switches, switches)?;
        }
        self.trailer.sha256 = self.frames.hash();
        let trailer = json(&self.trailer)?;
        self.frames.write_frame(FrameKind::Trailer, &trailer)?;
        Ok((self.frames.finish()?, self.trailer))
    }

    /// Says why it ends early, so that whoever reads it need not guess.
    pub fn fail(mut self, why: &str) -> Result<(), Error> {
        self.put(FrameKind::Failed, why.as_bytes())?;
        self.frames.finish().map(drop)
    }

    /// Bytes of pieces and entries so far, before they were compressed; and bytes written.
    pub fn bytes(&self) -> (u64, u64) {
        (self.trailer.bytes, self.frames.written)
    }

    fn put(&mut self, kind: FrameKind, payload: &[u8]) -> Result<(), Error> {
        self.trailer.frames += 1;
        self.frames.write_frame(kind, payload)
    }
}
