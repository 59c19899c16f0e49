//! What it takes to look at values as a whole, in units of [`Budget`](evaluation::Budget): what is
//! counted before it is done. It evaluates nothing.

use document::{ArrayRef, DocRef, ValueRef};

use evaluation::{Size, reach};

/// Comparing a nested value, for each of its bytes.
const COMPARED: usize = 4;
/// Making a key of one, which is copied and may be sorted.
const KEYED: usize = 8;
/// Bytes of a text that are checked or compared at once.
const AT_ONCE: usize = 16;

/// How many bytes there are to read in a value.
pub(super) fn weight(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Document(DocRef::Raw(raw)) | ValueRef::Array(ArrayRef::Raw(raw)) => raw.len(),
        ValueRef::String(text) => text.len(),
        other => Size::of(other).bytes,
    }
}

/// Handing a value to a function, which reads it once and soon.
pub(super) fn reading(value: ValueRef<'_>) -> usize {
    value.as_str().map_or_else(|| reach(value), |text| text.len() / 2)
}

/// Coming across a value: texts are checked.
pub(super) fn touching(value: ValueRef<'_>) -> usize {
    value.as_str().map_or(0, |text| text.len() / AT_ONCE)
}

/// Comparing two values, which goes no further than the smaller one.
pub(super) fn comparing(a: ValueRef<'_>, b: ValueRef<'_>) -> usize {
    use ValueRef as V;
    match (a, b) {
        (V::String(a), V::String(b)) => a.len().min(b.len()) / AT_ONCE,
        (V::Array(ArrayRef::Raw(a)), V::Array(ArrayRef::Raw(b)))
        | (V::Document(DocRef::Raw(a)), V::Document(DocRef::Raw(b))) => {
            a.len().min(b.len()).saturating_mul(COMPARED)
        }
        // To know how large a tree is takes as long as to compare it.
        (V::Array(_), V::Array(_)) | (V::Document(_), V::Document(_)) => {
            weight(a).saturating_add(weight(b)).saturating_mul(COMPARED)
        }
        _ => 0,
    }
}

/// Making the key of a value, and looking which of two forms of it is taken.
pub(super) fn keying(value: ValueRef<'_>) -> usize {
    match value {
        ValueRef::Array(_) | ValueRef::Document(_) => weight(value).saturating_mul(KEYED),
        other => weight(other),
    }
}

/// Finding the place of a value among so many others.
pub(super) fn placing(value: ValueRef<'_>, others: usize) -> usize {
    let steps = usize::BITS.saturating_sub(others.leading_zeros()).max(1) as usize;
    let once = match value {
        ValueRef::Array(_) | ValueRef::Document(_) => weight(value).saturating_mul(COMPARED),
        other => touching(other),
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
            let found = comparing(a.as_ref(), b.as_ref());
            assert!((least..=most).contains(&found), "{a:?} {b:?} {found}");
            assert_eq!(comparing(b.as_ref(), a.as_ref()), found);
        }
        let stored = document::doc! { "list": value(&list) }.to_buf();
        let raw = stored.get("list").unwrap();
        assert!(20_000 < comparing(raw, raw) && comparing(raw, raw) < 80_000);
        assert!((50..100).contains(&touching(value(&long).as_ref())));
        for heavy in [raw, value(&list).as_ref(), value(&long).as_ref()] {
            assert!(1000 <= keying(heavy));
            assert!(500 <= placing(heavy, 1 << 10));
            assert!(placing(heavy, 0) < placing(heavy, 1 << 10));
        }
    }
}
