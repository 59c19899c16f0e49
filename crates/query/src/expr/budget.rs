//! How large and how deep values that evaluation builds may become.

use document::{Value, ValueRef};
use memory::Share;

use super::{Context, Env, Got, Holding};
use crate::{
    Error, Kind,
    limits::{MAX_DOCUMENT_BYTES, MAX_HELD_BYTES, MAX_MADE_BYTES, MAX_VALUE_DEPTH},
};

/// Fixed cost of a value, close to what BSON needs for its type and position.
const VALUE_BYTES: usize = 8;

/// Bytes of a buffer that are not asked for.
const SMALL_BUFFER: usize = 64 * 1024;
/// How often what was written is in memory at most while its buffer grows: there is room for as much
/// again, and the buffer of before.
const BUFFER_COPIES: usize = 3;

/// How large a value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Size {
    /// As a part of a document, about.
    pub(crate) bytes: usize,
    /// As owned values in memory, about.
    pub(crate) memory: usize,
}

impl Size {
    /// That of a value; what is too deep counts for nothing.
    pub(crate) fn of(value: ValueRef<'_>) -> Self {
        let mut size = Self::default();
        let _ = add(value, 0, &mut size, usize::MAX);
        size
    }

    /// That of a text of so many bytes.
    pub(crate) fn of_text(bytes: usize) -> Self {
        Self { bytes: VALUE_BYTES + bytes, memory: size_of::<Value>() + bytes }
    }
}

/// What a value holds that is nobody else's.
pub(crate) fn owned(got: &Got<'_>) -> usize {
    match got {
        Got::Own(value @ (Value::String(_) | Value::Array(_) | Value::Document(_))) => {
            Size::of(value.as_ref()).memory
        }
        _ => 0,
    }
}

/// About the bytes that a value takes in memory of its own.
pub fn memory(value: ValueRef<'_>) -> usize {
    Size::of(value).memory
}

/// Fails when a value is larger or deeper than a document may be; else answers its size.
pub(crate) fn check_built(value: ValueRef<'_>) -> Result<Size, Error> {
    let mut size = Size::default();
    add(value, 0, &mut size, MAX_MADE_BYTES)?;
    Ok(size)
}

/// The same for a value that is part of another one.
pub(crate) fn check_part(value: ValueRef<'_>) -> Result<Size, Error> {
    let mut size = Size::default();
    add(value, 1, &mut size, MAX_MADE_BYTES)?;
    Ok(size)
}

/// What an expression is building: bounded while it grows.
#[derive(Debug)]
pub(crate) struct Growth<'a> {
    /// What is held around it.
    held: usize,
    size: Size,
    holding: &'a Holding,
    written: usize,
    buffer: Option<Share>,
}

impl<'a> Growth<'a> {
    /// Nothing built yet.
    pub(crate) fn new(env: &Env<'a>) -> Self {
        Self::beside(env.held(), env.context)
    }

    /// Nothing built yet, while so many bytes are held around it.
    pub(crate) fn beside(held: usize, context: &'a Context) -> Self {
        let holding = &context.holding;
        Self { held, size: Size::default(), holding, written: 0, buffer: None }
    }

    /// Its memory so far.
    pub(crate) fn memory(&self) -> usize {
        self.size.memory
    }

    /// It becomes larger by so much.
    pub(crate) fn add(&mut self, size: Size) -> Result<(), Error> {
        self.size.bytes = self.size.bytes.saturating_add(size.bytes);
        self.size.memory = self.size.memory.saturating_add(size.memory);
        if MAX_MADE_BYTES < self.size.bytes {
            return Err(too_large(self.size.bytes));
        }
        check_held(self.held.saturating_add(self.size.memory), self.holding)
    }

    /// So much more is held for it that is no part of it.
    pub(crate) fn hold(&mut self, memory: usize) -> Result<(), Error> {
        self.add(Size { bytes: 0, memory })
    }

    /// So many bytes more are written to a buffer beside it. They are no value of the expression,
    /// but have to be there.
    pub(crate) fn written(&mut self, bytes: usize) -> Result<(), Error> {
        self.written = self.written.saturating_add(bytes);
        if SMALL_BUFFER < self.written {
            let buffer = self.buffer.get_or_insert_with(|| self.holding.share());
            buffer.set(self.written.saturating_mul(BUFFER_COPIES))?;
        }
        Ok(())
    }

    /// A field of this name joins it; its value counts for itself.
    pub(crate) fn name(&mut self, name: &str) -> Result<(), Error> {
        let bytes = name.len() + 1;
        self.add(Size { bytes, memory: size_of::<String>() + bytes })
    }

    /// A copy that joins it.
    pub(crate) fn copy(&mut self, value: ValueRef<'_>) -> Result<Value, Error> {
        self.add(Size::of(value))?;
        Ok(value.to_value())
    }

    /// Copies of values that join it.
    pub(crate) fn copies<'v>(
        &mut self,
        values: impl Iterator<Item = ValueRef<'v>>,
    ) -> Result<Vec<Value>, Error> {
        values.map(|value| self.copy(value)).collect()
    }
}

/// Fails when an expression would hold so much: more than it may, or than is left for it.
pub(crate) fn check_held(bytes: usize, holding: &Holding) -> Result<(), Error> {
    if MAX_HELD_BYTES < bytes {
        let text = format!(
            "the values of an expression hold more memory than allowed: more than {MAX_HELD_BYTES} bytes"
        );
        return Err(Error::new(Kind::TooLarge, 146, text));
    }
    holding.cover(bytes)
}

fn add(value: ValueRef<'_>, depth: usize, size: &mut Size, most: usize) -> Result<(), Error> {
    size.bytes += VALUE_BYTES;
    size.memory += size_of::<Value>();
    if depth > MAX_VALUE_DEPTH {
        return Err(Error::new(
            Kind::TooLarge,
            15,
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
                add(value, depth + 1, size, most)?;
            }
        }
        ValueRef::Array(values) => {
            for value in values.iter() {
                add(value, depth + 1, size, most)?;
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
pub(crate) fn check_text(bytes: usize) -> Result<(), Error> {
    if bytes < MAX_DOCUMENT_BYTES {
        return Ok(());
    }
    let text = "Tried to create string longer than 16MB";
    Err(Error::new(Kind::TooLarge, 16_493, text))
}

/// A value of so many bytes is too large.
pub(crate) fn too_large(bytes: usize) -> Error {
    Error::new(
        Kind::TooLarge,
        10334,
        format!(
            "BSONObj size: {bytes} (0x{bytes:X}) is invalid. Size must be between 0 and {}(16MB)",
            MAX_MADE_BYTES
        ),
    )
}
