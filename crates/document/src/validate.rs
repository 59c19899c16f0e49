//! The gate in front of every decoder: an iterative, depth-counting check of BSON bytes.
//! It allocates one small stack and never recurses, so nesting cannot exhaust the thread.

use std::fmt;

use crate::{
    bits::{i32_at, length_at, nul_after},
    limits::{MAX_WIRE_DEPTH, MIN_DOCUMENT_BYTES},
};

/// Why bytes are not an acceptable document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invalid {
    /// A length is negative, too small, or does not agree with the bytes.
    Length,
    /// A NUL is missing where one has to be.
    Terminator,
    /// Text is not UTF-8.
    Utf8,
    /// An unknown element type code.
    Kind(u8),
    /// A boolean byte other than 0 and 1.
    Bool,
    /// Nested deeper than this many levels.
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

/// Checks that `bytes` is exactly one well-formed document within the wire's depth limit; answers
/// how many elements it has at all levels.
pub fn validate(bytes: &[u8]) -> Result<usize, Invalid> {
    walk(bytes, MAX_WIRE_DEPTH)
}

/// Checks that `bytes` is exactly one well-formed document of at most `max_depth` levels.
pub fn validate_depth(bytes: &[u8], max_depth: usize) -> Result<(), Invalid> {
    walk(bytes, max_depth).map(|_| ())
}

fn walk(bytes: &[u8], max_depth: usize) -> Result<usize, Invalid> {
    let mut walk = Walk { bytes, at: 0, ends: Vec::with_capacity(8), max_depth, elements: 0 };
    walk.open(0, bytes.len())?;
    if walk.ends.first() != Some(&bytes.len()) {
        return Err(Invalid::Length);
    }
    while let Some(end) = walk.ends.last().copied() {
        walk.step(end)?;
    }
    Ok(walk.elements)
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Where each open document ends, outermost first.
    ends: Vec<usize>,
    max_depth: usize,
    elements: usize,
}

impl Walk<'_> {
    /// Enters the document that starts at `start` and must end by `limit`.
    fn open(&mut self, start: usize, limit: usize) -> Result<(), Invalid> {
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

    /// One element of the innermost document, or its end.
    fn step(&mut self, end: usize) -> Result<(), Invalid> {
        let last = end - 1;
        if self.at == last {
            self.ends.pop();
            self.at = end;
            return Ok(());
        }
        self.elements += 1;
        let kind = *self.bytes.get(self.at).ok_or(Invalid::Length)?;
        let value = self.cstring(self.at + 1, last)?;
        match kind {
            0x03 | 0x04 => return self.open(value, last),
            0x0f => return self.code_with_scope(value, last),
            _ => {}
        }
        self.at = self.scalar(kind, value, last)?;
        if last < self.at { Err(Invalid::Length) } else { Ok(()) }
    }

    /// Checks a C string at `at` that must end before `limit`; answers the offset behind its NUL.
    fn cstring(&self, at: usize, limit: usize) -> Result<usize, Invalid> {
        let end = nul_after(self.bytes, at).filter(|end| *end < limit);
        let end = end.ok_or(Invalid::Terminator)?;
        self.utf8(at, end)?;
        Ok(end + 1)
    }

    fn utf8(&self, from: usize, to: usize) -> Result<(), Invalid> {
        let text = self.bytes.get(from..to).ok_or(Invalid::Length)?;
        str::from_utf8(text).map(|_| ()).map_err(|_| Invalid::Utf8)
    }

    /// Checks a length-prefixed string; answers the offset behind it.
    fn string(&self, at: usize, limit: usize) -> Result<usize, Invalid> {
        let len = length_at(self.bytes, at).filter(|len| 0 < *len).ok_or(Invalid::Length)?;
        let start = at + 4;
        let end = start.checked_add(len).filter(|end| *end <= limit).ok_or(Invalid::Length)?;
        if self.bytes.get(end - 1) != Some(&0) {
            return Err(Invalid::Terminator);
        }
        self.utf8(start, end - 1)?;
        Ok(end)
    }

    /// Checks a value without nested documents; answers the offset behind it.
    fn scalar(&self, kind: u8, at: usize, limit: usize) -> Result<usize, Invalid> {
        let end = match kind {
            0x01 | 0x09 | 0x11 | 0x12 => at + 8,
            0x02 | 0x0d | 0x0e => self.string(at, limit)?,
            0x05 => self.binary(at, limit)?,
            0x06 | 0x0a | 0x7f | 0xff => at,
            0x07 => at + 12,
            0x08 => match self.bytes.get(at) {
                Some(0 | 1) => at + 1,
                _ => return Err(Invalid::Bool),
            },
            0x0b => self.cstring(self.cstring(at, limit)?, limit)?,
            0x0c => self.string(at, limit)? + 12,
            0x10 => at + 4,
            0x13 => at + 16,
            other => return Err(Invalid::Kind(other)),
        };
        if limit < end { Err(Invalid::Length) } else { Ok(end) }
    }

    /// Binary is opaque; only the inner length of the old subtype 2 has to agree.
    fn binary(&self, at: usize, limit: usize) -> Result<usize, Invalid> {
        let len = length_at(self.bytes, at).ok_or(Invalid::Length)?;
        let end = at.checked_add(5).and_then(|start| start.checked_add(len));
        let end = end.filter(|end| *end <= limit).ok_or(Invalid::Length)?;
        if self.bytes.get(at + 4) == Some(&2) {
            let inner = i32_at(self.bytes, at + 5).and_then(|inner| usize::try_from(inner).ok());
            if len < 4 || inner != Some(len - 4) {
                return Err(Invalid::Length);
            }
        }
        Ok(end)
    }

    /// Checks the code of a code-with-scope and enters its scope as one more level.
    fn code_with_scope(&mut self, at: usize, limit: usize) -> Result<(), Invalid> {
        let len = length_at(self.bytes, at).ok_or(Invalid::Length)?;
        let end = at.checked_add(len).filter(|end| *end <= limit).ok_or(Invalid::Length)?;
        let scope = self.string(at + 4, end)?;
        self.open(scope, end)?;
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
