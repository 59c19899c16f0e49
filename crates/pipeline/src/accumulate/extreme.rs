//! The least or greatest value; null and missing do not count.

use std::cmp::Ordering;

use document::{Value, ValueRef, compare};

/// The least or greatest value so far.
/// Of values that are equal across types the first one stays: after `1`, `1.0` is not less.
#[derive(Clone, Debug)]
pub struct Extreme {
    /// Whether the greatest value is wanted, not the least.
    greatest: bool,
    /// The value so far; missing values and nulls do not count.
    pub(crate) held: Option<Value>,
}

impl Extreme {
    /// Nothing yet.
    pub fn new(greatest: bool) -> Self {
        Self { greatest, held: None }
    }

    /// Adds a value; returns by how many bytes the held one grew. A value of another type counts
    /// too: all types have one order.
    /// It returns 0 for a smaller value too: what was counted before is not given back.
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
