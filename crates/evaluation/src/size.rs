//! How large and how deep values that evaluation builds may become. A value has two sizes: what it
//! would take inside a document, which bounds what is stored and sent, and what its tree takes in
//! memory, which is several times that.

use document::{ArrayRef, DocRef, Value, ValueRef};

use crate::{
    error::{Error, Kind},
    limits::{MAX_DOCUMENT_BYTES, MAX_MADE_BYTES, MAX_RETURNED_BYTES, MAX_VALUE_DEPTH},
    numbers::{STRING_TOO_LARGE, TOO_DEEP, VALUE_TOO_LARGE},
};

/// What every value counts beside its contents: close to what BSON needs for its type and its
/// position's name.
const VALUE_BYTES: usize = 8;

/// How large a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// As a part of a document, about.
    pub bytes: usize,
    /// As owned values in memory, about.
    pub memory: usize,
}

impl Size {
    /// That of a value; what is too deep counts for nothing.
    pub fn of_value(value: ValueRef<'_>) -> Self {
        let mut size = Self::default();
        let _ = add_value(value, 0, &mut size, usize::MAX);
        size
    }

    /// That of a text of so many bytes.
    pub fn of_text(bytes: usize) -> Self {
        Self { bytes: VALUE_BYTES + bytes, memory: size_of::<Value>() + bytes }
    }
}

/// About the bytes that a value takes in memory of its own.
pub fn memory_of(value: ValueRef<'_>) -> usize {
    Size::of_value(value).memory
}

/// Fails when a value is larger or deeper than one may become between two stages; else returns its
/// size.
pub fn check_built(value: ValueRef<'_>) -> Result<Size, Error> {
    let mut size = Size::default();
    add_value(value, 0, &mut size, MAX_MADE_BYTES)?;
    Ok(size)
}

/// The same for a value that is part of another one.
pub fn check_part(value: ValueRef<'_>) -> Result<Size, Error> {
    let mut size = Size::default();
    add_value(value, 1, &mut size, MAX_MADE_BYTES)?;
    Ok(size)
}

/// About how many bytes there are to read in a value, known without reading it. A tree's fields are
/// counted, not followed.
pub fn readable_bytes(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::String(text) | ValueRef::Symbol(text) => text.len(),
        ValueRef::Document(DocRef::Raw(raw)) | ValueRef::Array(ArrayRef::Raw(raw)) => raw.len(),
        ValueRef::Document(DocRef::Tree(fields)) => fields.len().saturating_mul(16),
        ValueRef::Array(ArrayRef::Tree(values)) => values.len().saturating_mul(16),
        _ => 0,
    }
}

/// Adds the size of a value and of all it holds; stops with an error once it is more than `most`,
/// or too deep.
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

/// Fails when an expression would make a text of so many bytes, which no document has room for.
pub fn check_text(bytes: usize) -> Result<(), Error> {
    if bytes < MAX_DOCUMENT_BYTES {
        return Ok(());
    }
    let text = "Tried to create string longer than 16MB";
    Err(Error::new(Kind::TooLarge, STRING_TOO_LARGE, text))
}

/// A value of so many bytes is too large. The text names the limit of documents that are returned,
/// which is the one that users know.
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
