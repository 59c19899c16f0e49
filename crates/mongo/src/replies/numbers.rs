//! Numbers in replies. Clients read some of them by type, so each has the type MongoDB gives it.

use document::Value;

/// A count of 32 bits. What does not fit is shown as the largest number: nothing is that many here.
pub(crate) fn saturated_int(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// A number of 32 bits while it fits, else of 64, as MongoDB gives sizes and counts.
pub(crate) fn int_or_long(value: i64) -> Value {
    i32::try_from(value).map_or(Value::Int64(value), Value::Int32)
}
