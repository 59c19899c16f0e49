//! Walks the elements of a raw document in place. The bytes are expected to be well-formed; on
//! malformed bytes a walk ends early and nothing panics: integers and lengths are read with bounds
//! checks, since the bytes come from clients or from disk.
//!
//! An element is a type code, a NUL-terminated name, and a value whose length follows from its type
//! or is stored as its first bytes:
//!
//! ```text
//! length   | 02 | a 00 | 02 00 00 00 x 00 | 10 | b 00 | 2a 00 00 00 | 00
//! document   type name   string value       type name   int32 value  terminator
//! ```

use super::{ArrayRef, DocRef, ValueRef};
use crate::{decimal::Decimal128, object_id::ObjectId};

/// One element of a raw document, its value still encoded.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    /// Type code of the BSON element.
    pub kind: u8,
    /// Field name without its NUL.
    pub name: &'a [u8],
    /// The value in its BSON encoding.
    pub value: &'a [u8],
}

impl<'a> Element<'a> {
    /// Decodes the value; returns `None` if its bytes are malformed.
    pub fn decode(self) -> Option<ValueRef<'a>> {
        decode(self.kind, self.value)
    }

    /// Returns the field name; malformed UTF-8, which the validator excludes, reads as an empty
    /// name.
    pub fn name_str(self) -> &'a str {
        str::from_utf8(self.name).unwrap_or_default()
    }
}

/// An iterator over the elements of a raw document that does not decode values.
#[derive(Clone, Debug)]
pub struct RawElements<'a> {
    bytes: &'a [u8],
    /// Offset of the next element.
    at: usize,
}

/// Alias of `RawElements` for other crates.
pub type Reader<'a> = RawElements<'a>;

impl<'a> RawElements<'a> {
    /// Starts at the first element of a document's bytes.
    pub fn new(document: &'a [u8]) -> Self {
        Self { bytes: document, at: 4 }
    }
}

impl<'a> Iterator for RawElements<'a> {
    type Item = Element<'a>;

    #[inline]
    fn next(&mut self) -> Option<Element<'a>> {
        let (element, next) = element_at(self.bytes, self.at)?;
        self.at = next;
        Some(element)
    }
}

/// Returns the element at an offset and the offset after it; `None` at the terminating NUL.
#[inline]
pub fn element_at(bytes: &[u8], at: usize) -> Option<(Element<'_>, usize)> {
    let kind = *bytes.get(at)?;
    if kind == 0 {
        return None;
    }
    let end_of_name = nul_after(bytes, at + 1)?;
    let start = end_of_name + 1;
    let end = start.checked_add(value_len(kind, bytes, start)?)?;
    let element =
        Element { kind, name: bytes.get(at + 1..end_of_name)?, value: bytes.get(start..end)? };
    Some((element, end))
}

/// Returns the length of an encoded value as its own prefix declares it. The length is not checked
/// here: callers slice the bytes by it, which fails if they end earlier. An unknown type returns
/// `None`, which ends the walk.
pub(crate) fn value_len(kind: u8, bytes: &[u8], at: usize) -> Option<usize> {
    match kind {
        0x01 | 0x09 | 0x11 | 0x12 => Some(8),
        0x02 | 0x0d | 0x0e => length_at(bytes, at)?.checked_add(4),
        0x03 | 0x04 | 0x0f => length_at(bytes, at),
        0x05 => length_at(bytes, at)?.checked_add(5),
        0x06 | 0x0a | 0x7f | 0xff => Some(0),
        0x07 => Some(12),
        0x08 => Some(1),
        0x0b => Some(nul_after(bytes, nul_after(bytes, at)? + 1)? + 1 - at),
        0x0c => length_at(bytes, at)?.checked_add(16),
        0x10 => Some(4),
        0x13 => Some(16),
        _ => None,
    }
}

fn text(bytes: &[u8]) -> Option<&str> {
    // The length counts the NUL: the text ends 4 - 1 bytes after it.
    let end = length_at(bytes, 0)?.checked_add(3)?;
    str::from_utf8(bytes.get(4..end)?).ok()
}

/// Decodes the 12 bytes of an ObjectId.
fn object_id(bytes: &[u8]) -> Option<ObjectId> {
    Some(ObjectId(bytes.try_into().ok()?))
}

/// Decodes an encoded value of this type.
pub(crate) fn decode(kind: u8, bytes: &[u8]) -> Option<ValueRef<'_>> {
    Some(match kind {
        0x01 => ValueRef::Double(f64::from_le_bytes(bytes.try_into().ok()?)),
        0x02 => ValueRef::String(text(bytes)?),
        0x03 => ValueRef::Document(DocRef::Raw(bytes)),
        0x04 => ValueRef::Array(ArrayRef::Raw(bytes)),
        0x05 => ValueRef::Binary { subtype: *bytes.get(4)?, bytes: bytes.get(5..)? },
        0x06 => ValueRef::Undefined,
        0x07 => ValueRef::ObjectId(object_id(bytes)?),
        0x08 => ValueRef::Bool(*bytes.first()? != 0),
        0x09 => ValueRef::DateTime(i64_at(bytes, 0)?),
        0x0a => ValueRef::Null,
        0x0b => {
            let end = nul_after(bytes, 0)?;
            let options = bytes.get(end + 1..bytes.len().checked_sub(1)?)?;
            ValueRef::Regex {
                pattern: str::from_utf8(bytes.get(..end)?).ok()?,
                options: str::from_utf8(options).ok()?,
            }
        }
        0x0c => ValueRef::DbPointer {
            namespace: text(bytes)?,
            id: object_id(bytes.get(bytes.len().checked_sub(12)?..)?)?,
        },
        0x0d => ValueRef::JavaScript(text(bytes)?),
        0x0e => ValueRef::Symbol(text(bytes)?),
        0x0f => {
            let code = bytes.get(4..)?;
            let scope = length_at(code, 0)?.checked_add(4)?;
            ValueRef::JavaScriptWithScope {
                code: text(code)?,
                scope: DocRef::Raw(code.get(scope..)?),
            }
        }
        0x10 => ValueRef::Int32(i32_at(bytes, 0)?),
        0x11 => ValueRef::Timestamp(u64::from_le_bytes(bytes.try_into().ok()?)),
        0x12 => ValueRef::Int64(i64_at(bytes, 0)?),
        0x13 => ValueRef::Decimal128(Decimal128::from_le_bytes(bytes.try_into().ok()?)),
        0x7f => ValueRef::MaxKey,
        0xff => ValueRef::MinKey,
        _ => return None,
    })
}

/// Returns the value of the first field with this name.
pub(crate) fn find<'a>(document: &'a [u8], name: &str) -> Option<ValueRef<'a>> {
    RawElements::new(document).find(|element| element.name == name.as_bytes())?.decode()
}

/// Returns the value of the first field with this name, and the number of fields whose names were
/// compared, including the field found.
pub(crate) fn search<'a>(document: &'a [u8], name: &str) -> (Option<ValueRef<'a>>, usize) {
    let mut looked = 0;
    let mut elements = RawElements::new(document).inspect(|_| looked += 1);
    let found = elements.find(|element| element.name == name.as_bytes());
    (found.and_then(|element| element.decode()), looked)
}

/// Stores in `found[i]` the value of the first field named `names[i]`, for all names in a single
/// pass that stops once every name is found.
pub(crate) fn pick<'a>(
    document: &'a [u8],
    names: &[impl AsRef<str>],
    found: &mut [Option<ValueRef<'a>>],
) {
    let mut missing = names.len();
    let mut elements = RawElements::new(document);
    while 0 < missing
        && let Some(element) = elements.next()
    {
        let place = names.iter().position(|name| name.as_ref().as_bytes() == element.name);
        // Names are distinct; of several fields with one name the first one counts.
        if let Some(value) = place.and_then(|at| found.get_mut(at))
            && value.is_none()
        {
            *value = element.decode();
            missing -= 1;
        }
    }
}

/// An iterator over decoded elements, as names and values. It ends early at a malformed value.
#[derive(Clone, Debug)]
pub(crate) struct Elements<'a>(RawElements<'a>);

impl<'a> Elements<'a> {
    pub(crate) fn new(document: &'a [u8]) -> Self {
        Self(RawElements::new(document))
    }

    /// Returns an iterator without elements.
    pub(crate) fn empty() -> Self {
        Self(RawElements { bytes: &[], at: 0 })
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = (&'a str, ValueRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let element = self.0.next()?;
        Some((element.name_str(), element.decode()?))
    }
}

/// Reads a little-endian `i32` at `at`.
#[inline]
pub(crate) fn i32_at(bytes: &[u8], at: usize) -> Option<i32> {
    Some(i32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

/// Reads a little-endian `i64` at `at`.
#[inline]
pub(crate) fn i64_at(bytes: &[u8], at: usize) -> Option<i64> {
    Some(i64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// Reads a little-endian `i32` length at `at`. A negative length is invalid everywhere in BSON and
/// returns `None`.
#[inline]
pub(crate) fn length_at(bytes: &[u8], at: usize) -> Option<usize> {
    usize::try_from(i32_at(bytes, at)?).ok()
}

/// Returns the offset of the first NUL at or after `at`, counted from the start of `bytes`.
#[inline]
pub(crate) fn nul_after(bytes: &[u8], at: usize) -> Option<usize> {
    bytes.get(at..)?.iter().position(|byte| *byte == 0).map(|offset| at + offset)
}

#[cfg(test)]
mod tests {
    use crate::{
        doc,
        value::{DocRef, Value, ValueRef},
    };

    #[test]
    fn a_search_says_how_far_it_went() {
        let tree = doc! { "a": 1, "b": "x", "a": 2 };
        let raw = tree.to_buf();
        for document in [DocRef::Tree(&tree), raw.as_ref()] {
            for (name, looked) in [("a", 1), ("b", 2), ("none", 3)] {
                let (found, went) = document.search(name);
                let value = |value: Option<ValueRef<'_>>| value.map(ValueRef::to_value);
                assert_eq!(value(found), value(document.get(name)), "{name}");
                assert_eq!(went, looked, "{name}");
            }
        }
    }

    #[test]
    fn picked_values_are_those_that_are_found_one_by_one() {
        let tree = doc! { "a": 1, "b": "x", "aa": doc! { "a": 3 }, "a": 2, "": true };
        let raw = tree.to_buf();
        for document in [DocRef::Tree(&tree), raw.as_ref()] {
            for names in [&["a"][..], &["b", "a"], &["none", "aa", "", "a"], &[]] {
                let mut found = [None; 4];
                document.pick(names, &mut found);
                let value = |value: Option<ValueRef<'_>>| value.map(ValueRef::to_value);
                let want: Vec<Option<Value>> =
                    names.iter().map(|name| value(document.get(name))).collect();
                assert_eq!(found.map(value)[..names.len()], want, "{names:?}");
            }
        }
    }
}
