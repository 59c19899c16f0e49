//! A stream of records. It starts with a segment header; further segment headers may occur between
//! its records. A record is a header with the length and checksum of its body, followed by the
//! body, which is a row.

use crate::{
    Result,
    cursor::Cursor,
    row::{push_header, read_header},
    types::skip_value,
};

/// Schema id of segment headers.
const SEGMENT: i32 = 2_147_473_648;
/// Schema id of record headers.
const RECORD: i32 = 2_147_473_649;
/// Length of a segment header without a comment or schemas.
const SEGMENT_BYTES: usize = 10;
/// Length of a record header: version, schema, length, checksum.
const RECORD_BYTES: usize = 13;
/// Number of tokens of a segment header. The path of a sparse column starts with a number: if it is
/// smaller than this, it is a token that denotes a column; otherwise the excess is the length of a
/// name.
const SEGMENT_TOKENS: u64 = 5;
/// Presence bits of a segment header: its only fixed column, the length, is present.
const SEGMENT_BITS: u8 = 1;

/// A record whose header has been read. Its checksum is not verified yet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record<'a> {
    body: &'a [u8],
    checksum: u32,
    /// Offset of the record's body in the stream.
    at: usize,
}

impl<'a> Record<'a> {
    /// Verifies the checksum and returns the body.
    pub(crate) fn check(&self) -> Result<Cursor<'a>> {
        let body = Cursor::new(self.body, self.at);
        if crc32fast::hash(self.body) != self.checksum {
            return Err(body.invalid("the checksum of a record does not match"));
        }
        Ok(body)
    }
}

/// An iterator over the records of a stream, which ends after the first error.
#[derive(Debug)]
pub(crate) struct Records<'a> {
    cursor: Cursor<'a>,
}

impl<'a> Records<'a> {
    /// Reads the segment header at the start of a stream.
    pub(crate) fn new(stream: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(stream, 0);
        read_segment(&mut cursor)?;
        Ok(Self { cursor })
    }

    /// Reads the next record and any segment headers before it; returns `None` at the end of the
    /// stream.
    fn read_next(&mut self) -> Result<Option<Record<'a>>> {
        while !self.cursor.is_at_end() {
            let mut ahead = self.cursor;
            if read_header(SEGMENT, &mut ahead).is_ok() {
                read_segment(&mut self.cursor)?;
                continue;
            }
            let cursor = &mut self.cursor;
            read_header(RECORD, cursor)?;
            let len = cursor.take_length()?;
            let checksum = cursor.take_u32()?;
            let at = cursor.position();
            return Ok(Some(Record { body: cursor.take_bytes(len)?, checksum, at }));
        }
        Ok(None)
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Result<Record<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        let next = self.read_next().transpose();
        if let Some(Err(_)) = next {
            self.cursor = Cursor::new(&[], self.cursor.position());
        }
        next
    }
}

/// Reads a segment header. The columns after its length are skipped one by one, so that a wrong
/// length cannot hide records. A column that holds schemas is refused, because values of nested
/// types are not supported.
fn read_segment(cursor: &mut Cursor<'_>) -> Result<()> {
    read_header(SEGMENT, cursor)?;
    let error = cursor.invalid("a segment header has no length");
    if cursor.take_byte()? != SEGMENT_BITS {
        return Err(error);
    }
    let error = cursor.invalid("the length of a segment header is wrong");
    let more = cursor.take_length()?.checked_sub(SEGMENT_BYTES).ok_or(error)?;
    let at = cursor.position();
    let mut columns = Cursor::new(cursor.take_bytes(more)?, at);
    while !columns.is_at_end() {
        let code = columns.take_byte()?;
        if let Some(len) = columns.take_varuint()?.checked_sub(SEGMENT_TOKENS) {
            columns.take_bytes(usize::try_from(len).unwrap_or(usize::MAX))?;
        }
        skip_value(code, &mut columns)?;
    }
    Ok(())
}

/// Appends the segment header that starts a stream.
pub(crate) fn push_segment(out: &mut Vec<u8>) {
    push_header(SEGMENT, out);
    out.push(SEGMENT_BITS);
    push_u32(SEGMENT_BYTES, out);
}

/// Appends a record with the body that `write` appends.
pub(crate) fn push_record(out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len();
    push_header(RECORD, out);
    // Length and checksum are filled in once the body is written.
    out.resize(start + RECORD_BYTES, 0);
    write(out);
    let Some((head, body)) =
        out.get_mut(start..).and_then(|record| record.split_at_mut_checked(RECORD_BYTES))
    else {
        return;
    };
    let mut numbers = Vec::with_capacity(8);
    push_u32(body.len(), &mut numbers);
    numbers.extend_from_slice(&crc32fast::hash(body).to_le_bytes());
    if let Some(place) = head.last_chunk_mut::<8>() {
        place.copy_from_slice(&numbers);
    }
}

/// Appends a length. Bodies are far below the maximum.
fn push_u32(len: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
}
