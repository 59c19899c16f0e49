//! Copies a backup and verifies it at the same time. Payloads are not decompressed, except header
//! and trailer.

use std::io::{Read, Write};

use crate::{
    Error,
    frame::{FrameKind, FrameReader},
    header::{Header, LINE, LINE_MAX, Trailer, check_line, parse},
    reader::{PartOrder, failed},
};

/// Copies a stream. `tell` is called per frame with the header and the number of bytes copied.
/// Returns header, trailer and length in bytes.
pub fn copy_checked(
    input: impl Read,
    out: &mut impl Write,
    tell: &mut dyn FnMut(&Header, u64),
) -> Result<(Header, Trailer, u64), Error> {
    let mut frames = FrameReader::begin(input, LINE_MAX, check_line)?;
    out.write_all(LINE.as_bytes())?;
    let mut header: Option<Header> = None;
    let mut order = PartOrder::default();
    let mut written = LINE.len() as u64;
    loop {
        let Some(packed) = frames.next_packed()? else {
            return Err(Error::damaged("the backup ends early"));
        };
        packed.write_to(out)?;
        written += packed.bytes();
        match (packed.kind, &header) {
            (FrameKind::Header, None) => header = Some(parse("header", &packed.unpack()?)?),
            (_, None) => return Err(Error::damaged("the backup does not start with a header")),
            (FrameKind::Trailer, Some(header)) => {
                let trailer: Trailer = parse("trailer", &packed.unpack()?)?;
                order.check_end(&trailer, &frames.hash_before())?;
                out.flush()?;
                if frames.next_packed()?.is_some() {
                    return Err(Error::damaged("trailing data after the end of the backup"));
                }
                return Ok((header.clone(), trailer, written));
            }
            (FrameKind::Failed, Some(_)) => return Err(failed(&packed.unpack()?)),
            (kind, Some(header)) => order.record(kind, header.kind)?,
        }
        if let Some(header) = &header {
            tell(header, written);
        }
    }
}
