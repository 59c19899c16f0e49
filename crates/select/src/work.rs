//! What it takes to look at values as a whole, in units of the [`Budget`](evaluation::Budget),
//! about one for each byte that is copied. Work is counted before it is done, so that one
//! comparison of two large values cannot exceed what the operation has left. Nothing is evaluated
//! here.

use document::{ArrayRef, DocRef, ValueRef};
use evaluation::{Size, readable_bytes};

/// Work of comparing a nested value, for each of its bytes: names and values are decoded.
const COMPARED: usize = 4;
/// Work of making the key of a nested value, for each of its bytes: it is copied, sorted and
/// encoded.
const KEYED: usize = 8;
/// Bytes of a text that are checked or compared in one unit of work.
const AT_ONCE: usize = 16;

/// How many bytes there are to read in a value. For raw documents and arrays that is known without
/// reading them.
pub(super) fn weight_of(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Document(DocRef::Raw(raw)) | ValueRef::Array(ArrayRef::Raw(raw)) => raw.len(),
        ValueRef::String(text) => text.len(),
        other => Size::of_value(other).bytes,
    }
}

/// Work of handing a value to a function, which reads it once.
pub(super) fn work_of_reading(value: ValueRef<'_>) -> usize {
    value.as_str().map_or_else(|| readable_bytes(value), |text| text.len() / 2)
}

/// Work of coming across a value: that a text is well-formed is checked.
pub(super) fn work_of_touching(value: ValueRef<'_>) -> usize {
    value.as_str().map_or(0, |text| text.len() / AT_ONCE)
}

/// Work of comparing two values, which goes no further than the smaller one.
pub(super) fn work_of_comparing(a: ValueRef<'_>, b: ValueRef<'_>) -> usize {
    use ValueRef as V;
    match (a, b) {
        (V::String(a), V::String(b)) => a.len().min(b.len()) / AT_ONCE,
        (V::Array(ArrayRef::Raw(a)), V::Array(ArrayRef::Raw(b)))
        | (V::Document(DocRef::Raw(a)), V::Document(DocRef::Raw(b))) => {
            a.len().min(b.len()).saturating_mul(COMPARED)
        }
        // To know how large a tree is takes as long as to compare it.
        (V::Array(_), V::Array(_)) | (V::Document(_), V::Document(_)) => {
            weight_of(a).saturating_add(weight_of(b)).saturating_mul(COMPARED)
        }
        _ => 0,
    }
}

/// Work of making the key of a value and of choosing between two forms of it.
pub(super) fn work_of_keying(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Array(_) | ValueRef::Document(_) => weight_of(value).saturating_mul(KEYED),
        other => weight_of(other),
    }
}

/// Work of finding a value's place among `others` values in order: as many comparisons as a binary
/// search makes.
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
