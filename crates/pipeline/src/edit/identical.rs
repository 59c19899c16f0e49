//! Bitwise identity of values, which is stricter than equality, where `1` equals `1.0`.

use document::{Document, Value};

/// Returns whether two values have the same type and bytes. An edit that changes only a type (`1`
/// to `1.0`) is a change and is written. NaN is identical to a NaN with the same bits; `0.0` and
/// `-0.0` differ.
pub fn is_identical(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
        (Value::Decimal128(a), Value::Decimal128(b)) => a.to_le_bytes() == b.to_le_bytes(),
        (Value::Document(a), Value::Document(b)) => same_fields(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_identical(a, b))
        }
        (
            Value::JavaScriptWithScope { code: a, scope: s },
            Value::JavaScriptWithScope { code: b, scope: t },
        ) => a == b && same_fields(s, t),
        // In all other types, equal values of one type have one representation.
        (a, b) => a.kind() == b.kind() && a == b,
    }
}

/// Returns whether two documents have identical fields in the same order.
fn same_fields(a: &Document, b: &Document) -> bool {
    a.len() == b.len()
        && a.fields().iter().zip(b.fields()).all(|((m, a), (n, b))| m == n && is_identical(a, b))
}
