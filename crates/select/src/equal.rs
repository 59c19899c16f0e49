//! Equality of two JSON values: numbers by value, arrays by position, objects by their properties
//! in any order.

use document::{ArrayRef, DocRef, ValueRef};

use crate::order::{compare_counts, compare_values, sorted_by_name};

/// Returns whether two values are equal. Agrees with
/// [`compare_values`](crate::order::compare_values) but is faster, since it stops at the first
/// difference.
pub fn is_equal(a: ValueRef<'_>, b: ValueRef<'_>) -> bool {
    match (a, b) {
        (ValueRef::String(a), ValueRef::String(b)) => a == b,
        (ValueRef::Array(a), ValueRef::Array(b)) => arrays_equal(a, b),
        (ValueRef::Document(a), ValueRef::Document(b)) => objects_equal(a, b),
        _ => compare_values(a, b).is_eq(),
    }
}

fn arrays_equal(a: ArrayRef<'_>, b: ArrayRef<'_>) -> bool {
    let mut rest = b.iter();
    a.iter().all(|a| rest.next().is_some_and(|b| is_equal(a, b))) && rest.next().is_none()
}

/// Returns whether two objects have the same properties. Objects from one writer usually have them
/// in the same order, so that case is tried first; it allocates nothing.
fn objects_equal(a: DocRef<'_>, b: DocRef<'_>) -> bool {
    // All names are compared before any value: otherwise nested values would be compared here and
    // again below, at each level of nesting.
    if a.iter().map(|(name, _)| name).eq(b.iter().map(|(name, _)| name)) {
        return a.iter().zip(b.iter()).all(|((_, a), (_, b))| is_equal(a, b));
    }
    if compare_counts(a, b).is_ne() {
        return false;
    }
    let (a, b) = (sorted_by_name(a), sorted_by_name(b));
    a.iter().zip(&b).all(|(a, b)| a.0 == b.0) && a.iter().zip(&b).all(|(a, b)| is_equal(a.1, b.1))
}

#[cfg(test)]
mod tests {
    use document::json::parse;

    use super::*;

    #[test]
    fn values_are_the_same_by_value_and_not_by_form() {
        for (a, b, same) in [
            ("1", "1.0", true),
            ("0", "-0.0", true),
            ("9007199254740993", "9007199254740992.0", false),
            ("1", "\"1\"", false),
            ("1", "true", false),
            ("null", "false", false),
            ("null", "null", true),
            ("\"a\"", "\"A\"", false),
            ("[1,[2]]", "[1.0,[2.0]]", true),
            ("[1,2]", "[2,1]", false),
            ("[1]", "[1,1]", false),
            ("[]", "{}", false),
            ("{\"a\":1,\"b\":{\"c\":1,\"d\":2}}", "{\"b\":{\"d\":2.0,\"c\":1},\"a\":1}", true),
            ("{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}", false),
            ("{\"a\":1}", "{\"a\":1,\"b\":1}", false),
            ("{\"a\":1}", "{\"b\":1}", false),
            ("{\"a\":null}", "{}", false),
            ("[{\"a\":1,\"b\":2}]", "[{\"b\":2,\"a\":1}]", true),
        ] {
            let (left, right) = (parse(a.as_bytes(), 9).unwrap(), parse(b.as_bytes(), 9).unwrap());
            let raw = document::doc! { "a": left.clone(), "b": right.clone() }.to_buf();
            for (left, right) in [
                (left.as_ref(), right.as_ref()),
                (right.as_ref(), left.as_ref()),
                (raw.get("a").unwrap(), right.as_ref()),
                (raw.get("a").unwrap(), raw.get("b").unwrap()),
            ] {
                assert_eq!(is_equal(left, right), same, "{a} {b}");
                assert_eq!(compare_values(left, right).is_eq(), same, "{a} {b}");
            }
        }
    }

    #[test]
    fn deep_objects_in_another_order_are_compared_in_one_pass() {
        let (mut a, mut b) = ("1".to_owned(), "1".to_owned());
        for _ in 0..60 {
            a = format!("{{\"x\":{a},\"y\":0}}");
            b = format!("{{\"y\":0,\"x\":{b}}}");
        }
        let (a, b) = (parse(a.as_bytes(), 99).unwrap(), parse(b.as_bytes(), 99).unwrap());
        assert!(is_equal(a.as_ref(), b.as_ref()));
    }
}
