//! Numbers in replies, with MongoDB's types, since some clients check them.

use document::Value;

/// Returns a 32-bit count, saturated; real counts are smaller.
pub(crate) fn saturated_int(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// Returns a 32-bit number if it fits, otherwise a 64-bit one, as MongoDB does for sizes and
/// counts.
pub(crate) fn int_or_long(value: i64) -> Value {
    i32::try_from(value).map_or(Value::Int64(value), Value::Int32)
}
