//! Measures the nesting depth of a document that is known to be well-formed; scalar values are
//! skipped.

use crate::value::raw::{length_at, nul_after, value_len};

/// Minimum size of a nesting level: its type, the NUL of its name, a length and a terminator. It
/// lets short documents, which are the most common, skip the walk.
const LEVEL_BYTES: usize = 7;

/// Returns whether a well-formed document has at most `max` levels. Malformed bytes are judged by
/// the part that can be read. A document that is too short for more levels is not walked.
pub fn depth_within(bytes: &[u8], max: usize) -> bool {
    if bytes.len() / LEVEL_BYTES < max {
        return true;
    }
    let mut ends = vec![bytes.len()];
    let mut at = 4;
    // An explicit stack of document ends instead of recursion: depth uses heap memory, not call
    // stack.
    while let Some(end) = ends.last().copied() {
        match element_at(bytes, at, end) {
            None => {
                at = end;
                ends.pop();
            }
            Some(Inner::Passed(next)) => at = next,
            Some(Inner::Entered { start, end }) => {
                if ends.len() == max {
                    return false;
                }
                ends.push(end);
                at = start;
            }
        }
    }
    true
}

/// The element at a position: a value to skip, or a document or array to enter.
enum Inner {
    /// A scalar value, which is skipped; contains the offset of the element after it.
    Passed(usize),
    /// The range of the elements of the document or array.
    Entered { start: usize, end: usize },
}

/// Classifies the element at `at`. Returns `None` at the end of its document, and where bytes are
/// malformed, which ends that document early: only the validator reports errors.
fn element_at(bytes: &[u8], at: usize, end: usize) -> Option<Inner> {
    let kind = *bytes.get(at)?;
    if kind == 0 || end <= at {
        return None;
    }
    let value = nul_after(bytes, at + 1)? + 1;
    let past = value.checked_add(value_len(kind, bytes, value)?)?;
    Some(match kind {
        0x03 | 0x04 => Inner::Entered { start: value + 4, end: past },
        // The scope follows the total length and the code.
        0x0f => {
            let scope = (value + 8).checked_add(length_at(bytes, value + 4)?)?;
            Inner::Entered { start: scope + 4, end: past }
        }
        _ => Inner::Passed(past),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        validate::validate_depth,
        value::{DocBuf, DocBuilder, Value, ValueRef},
    };

    fn nested(levels: usize, kind: u8) -> DocBuf {
        let mut inner = DocBuilder::new();
        inner.append("padding", ValueRef::String(&"x".repeat(2_000)));
        let mut bytes = inner.into_vec();
        for _ in 1..levels {
            let mut outer = DocBuilder::new();
            outer.append("before", ValueRef::Int32(1));
            if kind == 0x0f {
                let mut value = i32::try_from(bytes.len() + 9).unwrap().to_le_bytes().to_vec();
                value.extend_from_slice(&[1, 0, 0, 0, 0]);
                value.extend_from_slice(&bytes);
                outer.append_raw(b"s", kind, &value);
            } else {
                outer.append_raw(b"s", kind, &bytes);
            }
            outer.append("after", Value::from("text").as_ref());
            bytes = outer.into_vec();
        }
        DocBuf::from_trusted(bytes)
    }

    #[test]
    fn agrees_with_the_validator() {
        for kind in [0x03, 0x04, 0x0f] {
            for levels in [1, 2, 3, 9, 10, 11, 50] {
                let document = nested(levels, kind);
                for max in [1, 2, 9, 10, 11, 49, 50, 51] {
                    let valid = validate_depth(document.bytes(), max).is_ok();
                    let found = depth_within(document.bytes(), max);
                    assert_eq!(found, valid, "{levels} levels of {kind:#x} within {max}");
                }
            }
        }
    }
}
