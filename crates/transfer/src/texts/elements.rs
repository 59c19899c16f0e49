//! Splits a file that consists of one JSON array into its elements. Brackets and quotes determine
//! the end of an element. Errors within an element are left to the parser; after an error between
//! two elements, reading cannot continue.

use super::{Bounded, Bytes, Text};

pub(crate) struct Elements {
    bytes: Bytes,
    expected: Expected,
}

/// The token that may follow in the array.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    /// An element, or the end of an empty array.
    First,
    /// A comma or the end of the array.
    Comma,
    /// An element, after a comma.
    Element,
    /// Nothing, after the end of the array.
    Nothing,
}

impl Elements {
    /// Creates a reader at the position after the opening bracket of the array.
    pub(super) const fn at_first(bytes: Bytes) -> Self {
        Self { bytes, expected: Expected::First }
    }

    /// Creates a reader at the position after an element of the array.
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
                (Expected::Nothing, Some(_)) => return wrong("trailing data after the array"),
                (_, None) => return wrong("the array is not closed"),
                (Expected::First | Expected::Comma, Some(b']')) => Expected::Nothing,
                (Expected::Comma, Some(b',')) => Expected::Element,
                (Expected::Comma, _) => return wrong("a comma or the end of the array is missing"),
                (Expected::First | Expected::Element, Some(b',' | b']')) => {
                    return wrong("a document is missing");
                }
                (Expected::First | Expected::Element, Some(_)) => {
                    self.expected = Expected::Comma;
                    let text = self.element()?;
                    let (next, is_complete) = (self.bytes.at, text.is_complete());
                    return Ok(Some(Text { line, next, bytes: text.bytes, is_complete }));
                }
            };
            self.bytes.take(1);
        }
    }

    /// Reads the element at the current position.
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

/// State of the search for the end of an element.
#[derive(Default)]
struct Scan {
    /// Number of brackets that are open.
    depth: usize,
    in_text: bool,
    /// Whether the preceding byte in a string was an escaping backslash.
    is_escaped: bool,
    /// Whether the element's first bracket was closed.
    is_closed: bool,
}

impl Scan {
    /// Processes the next byte; returns true if the element ends before this byte.
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
