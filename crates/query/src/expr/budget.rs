//! How large and how deep values that evaluation builds may become.

use document::ValueRef;

use crate::{
    Error, Kind,
    limits::{MAX_DOCUMENT_BYTES, MAX_VALUE_DEPTH},
};

/// Fixed cost of a value, close to what BSON needs for its type and position.
const VALUE_BYTES: usize = 8;

/// About the bytes that a value takes.
pub fn weight(value: ValueRef<'_>) -> usize {
    let mut bytes = 0;
    // Too deep is not this function's concern: what is below counts for nothing.
    let _ = add_weight(value, 0, &mut bytes, usize::MAX);
    bytes
}

/// Fails when a value is larger or deeper than a document may be.
pub fn check_built(value: ValueRef<'_>) -> Result<(), Error> {
    let mut bytes = 0;
    add_weight(value, 0, &mut bytes, MAX_DOCUMENT_BYTES)
}

fn add_weight(
    value: ValueRef<'_>,
    depth: usize,
    bytes: &mut usize,
    most: usize,
) -> Result<(), Error> {
    *bytes += VALUE_BYTES;
    if depth > MAX_VALUE_DEPTH {
        return Err(Error::new(
            Kind::TooLarge,
            15,
            format!("Exceeded depth limit of {MAX_VALUE_DEPTH} when building a value"),
        ));
    }
    match value {
        ValueRef::Document(document::DocRef::Raw(raw))
        | ValueRef::Array(document::ArrayRef::Raw(raw)) => *bytes += raw.len(),
        ValueRef::Document(fields) => {
            for (name, value) in fields.iter() {
                *bytes += name.len() + 1;
                add_weight(value, depth + 1, bytes, most)?;
            }
        }
        ValueRef::Array(values) => {
            for value in values.iter() {
                add_weight(value, depth + 1, bytes, most)?;
            }
        }
        ValueRef::String(v) | ValueRef::JavaScript(v) | ValueRef::Symbol(v) => *bytes += v.len(),
        ValueRef::Binary { bytes: held, .. } => *bytes += held.len(),
        ValueRef::Regex { pattern, options } => *bytes += pattern.len() + options.len(),
        _ => {}
    }
    if *bytes > most { Err(too_large(*bytes)) } else { Ok(()) }
}

/// A value of so many bytes is too large.
pub(crate) fn too_large(bytes: usize) -> Error {
    Error::new(
        Kind::TooLarge,
        10334,
        format!(
            "BSONObj size: {bytes} (0x{bytes:X}) is invalid. Size must be between 0 and {}(16MB)",
            MAX_DOCUMENT_BYTES + 16 * 1024
        ),
    )
}
