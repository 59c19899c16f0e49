//! The least or greatest value, ignoring null and missing.

use std::cmp::Ordering;

use document::{Value, ValueRef};
use evaluation::Context;

/// The least or greatest value so far. Of equal values of different types the first one is kept:
/// after `1`, `1.0` is not less.
#[derive(Clone, Debug)]
pub struct Extreme {
    /// Whether the greatest value is wanted.
    greatest: bool,
    pub(crate) held: Option<Value>,
}

impl Extreme {
    /// Creates the state before any value was added.
    pub fn new(greatest: bool) -> Self {
        Self { greatest, held: None }
    }

    /// Adds a value of any type, since all types have one order. Returns the growth in bytes, 0 if
    /// the value became smaller.
    pub fn add_value(&mut self, value: ValueRef<'_>, context: &Context) -> usize {
        if value.is_nullish() {
            return 0;
        }
        let wanted = if self.greatest { Ordering::Greater } else { Ordering::Less };
        let before = match &self.held {
            Some(held) if context.compare(value, held.as_ref()) != wanted => return 0,
            Some(held) => evaluation::memory_of(held.as_ref()),
            None => 0,
        };
        self.held = Some(value.to_value());
        evaluation::memory_of(value).saturating_sub(before)
    }

    /// Returns the least or greatest value; null if no value was added.
    pub fn into_extreme(self) -> Value {
        self.held.unwrap_or(Value::Null)
    }
}
