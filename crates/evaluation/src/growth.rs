//! The size of a value under construction, limited by the maximum document size, by the memory of
//! one expression and by the available memory of all operations. Each part is added here before it
//! is built, so that a value that would be too large is refused before it takes the memory.

use document::{Value, ValueRef};
use memory::Share;

use crate::{
    context::Context,
    error::{Error, Kind, numbers::LIMIT_EXCEEDED},
    operation_memory::OperationMemory,
    size::{MAX_MADE_BYTES, Size, too_large},
};

/// Maximum memory of the values of one expression, in bytes: 100 MiB.
pub const MAX_HELD_BYTES: usize = 100 * 1024 * 1024;
/// Size up to which a buffer needs no memory reservation, in bytes.
const SMALL_BUFFER: usize = 64 * 1024;
/// Maximum memory of a growing buffer, as a multiple of its contents: a new buffer of up to twice
/// their size, and the old buffer until they are moved.
const BUFFER_COPIES: usize = 3;

/// The size of a value under construction.
#[derive(Debug)]
pub struct Growth<'a> {
    /// Bytes that the evaluation holds besides this value.
    held: usize,
    size: Size,
    operation_memory: &'a OperationMemory,
    /// Bytes written to a buffer that is not part of the value.
    written: usize,
    /// Memory reserved for the buffer, unless it is small.
    buffer: Option<Share>,
}

impl<'a> Growth<'a> {
    /// Starts with an empty value, while the evaluation already holds `held` bytes.
    pub fn with_held(held: usize, context: &'a Context) -> Self {
        let operation_memory = &context.operation_memory;
        Self { held, size: Size::default(), operation_memory, written: 0, buffer: None }
    }

    /// Returns the memory of the value built so far, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.size.memory
    }

    /// Adds to the size. Fails if it exceeds the maximum size of a document, or the memory limits.
    pub fn add_size(&mut self, size: Size) -> Result<(), Error> {
        self.size.bytes = self.size.bytes.saturating_add(size.bytes);
        self.size.memory = self.size.memory.saturating_add(size.memory);
        if MAX_MADE_BYTES < self.size.bytes {
            return Err(too_large(self.size.bytes));
        }
        check_held(self.held.saturating_add(self.size.memory), self.operation_memory)
    }

    /// Counts memory that the evaluation needs in addition to the value.
    pub fn hold_beside(&mut self, memory: usize) -> Result<(), Error> {
        self.add_size(Size { bytes: 0, memory })
    }

    /// Appends a value whose size was already added to the array under construction. When the
    /// vector is full it is moved to one of twice the capacity, and during the move both exist.
    /// That memory is reserved but not added to the value.
    pub fn push_value(&self, values: &mut Vec<Value>, value: Value) -> Result<(), Error> {
        if values.len() == values.capacity() {
            let room = values.len().saturating_mul(2 * size_of::<Value>());
            let held = self.held.saturating_add(self.size.memory);
            self.operation_memory.cover_expression(held.saturating_add(room))?;
        }
        values.push(value);
        Ok(())
    }

    /// Counts bytes written to a buffer beside the value. They are not part of the expression's
    /// values, but their memory is reserved.
    pub fn count_written(&mut self, bytes: usize) -> Result<(), Error> {
        self.written = self.written.saturating_add(bytes);
        if SMALL_BUFFER < self.written {
            let buffer = self.buffer.get_or_insert_with(|| self.operation_memory.share());
            buffer.set(self.written.saturating_mul(BUFFER_COPIES))?;
        }
        Ok(())
    }

    /// Adds the size of a field's name; the size of its value is added separately.
    pub fn add_name(&mut self, name: &str) -> Result<(), Error> {
        let bytes = name.len() + 1;
        self.add_size(Size { bytes, memory: size_of::<String>() + bytes })
    }

    /// Counts the size of a value and returns a copy of it.
    pub fn copy_value(&mut self, value: ValueRef<'_>) -> Result<Value, Error> {
        self.add_size(Size::of_value(value))?;
        Ok(value.to_value())
    }

    /// Counts copies of values towards the size and returns the copies.
    pub fn copy_values<'v>(
        &mut self,
        values: impl Iterator<Item = ValueRef<'v>>,
    ) -> Result<Vec<Value>, Error> {
        values.map(|value| self.copy_value(value)).collect()
    }
}

/// Fails if the memory of an expression exceeds its limit or the available memory.
pub fn check_held(bytes: usize, operation_memory: &OperationMemory) -> Result<(), Error> {
    check_holdable(bytes)?;
    operation_memory.cover_expression(bytes)
}

/// Fails if the memory exceeds the limit of an expression, regardless of the available memory.
pub fn check_holdable(bytes: usize) -> Result<(), Error> {
    if MAX_HELD_BYTES < bytes {
        let text = format!(
            "the values of an expression hold more memory than allowed: more than {MAX_HELD_BYTES} bytes"
        );
        return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
    }
    Ok(())
}
