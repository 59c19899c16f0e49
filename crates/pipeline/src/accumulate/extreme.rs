//! The least or greatest value; null and missing do not count.

use std::cmp::Ordering;

use document::{Value, ValueRef, compare};

/// The least or greatest value so far.
#[derive(Clone, Debug)]
pub struct Extreme {
    greatest: bool,
    pub(crate) held: Option<Value>,
}

impl Extreme {
    /// Nothing yet.
    pub fn new(greatest: bool) -> Self {
        Self { greatest, held: None }
    }

    /// Adds a value; returns by how many bytes the held one grew. A value of another type counts
    /// too: all types have one order.
    pub fn add_value(&mut self, value: ValueRef<'_>) -> usize {
        if value.is_nullish() {
            return 0;
        }
        let wanted = if self.greatest { Ordering::Greater } else { Ordering::Less };
        let before = match &self.held {
            Some(held) if compare(value, held.as_ref()) != wanted => return 0,
            Some(held) => evaluation::memory_of(held.as_ref()),
            None => 0,
        };
        self.held = Some(value.to_value());
        evaluation::memory_of(value).saturating_sub(before)
    }

    /// The value; null when there was none.
    pub fn into_extreme(self) -> Value {
        self.held.unwrap_or(Value::Null)
    }
}
