//! OP_MSG: flags, one body, any number of document sequences, an optional checksum.
//!
//! ```text
//! flags: u32
//! sections, until the end or the checksum:
//!     0, document                                  the body, exactly once
//!     1, length: u32, name, 0, document ...        a document sequence
//! checksum: u32, CRC-32C of header and all before
//! ```

use std::ops::Range;

use bytes::Bytes;
use document::validate_but_text;

use super::{Compressor, HEADER_BYTES, Header, Malformed, Message, OpCode, Sequence, Shape};
use crate::{
    errors::{InvalidBSON, Overflow},
    limits::{MAX_COMMAND_BYTES, MAX_NOT_UTF8, MAX_SECTIONS},
};

/// Flag: the message ends with a checksum.
const CHECKSUM_PRESENT: u32 = 1;
/// In a request: the client wants no reply. In a reply: another reply follows without a request.
const MORE_TO_COME: u32 = 1 << 1;
/// Flag: the client accepts several replies to one request.
const EXHAUST_ALLOWED: u32 = 1 << 16;
/// Flag bits that change the meaning of a message: a message in which an unknown one is set is
/// refused. Other unknown bits are ignored, as the protocol permits.
const REQUIRED_BITS: u32 = 0xffff;

/// Returns the little-endian number at an offset, if it is within the bytes.
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Returns whether a message wants no reply. For a compressed message this is unknown and returns
/// false.
pub(crate) fn wants_no_reply(header: &Header, payload: &[u8]) -> bool {
    let flags =
        u32_at(payload, 0).filter(|_| OpCode::from_number(header.code) == Some(OpCode::Msg));
    flags.is_some_and(|flags| flags & MORE_TO_COME != 0)
}

/// Returns the position of the body's document: after the flags, and after document sequences that
/// precede it; `None` without a body or with malformed sections.
pub(crate) fn find_body(payload: &[u8]) -> Option<usize> {
    let mut at = size_of::<u32>();
    loop {
        match payload.get(at)? {
            0 => return Some(at + 1),
            // The length includes itself.
            1 => at += 1 + usize::try_from(u32_at(payload, at + 1)?).ok()?.max(size_of::<u32>()),
            _ => return None,
        }
    }
}

/// Returns whether another reply follows this one without a request, as [`MORE_TO_COME`] states.
pub(crate) fn more_follows(header: &Header, payload: &[u8]) -> bool {
    wants_no_reply(header, payload)
}

/// Parses a message and validates every document in it. A body is required; flags, checksum and
/// sections must be exact, since another server might interpret leftover bytes differently.
pub(super) fn parse(
    header: &Header,
    mut payload: Vec<u8>,
    compressor: Option<Compressor>,
) -> Result<Message, Malformed> {
    let flags = u32_at(&payload, 0).ok_or_else(|| Malformed::fatal("a message without flags"))?;
    // An unknown bit among the required bits may change the meaning of the rest of the message.
    if flags & REQUIRED_BITS & !(CHECKSUM_PRESENT | MORE_TO_COME) != 0 {
        return Err(Malformed::fatal(format!("unknown flag bits in {flags:#x}")));
    }
    let checksum = flags & CHECKSUM_PRESENT != 0;
    // No section may reach into the checksum.
    let end = if checksum { check_sum(header, &payload)? } else { payload.len() };
    let mut sections = Sections {
        bytes: &payload,
        at: 4,
        end,
        body: None,
        sequences: Vec::new(),
        elements: 0,
        not_utf8: Vec::new(),
    };
    while sections.at < sections.end {
        sections.next_section()?;
    }
    let elements = sections.elements;
    let (body, sequences, mut not_utf8) = (sections.body, sections.sequences, sections.not_utf8);
    // The body may come between or after sequences; most clients send it first.
    let body = body.ok_or_else(|| Malformed::fatal("a message without a body section"))?;
    let mut as_it_came = None;
    if !not_utf8.is_empty() {
        // All other code relies on text being UTF-8.
        as_it_came = Some(Bytes::copy_from_slice(&payload));
        for range in &not_utf8 {
            payload.get_mut(range.clone()).map(mend_text);
        }
        // `Message::not_utf8_in` uses a binary search by start.
        not_utf8.sort_unstable_by_key(|range| range.start);
    }
    Ok(Message {
        request_id: header.request_id,
        shape: Shape::Msg {
            more_to_come: flags & MORE_TO_COME != 0,
            exhaust_allowed: flags & EXHAUST_ALLOWED != 0,
            checksum,
        },
        compressor,
        database: None,
        bytes: payload.into(),
        as_it_came,
        not_utf8,
        body,
        sequences,
        elements,
    })
}

/// Replaces invalid bytes by question marks.
fn mend_text(text: &mut [u8]) {
    let mut at = 0;
    while let Some(rest) = text.get_mut(at..)
        && let Err(wrong) = str::from_utf8(rest)
    {
        let from = wrong.valid_up_to();
        let len = wrong.error_len().unwrap_or(rest.len() - from);
        rest.iter_mut().skip(from).take(len).for_each(|byte| *byte = b'?');
        at += from + len;
    }
}

/// Checks the CRC-32C at the end of the payload; returns its position, which is the end of the
/// sections. The checksum covers the header, so the header is encoded again.
fn check_sum(header: &Header, payload: &[u8]) -> Result<usize, Malformed> {
    let end = payload.len().checked_sub(4).filter(|end| 4 < *end);
    let end = end.ok_or_else(|| Malformed::fatal("a message too short for its checksum"))?;
    let head = header.to_bytes();
    let sum = crc32c::crc32c_append(crc32c::crc32c(&head), payload.get(..end).unwrap_or_default());
    if u32_at(payload, end) == Some(sum) {
        Ok(end)
    } else {
        Err(Malformed::fatal("OP_MSG checksum does not match contents"))
    }
}

/// A reader over the sections of a message.
struct Sections<'a> {
    bytes: &'a [u8],
    /// Position of the next unread byte.
    at: usize,
    /// End of the part that is being read: of all sections, or of the current sequence.
    end: usize,
    body: Option<Range<usize>>,
    sequences: Vec<Sequence>,
    /// Number of elements read so far, at all nesting levels.
    elements: usize,
    /// Positions of strings and names that are not valid UTF-8.
    not_utf8: Vec<Range<usize>>,
}

impl Sections<'_> {
    fn next_section(&mut self) -> Result<(), Malformed> {
        let kind = self.bytes.get(self.at).copied();
        self.at += 1;
        match kind {
            Some(0) => {
                let range = self.take_document()?;
                if self.body.replace(range).is_some() {
                    return Err(Malformed::fatal("a message with two body sections"));
                }
                Ok(())
            }
            Some(1) => self.take_sequence(),
            _ => Err(Malformed::fatal("an unknown kind of section")),
        }
    }

    /// Reads and validates one document. An oversized or invalid document is an error of content:
    /// the position of the next document is known, so the connection can continue.
    fn take_document(&mut self) -> Result<Range<usize>, Malformed> {
        let start = self.at;
        let len = u32_at(self.bytes, start).and_then(|len| usize::try_from(len).ok());
        let end = len.and_then(|len| start.checked_add(len)).filter(|end| *end <= self.end);
        let end =
            end.ok_or_else(|| Malformed::fatal("a document extends past the end of its section"))?;
        let bytes = self.bytes.get(start..end).unwrap_or_default();
        // Checked before the validation, which is useless for a refused document.
        if MAX_COMMAND_BYTES < bytes.len() {
            let text = format!("a document of {} bytes is too large", bytes.len());
            return Err(Malformed::content(crate::errors::BSONObjectTooLarge, text));
        }
        let most = MAX_NOT_UTF8.saturating_sub(self.not_utf8.len());
        let checked = validate_but_text(bytes, most).map_err(|invalid| {
            let code = match invalid {
                document::Invalid::Depth(_) => Overflow,
                _ => InvalidBSON,
            };
            Malformed::content(code, invalid.to_string())
        })?;
        self.elements += checked.elements;
        // The command decides whether a text that is not UTF-8 fails the whole command or one
        // document.
        let here = |range: Range<usize>| start + range.start..start + range.end;
        self.not_utf8.extend(checked.not_utf8.into_iter().map(here));
        self.at = end;
        Ok(start..end)
    }

    /// Reads a document sequence. It must fill its length exactly, and have a unique UTF-8 name.
    fn take_sequence(&mut self) -> Result<(), Malformed> {
        let bad = || Malformed::fatal("a document sequence with a wrong length");
        let start = self.at;
        let len = u32_at(self.bytes, start).and_then(|len| usize::try_from(len).ok());
        let end = len.and_then(|len| start.checked_add(len)).filter(|end| *end <= self.end);
        let end = end.ok_or_else(bad)?;
        let name_at = start + 4;
        let name = self.bytes.get(name_at..end).ok_or_else(bad)?;
        let name_len = name.iter().position(|byte| *byte == 0).ok_or_else(bad)?;
        let name = str::from_utf8(name.get(..name_len).unwrap_or_default())
            .map_err(|_| Malformed::fatal("the name of a document sequence is not UTF-8"))?
            .to_owned();
        // Of two sequences with one name a command would use one and silently lose the other.
        let twice = self.sequences.iter().any(|sequence| sequence.name == name);
        if twice || MAX_SECTIONS <= self.sequences.len() {
            return Err(Malformed::fatal("a document sequence is given twice"));
        }
        self.at = name_at + name_len + 1;
        // No document may reach beyond the sequence, even if the message continues.
        let outer = std::mem::replace(&mut self.end, end);
        let mut documents = Vec::new();
        while self.at < end {
            documents.push(self.take_document()?);
        }
        self.end = outer;
        self.sequences.push(Sequence { name, documents });
        Ok(())
    }
}

/// Returns a reply: header, flags, one body, and a checksum if the request had one.
pub(crate) fn reply(
    request_id: i32,
    response_to: i32,
    body: &[u8],
    more_to_come: bool,
    checksum: bool,
) -> Vec<u8> {
    let len = HEADER_BYTES + 5 + body.len() + if checksum { 4 } else { 0 };
    let mut out = Vec::with_capacity(len);
    Header { len, request_id, response_to, code: OpCode::Msg as i32 }.write(&mut out);
    let flags =
        if more_to_come { MORE_TO_COME } else { 0 } | if checksum { CHECKSUM_PRESENT } else { 0 };
    out.extend_from_slice(&flags.to_le_bytes());
    // The section kind of the body.
    out.push(0);
    out.extend_from_slice(body);
    if checksum {
        let sum = crc32c::crc32c(&out);
        out.extend_from_slice(&sum.to_le_bytes());
    }
    out
}
