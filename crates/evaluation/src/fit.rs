//! Values without excess capacity. A vector or string that grows step by step may end with twice
//! the capacity it needs. Nothing counts that memory, and the value may be kept for long in a
//! group, a sort or a cursor.

use document::Value;

use crate::evaluated::Evaluated;

/// Bytes of excess capacity that are not worth a copy.
const SPARE: usize = 4 * 1024;

/// Returns the value, or a copy of exact capacity if it has much excess capacity. It is copied
/// because allocators do not move a block that shrinks a little.
pub fn without_spare_room(got: Evaluated<'_>) -> Evaluated<'_> {
    match got {
        Evaluated::Owned(value) => Evaluated::Owned(value_without_spare_room(value)),
        other => other,
    }
}

/// Returns the value, or a copy of exact capacity if it has much excess capacity.
pub fn value_without_spare_room(value: Value) -> Value {
    match value {
        Value::String(text) if is_loose(text.capacity(), text.len()) => {
            Value::String(text.as_str().to_owned())
        }
        Value::Array(mut values)
            if is_loose(
                values.capacity().saturating_mul(size_of::<Value>()),
                values.len().saturating_mul(size_of::<Value>()),
            ) =>
        {
            let mut exact = Vec::with_capacity(values.len());
            exact.append(&mut values);
            Value::Array(exact)
        }
        other => other,
    }
}

/// Returns whether a capacity is much larger than needed.
fn is_loose(room: usize, needed: usize) -> bool {
    needed.saturating_add(needed / 8).saturating_add(SPARE) < room
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_room_that_is_not_needed_is_given_up() {
        for (len, room, kept) in
            [(10, 100, 100), (10_000, 15_000, 15_000), (100_000, 190_000, 100_000), (0, 9_000, 0)]
        {
            let mut text = String::with_capacity(room);
            text.push_str(&"x".repeat(len));
            let Evaluated::Owned(Value::String(text)) =
                without_spare_room(Evaluated::Owned(Value::String(text)))
            else {
                panic!("it is a text")
            };
            assert_eq!((text.len(), text.capacity()), (len, kept));
            let mut values = Vec::with_capacity(room);
            values.resize(len, Value::Null);
            let Value::Array(values) = value_without_spare_room(Value::Array(values)) else {
                panic!("it is an array")
            };
            let most = len + len / 8 + SPARE / size_of::<Value>();
            assert!(values.len() == len && values.capacity() <= most, "{}", values.capacity());
        }
    }
}
