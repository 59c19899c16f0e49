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

/// The message ends with a checksum.
const CHECKSUM_PRESENT: u32 = 1;
/// Of a request: no reply is wanted. Of a reply: another one follows without being asked for.
const MORE_TO_COME: u32 = 1 << 1;
/// The client takes several replies to one request.
const EXHAUST_ALLOWED: u32 = 1 << 16;
/// Unknown bits among these are an error; the others may be ignored, says the protocol.
const REQUIRED_BITS: u32 = 0xffff;

/// A little-endian number at an offset, if the bytes reach that far.
fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Whether a message says that no reply is wanted. Of one that is compressed it is not known yet.
pub(crate) fn wants_no_reply(header: &Header, payload: &[u8]) -> bool {
    let flags =
        u32_at(payload, 0).filter(|_| OpCode::from_number(header.code) == Some(OpCode::Msg));
    flags.is_some_and(|flags| flags & MORE_TO_COME != 0)
}

/// Where the body of a message begins: behind the flags, and behind documents in sections of their own that
/// come before it. `None`: it has none, or its sections are not what they say.
pub(crate) fn find_body(payload: &[u8]) -> Option<usize> {
    let mut at = size_of::<u32>();
    loop {
        match payload.get(at)? {
            0 => return Some(at + 1),
            // The length counts itself.
            1 => at += 1 + usize::try_from(u32_at(payload, at + 1)?).ok()?.max(size_of::<u32>()),
            _ => return None,
        }
    }
}

/// Whether a reply says that another one follows without being asked for. The same bit says of a request
/// that no reply is wanted.
pub(crate) fn more_follows(header: &Header, payload: &[u8]) -> bool {
    wants_no_reply(header, payload)
}

/// Reads a message and checks every document in it. A body is required; flags, checksum and
/// sections have to be exact, since bytes that are left over would be read as something else by
/// another server.
pub(super) fn parse(
    header: &Header,
    mut payload: Vec<u8>,
    compressor: Option<Compressor>,
) -> Result<Message, Malformed> {
    let flags = u32_at(&payload, 0).ok_or_else(|| Malformed::fatal("a message without flags"))?;
    // A client that sets an unknown bit of these wants something that changes the meaning of what
    // follows.
    if flags & REQUIRED_BITS & !(CHECKSUM_PRESENT | MORE_TO_COME) != 0 {
        return Err(Malformed::fatal(format!("unknown flag bits in {flags:#x}")));
    }
    let checksum = flags & CHECKSUM_PRESENT != 0;
    // The last four bytes are the checksum's, and no section may reach into them.
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
    // The body may stand between or after sequences; most clients send it first.
    let body = body.ok_or_else(|| Malformed::fatal("a message without a body section"))?;
    let mut as_it_came = None;
    if !not_utf8.is_empty() {
        // Everybody else relies on text being UTF-8.
        as_it_came = Some(Bytes::copy_from_slice(&payload));
        for range in &not_utf8 {
            payload.get_mut(range.clone()).map(mend_text);
        }
        // The body may stand behind a sequence.
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

/// Puts question marks in place of bytes that are not UTF-8.
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

/// Checks the CRC-32C at the end; returns where the sections end. It covers the header, which is
/// written again as the client must have sent it.
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
    /// The next byte that is not read yet.
    at: usize,
    /// Where the readable part ends: the end of the sections, or of the sequence that is being
    /// read.
    end: usize,
    body: Option<Range<usize>>,
    sequences: Vec<Sequence>,
    /// Elements of all documents so far, at all levels.
    elements: usize,
    /// Where texts and names stand that are not UTF-8.
    not_utf8: Vec<Range<usize>>,
}

impl Sections<'_> {
    /// Reads one section.
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

    /// Takes one document at the position, and checks it. One that is too large or not valid is an
    /// error of content: its length says where the next begins, so the connection can go on.
    fn take_document(&mut self) -> Result<Range<usize>, Malformed> {
        let start = self.at;
        let len = u32_at(self.bytes, start).and_then(|len| usize::try_from(len).ok());
        let end = len.and_then(|len| start.checked_add(len)).filter(|end| *end <= self.end);
        let end = end.ok_or_else(|| Malformed::fatal("a document reaches beyond its section"))?;
        let bytes = self.bytes.get(start..end).unwrap_or_default();
        // Before it is validated: a document that is refused anyway need not be walked.
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
        // Whether such a text fails the command or one of its documents is known by the command.
        let here = |range: Range<usize>| start + range.start..start + range.end;
        self.not_utf8.extend(checked.not_utf8.into_iter().map(here));
        self.at = end;
        Ok(start..end)
    }

    /// Takes a document sequence. Its length has to be used up exactly, its name is UTF-8 and
    /// stands once.
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
        // A command would see one of the two and silently lose the other.
        let twice = self.sequences.iter().any(|sequence| sequence.name == name);
        if twice || MAX_SECTIONS <= self.sequences.len() {
            return Err(Malformed::fatal("a document sequence is given twice"));
        }
        self.at = name_at + name_len + 1;
        // No document of the sequence may reach beyond it, also if the message goes on.
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

/// A reply: header, flags, one body, and a checksum where the request had one.
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
    // The kind of the body's section.
    out.push(0);
    out.extend_from_slice(body);
    if checksum {
        let sum = crc32c::crc32c(&out);
        out.extend_from_slice(&sum.to_le_bytes());
    }
    out
}
