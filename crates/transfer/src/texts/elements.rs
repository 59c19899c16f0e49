//! The elements of a JSON array that is a whole file. Each is as long as its brackets and quotes say; what is
//! wrong within one is for who reads it, what is wrong between two ends the file.

use super::{Bytes, Text, bounded::Bounded};

pub(crate) struct Elements {
    bytes: Bytes,
    expected: Expected,
}

/// What may stand next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// An element, or the end of an array that has none.
    First,
    /// A comma, or the end.
    Comma,
    /// An element, behind a comma.
    Element,
    /// Nothing: the array has ended.
    Nothing,
}

impl Elements {
    /// Behind the bracket with which the array begins.
    pub(super) const fn at_first(bytes: Bytes) -> Self {
        Self { bytes, expected: Expected::First }
    }

    /// Behind an element.
    pub(super) const fn behind_one(bytes: Bytes) -> Self {
        Self { bytes, expected: Expected::Comma }
    }

    pub(super) fn next_text(&mut self) -> Result<Option<Text>, String> {
        loop {
            let found = self.bytes.next_of_text()?;
            let line = self.bytes.at.line;
            let wrong = |what: &str| Err(format!("line {line}: {what}"));
            self.expected = match (self.expected, found) {
                (Expected::Nothing, None) => return Ok(None),
                (Expected::Nothing, Some(_)) => return wrong("something stands behind the array"),
                (_, None) => return wrong("the array has no end"),
                (Expected::First | Expected::Comma, Some(b']')) => Expected::Nothing,
                (Expected::Comma, Some(b',')) => Expected::Element,
                (Expected::Comma, _) => return wrong("a comma or the end of the array is missing"),
                (Expected::First | Expected::Element, Some(b',' | b']')) => {
                    return wrong("a document is missing");
                }
                (Expected::First | Expected::Element, Some(_)) => {
                    self.expected = Expected::Comma;
                    let text = self.element()?;
                    let (next, is_whole) = (self.bytes.at, text.is_whole());
                    return Ok(Some(Text { line, next, bytes: text.bytes, is_whole }));
                }
            };
            self.bytes.take(1);
        }
    }

    /// The element that begins here.
    fn element(&mut self) -> Result<Bounded, String> {
        let mut text = Bounded::default();
        let mut scan = Scan::default();
        loop {
            let ahead = self.bytes.ahead()?;
            let end = ahead.iter().position(|byte| scan.ends_before(*byte));
            let length = end.unwrap_or(ahead.len());
            text.push(ahead.get(..length).unwrap_or_default());
            self.bytes.take(length);
            if end.is_some() || length == 0 {
                return Ok(text);
            }
        }
    }
}

/// How far an element has come.
#[derive(Default)]
struct Scan {
    /// Brackets that are open.
    depth: usize,
    in_text: bool,
    /// The byte before, in a text, was a backslash that counts.
    is_escaped: bool,
    /// The bracket that was opened first is closed.
    is_closed: bool,
}

impl Scan {
    /// Takes the next byte, unless the element ends before it.
    const fn ends_before(&mut self, byte: u8) -> bool {
        if self.in_text {
            self.in_text = self.is_escaped || byte != b'"';
            self.is_escaped = !self.is_escaped && byte == b'\\';
            return false;
        }
        match byte {
            _ if self.is_closed => return true,
            b'"' => self.in_text = true,
            b'{' | b'[' => self.depth += 1,
            b']' | b',' if self.depth == 0 => return true,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.is_closed = self.depth == 0;
            }
            _ => return self.depth == 0 && byte.is_ascii_whitespace(),
        }
        false
    }
}
