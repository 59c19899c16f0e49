//! Reads a backup part by part. The backup is valid only once the end was read: callers have to
//! discard the results of earlier parts if the end is missing.

use std::io::Read;

use bytes::Bytes;

use crate::{
    Error,
    frame::{FrameKind, FrameReader},
    header::{Header, Kind, LINE_MAX, Trailer, check_line, parse},
};

/// A part of a backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A piece of a store's image.
    Piece(Bytes),
    /// A concatenation of encoded journal entries.
    Entries(Bytes),
    /// Checkpoint of the clock at the end.
    Clock(Bytes),
    /// The server's feature switches, encoded as JSON.
    Switches(Bytes),
}

/// A reader of a backup.
#[derive(Debug)]
pub struct Reader<R> {
    frames: FrameReader<R>,
    header: Header,
    order: PartOrder,
    trailer: Option<Trailer>,
}

/// Verifies the order of parts: pieces or entries, then the clock, then switches, then the trailer.
#[derive(Debug, Default)]
pub(crate) struct PartOrder {
    frames: u64,
    bytes: u64,
    has_clock: bool,
    has_switches: bool,
}

impl PartOrder {
    /// Counts a frame between header and trailer; fails if it is out of order.
    pub(crate) fn record(&mut self, kind: FrameKind, of: Kind) -> Result<(), Error> {
        let fits = match kind {
            FrameKind::Piece => of == Kind::Full && !self.has_clock,
            FrameKind::Entries => of == Kind::Incremental && !self.has_clock,
            FrameKind::Clock => !std::mem::replace(&mut self.has_clock, true),
            FrameKind::Switches => {
                self.has_clock && !std::mem::replace(&mut self.has_switches, true)
            }
            FrameKind::Header | FrameKind::Trailer | FrameKind::Failed => false,
        };
        self.frames += 1;
        if fits { Ok(()) } else { Err(Error::damaged("a frame of the backup is out of order")) }
    }

    /// Checks the trailer against the frames read, including the header.
    pub(crate) fn check_end(&self, trailer: &Trailer, hash: &str) -> Result<(), Error> {
        let counts = trailer.frames == self.frames + 1 && self.has_clock;
        if counts && trailer.sha256 == hash {
            return Ok(());
        }
        Err(Error::damaged("backup trailer does not match its contents"))
    }
}

impl<R: Read> Reader<R> {
    /// Opens a stream and reads its header.
    pub fn open(input: R) -> Result<Self, Error> {
        let mut frames = FrameReader::begin(input, LINE_MAX, check_line)?;
        let header = match frames.next_frame()? {
            Some((FrameKind::Header, payload)) => parse("header", &payload)?,
            Some(_) => return Err(Error::damaged("the backup does not start with a header")),
            None => return Err(Error::damaged("the backup ends early")),
        };
        Ok(Self { frames, header, order: PartOrder::default(), trailer: None })
    }

    /// Returns the header of the backup.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns the trailer, once all parts were read.
    pub fn trailer(&self) -> Option<&Trailer> {
        self.trailer.as_ref()
    }

    /// Returns the number of bytes read from the stream.
    pub fn read_bytes(&self) -> u64 {
        self.frames.read
    }

    /// Reads the next part; `None` once the whole stream was read and verified.
    pub fn next_part(&mut self) -> Result<Option<Part>, Error> {
        self.next_part_in(&mut |_| {})
    }

    /// Reads the next part; `None` once the whole stream was read and verified. `admit` is called
    /// with the sum of the part's compressed and uncompressed sizes before memory is reserved, and
    /// may block until memory is released.
    pub fn next_part_in(&mut self, admit: &mut dyn FnMut(u64)) -> Result<Option<Part>, Error> {
        if self.trailer.is_some() {
            return Ok(None);
        }
        let Some((kind, payload)) = self.frames.next_frame_in(admit)? else {
            return Err(Error::damaged("the backup ends early"));
        };
        if kind == FrameKind::Trailer {
            let trailer: Trailer = parse("trailer", &payload)?;
            self.order.check_end(&trailer, &self.frames.hash_before())?;
            if trailer.bytes != self.order.bytes || self.frames.next_packed()?.is_some() {
                return Err(Error::damaged("trailing data after the end of the backup"));
            }
            self.trailer = Some(trailer);
            return Ok(None);
        }
        if kind == FrameKind::Failed {
            return Err(failed(&payload));
        }
        self.order.record(kind, self.header.kind)?;
        Ok(Some(match kind {
            FrameKind::Piece | FrameKind::Entries => {
                self.order.bytes += payload.len() as u64;
                match kind {
                    FrameKind::Piece => Part::Piece(payload),
                    _ => Part::Entries(payload),
                }
            }
            FrameKind::Clock => Part::Clock(payload),
            _ => Part::Switches(payload),
        }))
    }
}

/// Reads a stream's header. Also returns the bytes that were consumed, so that the stream can be
/// read from its start.
pub fn read_header(input: impl Read) -> Result<(std::io::Cursor<Vec<u8>>, Header), Error> {
    let mut kept = Kept { input, bytes: Vec::new() };
    let reader = Reader::open(&mut kept)?;
    let header = reader.header().clone();
    drop(reader);
    Ok((std::io::Cursor::new(kept.bytes), header))
}

/// A reader that records the bytes it returns.
struct Kept<R> {
    input: R,
    bytes: Vec<u8>,
}

impl<R: Read> Read for Kept<R> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let count = self.input.read(bytes)?;
        self.bytes.extend_from_slice(bytes.get(..count).unwrap_or_default());
        Ok(count)
    }
}

/// Returns the error for a backup whose writer failed, with the reason that the frame contains.
pub(crate) fn failed(payload: &[u8]) -> Error {
    Error::Refused(format!("it could not be finished: {}", String::from_utf8_lossy(payload)))
}
