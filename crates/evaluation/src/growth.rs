//! What an expression is building, bounded while it grows: by the largest document, by what one
//! expression may hold and by what is left of the memory of all operations. Whoever builds a value
//! adds each part here before making it, so that a value that would be too large is refused before
//! it takes the memory.

use document::{Value, ValueRef};
use memory::Share;

use crate::{
    context::Context,
    error::{Error, Kind},
    holding::Holding,
    limits::{MAX_HELD_BYTES, MAX_MADE_BYTES},
    numbers::LIMIT_EXCEEDED,
    size::{Size, too_large},
};

/// Bytes of a buffer that are not asked for.
const SMALL_BUFFER: usize = 64 * 1024;
/// How often what was written is in memory at most while its buffer grows: there is room for as much
/// again, and the buffer of before.
const BUFFER_COPIES: usize = 3;

/// The account of one value under construction.
#[derive(Debug)]
pub struct Growth<'a> {
    /// What is held around it.
    held: usize,
    /// What was added so far.
    size: Size,
    /// What the operation may hold.
    holding: &'a Holding,
    /// Bytes in a buffer beside the value.
    written: usize,
    /// What the buffer holds, if there is one.
    buffer: Option<Share>,
}

impl<'a> Growth<'a> {
    /// Nothing built yet, while so many bytes are held around it.
    pub fn with_held(held: usize, context: &'a Context) -> Self {
        let holding = &context.holding;
        Self { held, size: Size::default(), holding, written: 0, buffer: None }
    }

    /// Its memory so far.
    pub fn memory_bytes(&self) -> usize {
        self.size.memory
    }

    /// The value becomes larger by so much; fails when it would be larger than a document may be,
    /// or more than may be held.
    pub fn add_size(&mut self, size: Size) -> Result<(), Error> {
        self.size.bytes = self.size.bytes.saturating_add(size.bytes);
        self.size.memory = self.size.memory.saturating_add(size.memory);
        if MAX_MADE_BYTES < self.size.bytes {
            return Err(too_large(self.size.bytes));
        }
        check_held(self.held.saturating_add(self.size.memory), self.holding)
    }

    /// So much more is held for it that is no part of it.
    pub fn hold_beside(&mut self, memory: usize) -> Result<(), Error> {
        self.add_size(Size { bytes: 0, memory })
    }

    /// Puts a value that was added already into the array under construction. A full vector moves
    /// to where there is room for as many again; both are there for a moment, so the memory has to
    /// be there, but it is not part of the value.
    pub fn push_value(&self, values: &mut Vec<Value>, value: Value) -> Result<(), Error> {
        if values.len() == values.capacity() {
            let room = values.len().saturating_mul(2 * size_of::<Value>());
            let held = self.held.saturating_add(self.size.memory);
            self.holding.cover_expression(held.saturating_add(room))?;
        }
        values.push(value);
        Ok(())
    }

    /// So many bytes more are written to a buffer beside the value. They are not a value of the
    /// expression, but have to be there.
    pub fn count_written(&mut self, bytes: usize) -> Result<(), Error> {
        self.written = self.written.saturating_add(bytes);
        if SMALL_BUFFER < self.written {
            let buffer = self.buffer.get_or_insert_with(|| self.holding.share());
            buffer.set(self.written.saturating_mul(BUFFER_COPIES))?;
        }
        Ok(())
    }

    /// A field of this name joins it; its value counts for itself.
    pub fn add_name(&mut self, name: &str) -> Result<(), Error> {
        let bytes = name.len() + 1;
        self.add_size(Size { bytes, memory: size_of::<String>() + bytes })
    }

    /// A copy that joins it.
    pub fn copy_value(&mut self, value: ValueRef<'_>) -> Result<Value, Error> {
        self.add_size(Size::of_value(value))?;
        Ok(value.to_value())
    }

    /// Copies of values that join it.
    pub fn copy_values<'v>(
        &mut self,
        values: impl Iterator<Item = ValueRef<'v>>,
    ) -> Result<Vec<Value>, Error> {
        values.map(|value| self.copy_value(value)).collect()
    }
}

/// Fails when an expression would hold so much: more than it may, or than is left for it.
pub fn check_held(bytes: usize, holding: &Holding) -> Result<(), Error> {
    check_holdable(bytes)?;
    holding.cover_expression(bytes)
}

/// Fails when that is more than an expression may hold, whatever is left.
pub fn check_holdable(bytes: usize) -> Result<(), Error> {
    if MAX_HELD_BYTES < bytes {
        let text = format!(
            "the values of an expression hold more memory than allowed: more than {MAX_HELD_BYTES} bytes"
        );
        return Err(Error::new(Kind::TooLarge, LIMIT_EXCEEDED, text));
    }
    Ok(())
}
