//! Validates BSON bytes before any decoder reads them, with an iterative check that counts depth.
//! It allocates one small stack and never recurses, so nesting cannot exhaust the call stack.
//!
//! Readers of raw bytes rely on the result: lengths agree with the bytes, names and texts are
//! UTF-8, documents end with a NUL, and nothing is nested too deeply. The walk keeps a stack of the
//! ends of the open documents; an element may not extend beyond the innermost end.

use std::{fmt, ops::Range};

use crate::value::raw::{i32_at, length_at, nul_after};

/// Largest document a client may store, in bytes (MongoDB: 16,777,216).
pub const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;
/// Deepest nesting of a stored document; the same limit as in MongoDB.
pub const MAX_STORED_DEPTH: usize = 180;
/// Deepest nesting accepted on the wire (libbson and MongoDB's server: 200).
pub const MAX_WIRE_DEPTH: usize = 200;
/// Smallest well-formed document: its length and the terminating NUL.
const MIN_DOCUMENT_BYTES: usize = 5;

/// Reason why bytes were refused as a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// A length is negative, too small, or does not agree with the bytes.
    Length,
    /// A required NUL is missing.
    Terminator,
    /// A string or name is not UTF-8.
    Utf8,
    /// An unknown element type code.
    Kind(u8),
    /// A boolean byte other than 0 and 1.
    Bool,
    /// The nesting exceeds this many levels.
    Depth(usize),
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length => f.write_str("a BSON length does not agree with its bytes"),
            Self::Terminator => f.write_str("a BSON terminator is missing"),
            Self::Utf8 => f.write_str("BSON text is not valid UTF-8"),
            Self::Kind(code) => write!(f, "unknown BSON type 0x{code:02x}"),
            Self::Bool => f.write_str("a BSON boolean is neither 0 nor 1"),
            Self::Depth(limit) => write!(f, "BSON nested deeper than {limit} levels"),
        }
    }
}

impl std::error::Error for Invalid {}

/// Checks that `bytes` is exactly one well-formed document within the wire's depth limit; returns
/// the number of its elements at all levels.
pub fn validate(bytes: &[u8]) -> Result<usize, Invalid> {
    check_bytes(bytes, MAX_WIRE_DEPTH, 0).map(|checked| checked.elements)
}

/// The result for a document that is well-formed except for text that is not UTF-8.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Number of elements at all levels.
    pub elements: usize,
    /// Ranges of the texts and names that are not UTF-8, in the order of the bytes.
    pub not_utf8: Vec<Range<usize>>,
}

/// Checks that `bytes` is exactly one well-formed document within the wire's depth limit, but
/// accepts up to `most` texts and names that are not UTF-8, and returns their ranges. They must be
/// replaced before the document is passed to any reader.
pub fn validate_but_text(bytes: &[u8], most: usize) -> Result<Checked, Invalid> {
    check_bytes(bytes, MAX_WIRE_DEPTH, most)
}

/// Checks that `bytes` is exactly one well-formed document of at most `max_depth` levels. It is
/// used for documents that are to be stored, whose limit is lower than the wire's.
pub fn validate_depth(bytes: &[u8], max_depth: usize) -> Result<(), Invalid> {
    check_bytes(bytes, max_depth, 0).map(|_| ())
}

/// Checks one document of at most `max_depth` levels and at most `most_not_utf8` texts that are not
/// UTF-8. Returns the first error in the order of the bytes.
fn check_bytes(bytes: &[u8], max_depth: usize, most_not_utf8: usize) -> Result<Checked, Invalid> {
    let found = Checked::default();
    let ends = Vec::with_capacity(8);
    let mut walk = BytesWalk { bytes, at: 0, ends, max_depth, most_not_utf8, found };
    walk.enter_document(0, bytes.len())?;
    // Bytes after the document are refused, too: its length must be that of `bytes`.
    if walk.ends.first() != Some(&bytes.len()) {
        return Err(Invalid::Length);
    }
    while let Some(end) = walk.ends.last().copied() {
        walk.check_next(end)?;
    }
    Ok(walk.found)
}

/// A walk over unchecked bytes. It keeps its own stack of open documents, so nesting does not use
/// the call stack.
struct BytesWalk<'a> {
    bytes: &'a [u8],
    /// Offset of the next element.
    at: usize,
    /// The end of each open document, outermost first. The stack's length is the depth.
    ends: Vec<usize>,
    /// Maximum number of open documents.
    max_depth: usize,
    /// Maximum number of texts that are not UTF-8.
    most_not_utf8: usize,
    found: Checked,
}

impl BytesWalk<'_> {
    /// Enters the document that starts at `start` and must end by `limit`. Its terminating NUL is
    /// checked here, so that elements need not check it.
    fn enter_document(&mut self, start: usize, limit: usize) -> Result<(), Invalid> {
        // Checked before the length, so that the depth error is reported first.
        if self.ends.len() == self.max_depth {
            return Err(Invalid::Depth(self.max_depth));
        }
        let len = length_at(self.bytes, start).ok_or(Invalid::Length)?;
        let end = start.checked_add(len).ok_or(Invalid::Length)?;
        if len < MIN_DOCUMENT_BYTES || limit < end {
            return Err(Invalid::Length);
        }
        if self.bytes.get(end - 1) != Some(&0) {
            return Err(Invalid::Terminator);
        }
        self.ends.push(end);
        self.at = start + 4;
        Ok(())
    }

    /// Checks one element of the innermost document, or leaves the document at its end. `end` is
    /// the end of that document, whose last byte is the NUL that was checked on entry. The NUL must
    /// be reached exactly: a value that extends into it is refused.
    fn check_next(&mut self, end: usize) -> Result<(), Invalid> {
        let last = end - 1;
        if self.at == last {
            self.ends.pop();
            self.at = end;
            return Ok(());
        }
        // Counted for callers that charge work by the number of elements.
        self.found.elements += 1;
        let kind = *self.bytes.get(self.at).ok_or(Invalid::Length)?;
        // The name is checked before the type, since it ends where the value starts.
        let value = self.check_cstring(self.at + 1, last)?;
        match kind {
            0x03 | 0x04 => return self.enter_document(value, last),
            0x0f => return self.code_with_scope(value, last),
            _ => {}
        }
        // The limit is the end of the innermost document, not of the message.
        self.at = self.check_scalar(kind, value, last)?;
        if last < self.at { Err(Invalid::Length) } else { Ok(()) }
    }

    /// Checks a C string at `at` that must end before `limit`; returns the offset after its NUL.
    fn check_cstring(&mut self, at: usize, limit: usize) -> Result<usize, Invalid> {
        // The NUL must precede the document's own terminator, which does not end a string.
        let end = nul_after(self.bytes, at).filter(|end| *end < limit);
        let end = end.ok_or(Invalid::Terminator)?;
        self.check_utf8(at, end)?;
        Ok(end + 1)
    }

    /// Checks that these bytes are UTF-8, or records that they are not.
    fn check_utf8(&mut self, from: usize, to: usize) -> Result<(), Invalid> {
        let text = self.bytes.get(from..to).ok_or(Invalid::Length)?;
        if str::from_utf8(text).is_ok() {
            return Ok(());
        }
        if self.most_not_utf8 <= self.found.not_utf8.len() {
            return Err(Invalid::Utf8);
        }
        self.found.not_utf8.push(from..to);
        Ok(())
    }

    /// Checks a length-prefixed string; returns the offset after its NUL, which the length
    /// includes.
    fn check_string(&mut self, at: usize, limit: usize) -> Result<usize, Invalid> {
        let len = length_at(self.bytes, at).filter(|len| 0 < *len).ok_or(Invalid::Length)?;
        let start = at + 4;
        let end = start.checked_add(len).filter(|end| *end <= limit).ok_or(Invalid::Length)?;
        if self.bytes.get(end - 1) != Some(&0) {
            return Err(Invalid::Terminator);
        }
        self.check_utf8(start, end - 1)?;
        Ok(end)
    }

    /// Checks a value without nested documents; returns the offset after it.
    fn check_scalar(&mut self, kind: u8, at: usize, limit: usize) -> Result<usize, Invalid> {
        let end = match kind {
            // Double, date, timestamp, int64.
            0x01 | 0x09 | 0x11 | 0x12 => at + 8,
            // String, code, symbol.
            0x02 | 0x0d | 0x0e => self.check_string(at, limit)?,
            0x05 => self.check_binary(at, limit)?,
            // Undefined, null, MaxKey and MinKey have no value bytes.
            0x06 | 0x0a | 0x7f | 0xff => at,
            0x07 => at + 12,
            0x08 => match self.bytes.get(at) {
                Some(0 | 1) => at + 1,
                _ => return Err(Invalid::Bool),
            },
            // A regular expression is two C strings, its pattern and its options.
            0x0b => {
                let options = self.check_cstring(at, limit)?;
                self.check_cstring(options, limit)?
            }
            // A DBPointer is a string and an ObjectId.
            0x0c => self.check_string(at, limit)? + 12,
            0x10 => at + 4,
            0x13 => at + 16,
            other => return Err(Invalid::Kind(other)),
        };
        if limit < end { Err(Invalid::Length) } else { Ok(end) }
    }

    /// Checks binary data, which is opaque except for the inner length of the old subtype 2.
    fn check_binary(&self, at: usize, limit: usize) -> Result<usize, Invalid> {
        let len = length_at(self.bytes, at).ok_or(Invalid::Length)?;
        let end = at.checked_add(5).and_then(|start| start.checked_add(len));
        let end = end.filter(|end| *end <= limit).ok_or(Invalid::Length)?;
        // Readers would trust the inner length of the old subtype.
        if self.bytes.get(at + 4) == Some(&2) {
            let inner = i32_at(self.bytes, at + 5).and_then(|inner| usize::try_from(inner).ok());
            if len < 4 || inner != Some(len - 4) {
                return Err(Invalid::Length);
            }
        }
        Ok(end)
    }

    /// Checks the code of a code-with-scope value and enters its scope as one more level.
    fn code_with_scope(&mut self, at: usize, limit: usize) -> Result<(), Invalid> {
        let len = length_at(self.bytes, at).ok_or(Invalid::Length)?;
        let end = at.checked_add(len).filter(|end| *end <= limit).ok_or(Invalid::Length)?;
        let scope = self.check_string(at + 4, end)?;
        self.enter_document(scope, end)?;
        // The scope must end where the whole value ends.
        if self.ends.last() == Some(&end) { Ok(()) } else { Err(Invalid::Length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        array, doc,
        value::{DocBuilder, Value, ValueRef},
    };

    fn nested(levels: usize) -> Vec<u8> {
        let mut bytes = vec![5, 0, 0, 0, 0];
        for _ in 1..levels {
            let mut outer = Vec::new();
            let len = i32::try_from(bytes.len() + 8).unwrap();
            outer.extend_from_slice(&len.to_le_bytes());
            outer.extend_from_slice(&[3, b'a', 0]);
            outer.append(&mut bytes);
            outer.push(0);
            bytes = outer;
        }
        bytes
    }

    fn sample() -> Vec<u8> {
        let tree = doc! {
            "a": 1, "b": "text", "c": doc! { "d": array![1.5, true, Value::Null] },
            "e": Value::Binary { subtype: 0, bytes: vec![1, 2] },
            "f": Value::Regex { pattern: "x".into(), options: "i".into() },
            "g": Value::JavaScriptWithScope { code: "1".into(), scope: doc! { "x": 1 } },
            "h": Value::Timestamp(7), "i": Value::DateTime(-1), "j": Value::MinKey,
        };
        tree.to_buf().into_bytes().into()
    }

    #[test]
    fn depth_is_counted_not_recursed() {
        assert_eq!(validate_depth(&nested(100), 100), Ok(()));
        assert_eq!(validate_depth(&nested(101), 100), Err(Invalid::Depth(100)));
        assert_eq!(validate(&nested(100_000)), Err(Invalid::Depth(MAX_WIRE_DEPTH)));
    }

    #[test]
    fn every_truncation_is_refused() {
        let bytes = sample();
        assert!(validate(&bytes).is_ok());
        for end in 0..bytes.len() {
            assert!(validate(&bytes[..end]).is_err(), "cut at {end}");
        }
        let mut longer = bytes.clone();
        longer.push(0);
        assert_eq!(validate(&longer), Err(Invalid::Length));
    }

    #[test]
    fn no_single_byte_change_makes_a_walk_panic() {
        let bytes = sample();
        for at in 0..bytes.len() {
            for value in [0, 1, 2, 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = validate(&changed);
                let reader = crate::value::DocRef::Raw(&changed);
                assert!(reader.iter().all(|(name, _)| name.len() < changed.len()));
            }
        }
    }

    #[test]
    fn texts_that_are_not_utf8_are_found_where_they_may_be() {
        let mut builder = DocBuilder::new();
        builder.append_raw(b"a", 0x02, &[3, 0, 0, 0, b'x', 0xff, 0]);
        builder.append_raw(&[b'n', 0xe9], 0x0a, &[]);
        builder.append_raw(b"r", 0x0b, &[0xed, 0xa0, 0x80, 0, b'i', 0]);
        let bytes = builder.finish().into_bytes();
        assert_eq!(validate(&bytes), Err(Invalid::Utf8));
        assert_eq!(validate_but_text(&bytes, 2), Err(Invalid::Utf8));
        let checked = validate_but_text(&bytes, 3).unwrap();
        assert_eq!(checked.elements, 3);
        let texts: Vec<&[u8]> =
            checked.not_utf8.iter().map(|range| &bytes[range.clone()]).collect();
        assert_eq!(texts, [&[b'x', 0xff][..], &[b'n', 0xe9], &[0xed, 0xa0, 0x80]]);
        // Only text that is not UTF-8 is accepted; all other errors are still found.
        for end in 0..bytes.len() {
            assert!(validate_but_text(&bytes[..end], 3).is_err(), "cut at {end}");
        }
        assert_eq!(validate_but_text(&nested(100_000), 3), Err(Invalid::Depth(MAX_WIRE_DEPTH)));
    }

    #[test]
    fn malformed_parts_are_named() {
        let field = |kind: u8, value: &[u8]| {
            let mut builder = DocBuilder::new();
            builder.append_raw(b"a", kind, value);
            builder.finish().into_bytes()
        };
        for (kind, value, want) in [
            (0x08, &[2_u8][..], Invalid::Bool),
            (0x02, &[0, 0, 0, 0][..], Invalid::Length),
            (0x02, &[2, 0, 0, 0, b'a', b'b'][..], Invalid::Terminator),
            (0x02, &[2, 0, 0, 0, 0xff, 0][..], Invalid::Utf8),
            (0x02, &[0xff, 0xff, 0xff, 0x7f, 0][..], Invalid::Length),
            (0x05, &[0xff, 0xff, 0xff, 0xff, 0][..], Invalid::Length),
            (0x05, &[5, 0, 0, 0, 2, 9, 0, 0, 0, 1][..], Invalid::Length),
            (0x20, &[][..], Invalid::Kind(0x20)),
            (0x03, &[4, 0, 0, 0][..], Invalid::Length),
        ] {
            assert_eq!(validate(&field(kind, value)), Err(want), "{kind} {value:?}");
        }
        let mut builder = DocBuilder::new();
        builder.append("\u{e9}", ValueRef::Null);
        let mut bytes = builder.into_vec();
        bytes[5] = 0xff;
        assert_eq!(validate(&bytes), Err(Invalid::Utf8));
    }
}
