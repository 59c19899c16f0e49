//! Writes a backup part by part; the caller is responsible for the order.

use std::io::Write;

use crate::{
    Error,
    frame::{FrameKind, FrameWriter},
    header::{Header, LINE, Trailer, json},
};

/// A writer of a backup.
#[derive(Debug)]
pub struct Writer<W> {
    frames: FrameWriter<W>,
    trailer: Trailer,
}

impl<W: Write> Writer<W> {
    /// Starts a backup with its header.
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

    /// Writes a frame with a concatenation of encoded journal entries.
    pub fn entries(&mut self, entries: &[u8]) -> Result<(), Error> {
        self.trailer.bytes += entries.len() as u64;
        self.put(FrameKind::Entries, entries)
    }

    /// Writes the checkpoint of the clock, which must be read after all data, then the feature
    /// switches if they are stored, then the trailer. Returns the underlying writer.
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

    /// Ends the stream with a failure reason for its reader.
    pub fn fail(mut self, why: &str) -> Result<(), Error> {
        self.put(FrameKind::Failed, why.as_bytes())?;
        self.frames.finish().map(drop)
    }

    /// Returns the number of uncompressed bytes of pieces and entries so far, and of bytes written
    /// to the stream.
    pub fn bytes(&self) -> (u64, u64) {
        (self.trailer.bytes, self.frames.written)
    }

    fn put(&mut self, kind: FrameKind, payload: &[u8]) -> Result<(), Error> {
        self.trailer.frames += 1;
        self.frames.write_frame(kind, payload)
    }
}
