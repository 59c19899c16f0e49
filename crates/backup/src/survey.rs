//! Reads header, clock and trailer of a backup without verifying the rest.

use std::io::{self, Read};

use bytes::Bytes;

use crate::{
    Error,
    frame::{FrameKind, FrameReader},
    header::{Header, LINE_MAX, Trailer, check_line, parse},
    reader::failed,
};

/// Header, trailer and size of a backup, read without unpacking its data.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The first frame, with the backup's id.
    pub header: Header,
    /// Checkpoint of the clock at the end of the backup.
    pub clock: Bytes,
    /// The last frame, with size and hash.
    pub trailer: Trailer,
}

/// Skips bytes of a stream: by seeking in a file, by reading otherwise.
pub type Skip<'a, R> = &'a dyn Fn(&mut R, u64) -> io::Result<()>;

/// Reads header, clock and trailer of a stream; `skip` skips the frames in between.
pub fn survey<R: Read>(input: R, skip: Skip<'_, R>) -> Result<Survey, Error> {
    let mut frames = FrameReader::begin(input, LINE_MAX, check_line)?;
    let (mut header, mut clock) = (None, None);
    let wanted = |kind| !matches!(kind, FrameKind::Piece | FrameKind::Entries);
    while let Some((kind, payload)) = frames.read_or_skip(wanted, skip)? {
        match (kind, payload) {
            (FrameKind::Header, Some(payload)) => header = Some(parse("header", &payload)?),
            (FrameKind::Clock, payload) => clock = payload,
            (FrameKind::Failed, Some(payload)) => return Err(failed(&payload)),
            (FrameKind::Trailer, Some(payload)) => {
                let trailer = parse("trailer", &payload)?;
                let incomplete =
                    || Error::damaged("the backup lacks its header or its clock record");
                let (header, clock) = header.zip(clock).ok_or_else(incomplete)?;
                return Ok(Survey { header, clock, trailer });
            }
            _ => {}
        }
    }
    Err(Error::damaged("the backup ends early"))
}
