//! Size and depth limits of values that evaluation builds. A value has two sizes: its encoded size
//! inside a document, which limits stored and sent documents, and its memory as an owned tree of
//! values, which is several times as large.

use document::{ArrayRef, DocRef, MAX_DOCUMENT_BYTES, Value, ValueRef};

use crate::error::{
    Error, Kind,
    numbers::{STRING_TOO_LARGE, TOO_DEEP, VALUE_TOO_LARGE},
};

/// Maximum nesting of a value that evaluation builds: a stored document plus the levels that stages
/// add.
pub const MAX_VALUE_DEPTH: usize = 200;
/// Maximum size of a returned document, in bytes: a stored one plus some metadata.
pub const MAX_RETURNED_BYTES: usize = MAX_DOCUMENT_BYTES + 16 * 1024;
/// Maximum size of a document between two stages, in bytes; a later stage may make it smaller.
/// Building it takes several times as much memory, which is reserved like all memory of the
/// operation.
pub const MAX_MADE_BYTES: usize = 64 * 1024 * 1024;
/// Bytes of a value besides its contents: close to what BSON needs for the type and the name of an
/// array position.
const VALUE_BYTES: usize = 8;

/// The size of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Approximate bytes that the value takes in an encoded document.
    pub bytes: usize,
    /// Approximate bytes of memory that the value takes as a [`Value`].
    pub memory: usize,
}

impl Size {
    /// Returns the size of a value. Levels that are nested too deeply are not counted.
    pub fn of_value(value: ValueRef<'_>) -> Self {
        let mut size = Self::default();
        let _ = add_value(value, 0, &mut size, usize::MAX);
        size
    }

    /// Returns the size of a string of this number of bytes.
    pub fn of_text(bytes: usize) -> Self {
        Self { bytes: VALUE_BYTES + bytes, memory: size_of::<Value>() + bytes }
    }
}

/// Returns the approximate memory of a value as an owned tree, in bytes.
pub fn memory_of(value: ValueRef<'_>) -> usize {
    Size::of_value(value).memory
}

/// Returns the size of a value. Fails if it exceeds the size or depth limit of values between two
/// stages.
pub fn check_built(value: ValueRef<'_>) -> Result<Size, Error> {
    let mut size = Size::default();
    add_value(value, 0, &mut size, MAX_MADE_BYTES)?;
    Ok(size)
}

/// Returns the size of a value that is part of another one. Fails if it exceeds the size or depth
/// limit of values between two stages.
pub fn check_part(value: ValueRef<'_>) -> Result<Size, Error> {
    let mut size = Size::default();
    add_value(value, 1, &mut size, MAX_MADE_BYTES)?;
    Ok(size)
}

/// Returns the approximate bytes that reading a value takes, without reading it. Of a tree only the
/// top-level fields are counted.
pub fn readable_bytes(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::String(text) | ValueRef::Symbol(text) => text.len(),
        ValueRef::Document(DocRef::Raw(raw)) | ValueRef::Array(ArrayRef::Raw(raw)) => raw.len(),
        ValueRef::Document(DocRef::Tree(fields)) => fields.len().saturating_mul(16),
        ValueRef::Array(ArrayRef::Tree(values)) => values.len().saturating_mul(16),
        _ => 0,
    }
}

/// Adds the size of a value and of everything in it. Fails once it exceeds `most`, or the maximum
/// depth.
fn add_value(value: ValueRef<'_>, depth: usize, size: &mut Size, most: usize) -> Result<(), Error> {
    size.bytes += VALUE_BYTES;
    size.memory += size_of::<Value>();
    if depth > MAX_VALUE_DEPTH {
        return Err(Error::new(
            Kind::TooLarge,
            TOO_DEEP,
            format!("Exceeded depth limit of {MAX_VALUE_DEPTH} when building a value"),
        ));
    }
    let mut grow = |bytes: usize, memory: usize| {
        size.bytes += bytes;
        size.memory += memory;
    };
    match value {
        ValueRef::String(text) if most != usize::MAX => check_text(text.len())?,
        _ => {}
    }
    match value {
        ValueRef::Document(fields) => {
            for (name, value) in fields.iter() {
                size.bytes += name.len() + 1;
                size.memory += name.len() + size_of::<String>();
                add_value(value, depth + 1, size, most)?;
            }
        }
        ValueRef::Array(values) => {
            for value in values.iter() {
                add_value(value, depth + 1, size, most)?;
            }
        }
        ValueRef::String(v) | ValueRef::JavaScript(v) | ValueRef::Symbol(v) => {
            grow(v.len(), v.len());
        }
        ValueRef::Binary { bytes: held, .. } => grow(held.len(), held.len()),
        ValueRef::Regex { pattern, options } => {
            grow(pattern.len() + options.len(), pattern.len() + options.len());
        }
        _ => {}
    }
    if size.bytes > most { Err(too_large(size.bytes)) } else { Ok(()) }
}

/// Fails if a string of this number of bytes would exceed the maximum size of a document.
pub fn check_text(bytes: usize) -> Result<(), Error> {
    if bytes < MAX_DOCUMENT_BYTES {
        return Ok(());
    }
    let text = "Tried to create string longer than 16MB";
    Err(Error::new(Kind::TooLarge, STRING_TOO_LARGE, text))
}

/// Returns the error for a value of this number of bytes. Its text names the limit of returned
/// documents, which users know.
pub fn too_large(bytes: usize) -> Error {
    Error::new(
        Kind::TooLarge,
        VALUE_TOO_LARGE,
        format!(
            "BSONObj size: {bytes} (0x{bytes:X}) is invalid. Size must be between 0 and {}(16MB)",
            MAX_RETURNED_BYTES
        ),
    )
}
