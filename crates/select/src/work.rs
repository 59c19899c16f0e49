//! The work of operations on whole values, in units of the [`Budget`](evaluation::Budget): about
//! one per byte copied. Work is counted before it is done, so that one comparison of two large
//! values cannot exceed the remaining budget. Nothing is evaluated here.

use document::{ArrayRef, DocRef, ValueRef};
use evaluation::{Size, readable_bytes};

/// Units of work per byte for comparing a nested value: names and values are decoded.
const COMPARED: usize = 4;
/// Units of work per byte for making the key of a nested value: it is copied, sorted and encoded.
const KEYED: usize = 8;
/// Bytes of a string that are validated or compared per unit of work.
const AT_ONCE: usize = 16;

/// Returns the number of bytes read when a value is read. For raw documents and arrays it is known
/// without reading a field.
pub(super) fn weight_of(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Document(DocRef::Raw(raw)) | ValueRef::Array(ArrayRef::Raw(raw)) => raw.len(),
        ValueRef::String(text) => text.len(),
        other => Size::of_value(other).bytes,
    }
}

/// Returns the work of passing a value to a function, which reads it once.
pub(super) fn work_of_reading(value: ValueRef<'_>) -> usize {
    value.as_str().map_or_else(|| readable_bytes(value), |text| text.len() / 2)
}

/// Returns the work of visiting a value: a string is checked for well-formed UTF-8.
pub(super) fn work_of_touching(value: ValueRef<'_>) -> usize {
    value.as_str().map_or(0, |text| text.len() / AT_ONCE)
}

/// Returns the work of comparing two values, which the smaller one bounds.
pub(super) fn work_of_comparing(a: ValueRef<'_>, b: ValueRef<'_>) -> usize {
    use ValueRef as V;
    match (a, b) {
        (V::String(a), V::String(b)) => a.len().min(b.len()) / AT_ONCE,
        (V::Array(ArrayRef::Raw(a)), V::Array(ArrayRef::Raw(b)))
        | (V::Document(DocRef::Raw(a)), V::Document(DocRef::Raw(b))) => {
            a.len().min(b.len()).saturating_mul(COMPARED)
        }
        // Finding the smaller tree takes as long as comparing them, so both are counted.
        (V::Array(_), V::Array(_)) | (V::Document(_), V::Document(_)) => {
            weight_of(a).saturating_add(weight_of(b)).saturating_mul(COMPARED)
        }
        _ => 0,
    }
}

/// Returns the work of making the key of a value, and of comparing the value with an equal one of
/// another representation, such as 1 and 1.0, of which the result keeps the smaller.
pub(super) fn work_of_keying(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Array(_) | ValueRef::Document(_) => weight_of(value).saturating_mul(KEYED),
        other => weight_of(other),
    }
}

/// Returns the work of a binary search for a value among `others` sorted values.
pub(super) fn work_of_placing(value: ValueRef<'_>, others: usize) -> usize {
    let steps = usize::BITS.saturating_sub(others.leading_zeros()).max(1) as usize;
    let once = match value {
        ValueRef::Array(_) | ValueRef::Document(_) => weight_of(value).saturating_mul(COMPARED),
        other => work_of_touching(other),
    };
    once.saturating_mul(steps)
}

#[cfg(test)]
mod tests {
    use document::json::parse;

    use super::*;

    #[test]
    fn large_values_weigh_and_small_ones_do_not() {
        let long = format!("\"{}\"", "a".repeat(1000));
        let list = format!("[{}0]", "0,".repeat(999));
        let value = |text: &str| parse(text.as_bytes(), 9).unwrap();
        for (a, b, least, most) in [
            ("1", "2", 0, 0),
            (&long, &long, 50, 100),
            (&long, "\"a\"", 0, 0),
            (&long, "1", 0, 0),
            (&list, "1", 0, 0),
            (&list, &list, 32_000, 100_000),
        ] {
            let (a, b) = (value(a), value(b));
            let found = work_of_comparing(a.as_ref(), b.as_ref());
            assert!((least..=most).contains(&found), "{a:?} {b:?} {found}");
            assert_eq!(work_of_comparing(b.as_ref(), a.as_ref()), found);
        }
        let stored = document::doc! { "list": value(&list) }.to_buf();
        let raw = stored.get("list").unwrap();
        assert!(20_000 < work_of_comparing(raw, raw) && work_of_comparing(raw, raw) < 80_000);
        assert!((50..100).contains(&work_of_touching(value(&long).as_ref())));
        for heavy in [raw, value(&list).as_ref(), value(&long).as_ref()] {
            assert!(1000 <= work_of_keying(heavy));
            assert!(500 <= work_of_placing(heavy, 1 << 10));
            assert!(work_of_placing(heavy, 0) < work_of_placing(heavy, 1 << 10));
        }
    }
}
