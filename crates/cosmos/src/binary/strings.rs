//! Decodes the string encodings. Each spends the length of its text from the budget before memory
//! is allocated, so that no encoding expands a body beyond the limit.
//!
//! ```text
//! short, long    bytes of UTF-8
//! earlier        the offset of a string before this one
//! system         the index of a predefined string
//! GUID           16 bytes for 36 characters, or 38 with quotes
//! digits         half a byte per character
//! packed         4 to 7 bits per character
//! base64         the decoded bytes of the characters
//! ```

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};

use super::{
    cursor::Cursor,
    invalid,
    marker::{Digits, StringEncoding},
    reader::TextBudget,
    system::system_string,
};
use crate::failure::Result;

/// Decodes a string after its marker at `start`. A reference must point to an earlier string that
/// is not a reference, which excludes chains and cycles.
pub(super) fn read_string(
    encoding: StringEncoding,
    start: usize,
    cursor: &mut Cursor<'_>,
    text_budget: &mut TextBudget,
) -> Result<String> {
    match encoding {
        StringEncoding::Earlier(width) => {
            let at = cursor.read_length(width)?;
            let wrong = || invalid("a reference is to no earlier string", start);
            if !(super::FIRST_VALUE..start).contains(&at) {
                return Err(wrong());
            }
            let mut earlier = cursor.look_back(at, start);
            match earlier.read_string_encoding()? {
                StringEncoding::Earlier(_) => Err(wrong()),
                encoding => read_stored(encoding, at, &mut earlier, text_budget),
            }
        }
        encoding => read_stored(encoding, start, cursor, text_budget),
    }
}

/// Decodes a string that is not a reference; `start` is the offset of its marker, for error
/// messages.
fn read_stored(
    encoding: StringEncoding,
    start: usize,
    cursor: &mut Cursor<'_>,
    text_budget: &mut TextBudget,
) -> Result<String> {
    match encoding {
        StringEncoding::System(number) => {
            let text = system_string(number);
            text_budget.spend_bytes(text.len())?;
            Ok(text.to_owned())
        }
        StringEncoding::Short(len) => read_plain(len, start, cursor, text_budget),
        StringEncoding::Long(width) => {
            let len = cursor.read_length(width)?;
            read_plain(len, start, cursor, text_budget)
        }
        StringEncoding::Guid { digits, quoted } => {
            text_budget.spend_bytes(36)?;
            read_guid(digits, quoted, cursor)
        }
        StringEncoding::Base64 { width, url } => {
            read_base64(width, url, start, cursor, text_budget)
        }
        StringEncoding::Digits(digits) => {
            let count = cursor.read_length(1)?;
            text_budget.spend_bytes(count)?;
            read_half_bytes(digits, count, start, cursor)
        }
        StringEncoding::Packed { bits, based, width } => {
            let count = cursor.read_length(width)?;
            text_budget.spend_bytes(count)?;
            read_packed(bits, based, count, start, cursor)
        }
        StringEncoding::Dictionary => {
            Err(invalid("a string of a dictionary is not supported", start))
        }
        StringEncoding::Earlier(_) => Err(invalid("a reference is to a reference", start)),
    }
}

fn read_plain(
    len: usize,
    start: usize,
    cursor: &mut Cursor<'_>,
    text_budget: &mut TextBudget,
) -> Result<String> {
    let bytes = cursor.take_bytes(len)?;
    text_budget.spend_bytes(len)?;
    let text = std::str::from_utf8(bytes);
    text.map(str::to_owned).map_err(|_| invalid("a string is not UTF-8", start))
}

/// Decodes 32 hexadecimal digits in 16 bytes, low half first, and inserts the dashes; `quoted` adds
/// quotes that are part of the string.
fn read_guid(digits: Digits, quoted: bool, cursor: &mut Cursor<'_>) -> Result<String> {
    let mut text = String::with_capacity(38);
    let quote = if quoted { "\"" } else { "" };
    text.push_str(quote);
    for (at, byte) in cursor.take_bytes(16)?.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push(char::from(digits.character_of(*byte)));
        text.push(char::from(digits.character_of(byte >> 4)));
    }
    text.push_str(quote);
    Ok(text)
}

/// Decodes a base64 string that is stored as its decoded bytes. The count of four-character groups
/// is followed by a byte: the number of padding characters at the end or, with inverted bits, the
/// number of omitted characters. An inconsistent value is refused, since it would change the
/// string.
fn read_base64(
    width: usize,
    url: bool,
    start: usize,
    cursor: &mut Cursor<'_>,
    text_budget: &mut TextBudget,
) -> Result<String> {
    let groups = cursor.read_length(width)?;
    let end = cursor.read_byte()?;
    let (missing, padded) = match end {
        0..=2 => (usize::from(end), true),
        _ => (usize::from(!end), false),
    };
    if 2 < missing || 3 * groups < missing {
        return Err(invalid("a string of base64 has a wrong end", start));
    }
    let bytes = cursor.take_bytes(3 * groups - missing)?;
    text_budget.spend_bytes(4 * groups - if padded { 0 } else { missing })?;
    Ok(match (url, padded) {
        (false, true) => STANDARD.encode(bytes),
        (false, false) => STANDARD_NO_PAD.encode(bytes),
        (true, true) => URL_SAFE.encode(bytes),
        (true, false) => URL_SAFE_NO_PAD.encode(bytes),
    })
}

/// Decodes `count` characters of half a byte each, low half first. The unused half of an odd count
/// must be zero.
fn read_half_bytes(
    digits: Digits,
    count: usize,
    start: usize,
    cursor: &mut Cursor<'_>,
) -> Result<String> {
    let bytes = cursor.take_bytes(count.div_ceil(2))?;
    if count % 2 == 1 && bytes.last().is_some_and(|last| 0xf < *last) {
        return Err(invalid("a packed string has an excess character", start));
    }
    let halves = bytes.iter().flat_map(|byte| [*byte, byte >> 4]);
    Ok(halves.take(count).map(|half| char::from(digits.character_of(half))).collect())
}

/// Decodes `count` characters of at most seven bits each, lowest bits first. If `based`, they are
/// preceded by a character code that is added to each. Characters beyond ASCII are refused, since
/// no client packs them.
fn read_packed(
    bits: usize,
    based: bool,
    count: usize,
    start: usize,
    cursor: &mut Cursor<'_>,
) -> Result<String> {
    let base = if based { u16::from(cursor.read_byte()?) } else { 0 };
    let mut bytes = cursor.take_bytes((count * bits).div_ceil(8))?.iter();
    // A bit buffer that is filled bytewise; characters take the lowest bits. It holds at most seven
    // bits and one byte, so sixteen bits suffice.
    let (mut window, mut filled, mut text) = (0_u16, 0, String::with_capacity(count));
    for _ in 0..count {
        if filled < bits {
            window |= bytes.next().map_or(0, |byte| u16::from(*byte) << filled);
            filled += 8;
        }
        let code = base + (window & ((1 << bits) - 1));
        window >>= bits;
        filled -= bits;
        match u8::try_from(code) {
            Ok(code) if code.is_ascii() => text.push(char::from(code)),
            _ => return Err(invalid("a packed string is not ASCII", start)),
        }
    }
    Ok(text)
}
