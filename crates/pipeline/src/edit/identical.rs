//! Sameness of values in every bit, unlike equality by order, where `1` equals `1.0`.

use document::{Document, Value};

/// Whether two values have the same type and the same bytes. An edit that changes nothing but a
/// type (`1` to `1.0`) is a change, and is written.
/// NaN is identical to itself with the same bits, and `0.0` is not identical to `-0.0`.
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
        // Of all other kinds equal values of one kind have one form.
        (a, b) => a.kind() == b.kind() && a == b,
    }
}

/// Whether two documents have the same fields in the same order, bit by bit.
fn same_fields(a: &Document, b: &Document) -> bool {
    a.len() == b.len()
        && a.fields().iter().zip(b.fields()).all(|((m, a), (n, b))| m == n && is_identical(a, b))
}
