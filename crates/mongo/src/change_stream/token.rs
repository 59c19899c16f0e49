//! Resume tokens: the place of an event in a stream, as a hexadecimal text whose order is that of
//! the stream.
//!
//! Tokens have the layout of MongoDB's, whose parts are encoded so that they sort as bytes, since
//! clients read the time in them:
//!
//! ```text
//!  82 <time: 8 bytes>            29 | number     0, or a number with its length in the first byte
//!  2B 04                         version 2
//!  29 | 2C 0100                  a place between events, or an event
//!  29 | number                   operation in the commit
//!  6E | 6F                       of an event, or of the invalidation that follows it
//!  14 | 5A 10 04 <UUID>          collection
//!  46 3C <name> 00 3C <text> 00 .. 00      operation and document
//!  number                        fragment of a split event, if it is one
//!  04
//! ```
//!
//! The text for the document is the hexadecimal row key, followed by a checksum of the token, by
//! which a damaged one is refused.

use bytes::Bytes;
use document::{DocBuf, DocRef, ValueRef, doc};
use engine::{Change, ChangePosition, ClusterTime};

use crate::errors::{Error, FailedToParse, InvalidResumeToken, Result};

/// Length of the checksum in characters.
const CHECKSUM: usize = 8;

/// A place in a change stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A place before all events of this time.
    Time(ClusterTime),
    Event(EventToken),
}

/// The place of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventToken {
    pub(super) time: ClusterTime,
    pub(super) operation: u32,
    pub(super) uuid: [u8; 16],
    pub(super) row_key: Bytes,
    pub(super) kind: String,
    /// Whether the event is the invalidation that follows this event.
    pub(crate) invalidates: bool,
    /// Number of the fragment if the event is split.
    pub(crate) fragment: Option<u32>,
}

impl EventToken {
    pub(super) fn of_change(change: &Change, kind: &str) -> Self {
        Self {
            time: change.time,
            operation: change.operation,
            uuid: change.uuid,
            row_key: change.row_key.clone(),
            kind: kind.to_owned(),
            invalidates: false,
            fragment: None,
        }
    }

    /// Returns the position of the event in the change log.
    pub(crate) fn position(&self) -> ChangePosition {
        ChangePosition::of_change(self.time, (self.operation, self.uuid), &self.row_key)
    }
}

impl Token {
    /// Returns the token as clients see it.
    pub(crate) fn to_document(&self) -> DocBuf {
        doc! { "_data": hex(&self.encode()) }.to_buf()
    }

    fn encode(&self) -> Vec<u8> {
        let (Self::Time(time) | Self::Event(EventToken { time, .. })) = self;
        let mut out = vec![0x82];
        out.extend_from_slice(&time.timestamp().to_be_bytes());
        push_number(2, &mut out);
        let Self::Event(event) = self else {
            out.extend_from_slice(&[0x29, 0x29, 0x6E, 0x14, 0x04]);
            return out;
        };
        push_number(128, &mut out);
        push_number(u64::from(event.operation), &mut out);
        out.push(if event.invalidates { 0x6F } else { 0x6E });
        out.extend_from_slice(&[0x5A, 0x10, 0x04]);
        out.extend_from_slice(&event.uuid);
        out.push(0x46);
        push_text("operationType", &mut out);
        push_text(&event.kind, &mut out);
        push_text("documentKey", &mut out);
        let sum = checksum(&[&out[..], &event.row_key].concat());
        push_text(&format!("{}{sum:08X}", hex(&event.row_key)), &mut out);
        out.push(0);
        if let Some(fragment) = event.fragment {
            push_number(u64::from(fragment), &mut out);
        }
        out.push(0x04);
        out
    }

    /// Parses a token that a client sends back.
    ///
    /// Fails with 40647 if `_data` is not a string, 9 if it is not hexadecimal, 50795 to 50797 if
    /// its layout is unknown, and 260 if the token is damaged.
    pub(super) fn parse(token: DocRef<'_>) -> Result<Self> {
        let Some(ValueRef::String(data)) = token.get("_data") else {
            let message = "Bad resume token: _data of missing or of wrong type";
            return Err(Error::new(40647, message));
        };
        let bytes = unhex(data).ok_or_else(|| {
            Error::new(FailedToParse, "resume token string was not a valid hex string")
        })?;
        let mut rest = Reader(&bytes);
        if rest.take(1) != Some(&[0x82]) {
            return Err(Error::new(50795, "Invalid resume token: it begins with no timestamp"));
        }
        let time = rest.take(8).and_then(|time| time.try_into().ok()).map(u64::from_be_bytes);
        let time = time.map(ClusterTime::from_timestamp);
        let (Some(time), Some(2)) = (time, rest.number()) else {
            return Err(Error::new(50796, "Invalid resume token: wrong version or type"));
        };
        let parsed = match rest.number() {
            Some(0) => Some(Self::Time(time)),
            Some(128) => rest.event(time, &bytes).map(Self::Event),
            _ => return Err(Error::new(50797, "Invalid resume token: wrong type")),
        };
        parsed.ok_or_else(|| {
            let data: String = data.chars().take(500).collect();
            let message = format!("the resume token is damaged. {{_data: \"{data}\"}}");
            Error::new(InvalidResumeToken, message)
        })
    }
}

/// Appends a number: the first byte determines the length of its double.
fn push_number(number: u64, out: &mut Vec<u8>) {
    if number == 0 {
        out.push(0x29);
        return;
    }
    let doubled = number << 1;
    let bytes = doubled.to_be_bytes();
    let start = usize::try_from(doubled.leading_zeros() / 8).unwrap_or(0);
    let digits = bytes.get(start..).unwrap_or_default();
    out.push(0x2A + u8::try_from(digits.len()).unwrap_or(8));
    out.extend_from_slice(digits);
}

/// Appends a text, which contains no zero byte.
fn push_text(text: &str, out: &mut Vec<u8>) {
    out.push(0x3C);
    out.extend_from_slice(text.as_bytes());
    out.push(0);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |digit: &u8| char::from(*digit).to_digit(16).and_then(|it| u8::try_from(it).ok());
    let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect()
}

/// Returns a checksum (FNV-1a) by which changed characters are noticed.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

/// The unread rest of a token.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let length = match self.take(1)? {
            [0x29] => return Some(0),
            [first @ 0x2B..=0x32] => usize::from(first - 0x2A),
            _ => return None,
        };
        let digits = self.take(length)?.iter();
        Some(digits.fold(0_u64, |number, digit| number << 8 | u64::from(*digit)) >> 1)
    }

    fn text(&mut self) -> Option<&'a str> {
        if self.take(1)? != [0x3C] {
            return None;
        }
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = std::str::from_utf8(self.take(end)?).ok()?;
        self.take(1)?;
        Some(text)
    }

    /// Reads the rest of the token of an event; `None` if it is damaged.
    fn event(&mut self, time: ClusterTime, whole: &[u8]) -> Option<EventToken> {
        let operation = u32::try_from(self.number()?).ok()?;
        let invalidates = match self.take(1)? {
            [0x6E] => false,
            [0x6F] => true,
            _ => return None,
        };
        let (b"\x5A\x10\x04", uuid) = (self.take(3)?, self.take(16)?) else { return None };
        let (b"\x46", "operationType") = (self.take(1)?, self.text()?) else { return None };
        let kind = self.text()?.to_owned();
        let "documentKey" = self.text()? else { return None };
        let before = whole.get(..whole.len().checked_sub(self.0.len())?)?;
        let (row_key, sum) = self.text().and_then(|text| {
            let (row_key, sum) = text.split_at_checked(text.len().checked_sub(CHECKSUM)?)?;
            Some((unhex(row_key)?, u32::from_str_radix(sum, 16).ok()?))
        })?;
        if checksum(&[before, &row_key].concat()) != sum || self.take(1)? != [0] {
            return None;
        }
        let fragment = match self.0 {
            [0x04] => None,
            _ => Some(u32::try_from(self.number()?).ok()?),
        };
        (self.0 == [0x04]).then(|| EventToken {
            time,
            operation,
            uuid: uuid.try_into().unwrap_or_default(),
            row_key: row_key.into(),
            kind,
            invalidates,
            fragment,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> EventToken {
        EventToken {
            time: ClusterTime::new(0x6500_0000, 7 << 20 | 3),
            operation: 0,
            uuid: [9; 16],
            row_key: Bytes::from_static(&[1, 2, 3]),
            kind: "insert".into(),
            invalidates: false,
            fragment: None,
        }
    }

    fn text(token: &Token) -> String {
        let document = token.to_document();
        document.get("_data").and_then(ValueRef::as_str).unwrap().to_owned()
    }

    #[test]
    fn tokens_are_read_as_they_were_written() {
        let time = Token::Time(event().time);
        assert_eq!(text(&time), "8265000000007000032B0429296E1404");
        let all = [
            time,
            Token::Event(event()),
            Token::Event(EventToken { fragment: Some(1), ..event() }),
            Token::Event(EventToken { invalidates: true, ..event() }),
            Token::Event(EventToken { operation: 1, ..event() }),
            Token::Event(EventToken { operation: 1 << 16, ..event() }),
            Token::Time(event().time.next()),
        ];
        for token in &all {
            assert_eq!(Token::parse(token.to_document().as_ref()).unwrap(), *token);
        }
        assert!(all.iter().map(text).is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn changed_tokens_are_refused() {
        let good = text(&Token::Event(event()));
        let code = |data: &str| {
            let parsed = Token::parse(doc! { "_data": data }.to_buf().as_ref());
            parsed.map_err(|error| error.code)
        };
        for at in 20..good.len() {
            let mut changed = good.clone().into_bytes();
            changed[at] = if changed[at] == b'1' { b'2' } else { b'1' };
            let changed = String::from_utf8(changed).unwrap();
            assert!(code(&changed).is_err(), "{at}: {changed}");
            assert!(code(&good[..at]).is_err());
        }
        assert_eq!(code("xyz"), Err(9));
        assert_eq!(code(""), Err(50795));
        assert_eq!(Token::parse(doc! {}.to_buf().as_ref()).unwrap_err().code, 40647);
    }
}
