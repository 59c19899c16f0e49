//! The total order of JSON values: null, false, true, numbers, strings, arrays, objects. It agrees
//! with `is_equal`, and both compare the properties of objects independently of their order.

use std::cmp::Ordering;

use document::{ArrayRef, DocRef, Number, ValueRef, compare_numbers};

/// Compares two values: strings by code point, arrays element by element and then by length,
/// objects by their number of properties and then by the properties in the order of their names.
/// ORDER BY, MIN and sets use this order; the comparison operators use it only for two nulls,
/// booleans, numbers or strings.
pub fn compare_values(a: ValueRef<'_>, b: ValueRef<'_>) -> Ordering {
    use ValueRef as V;
    if let (Some(a), Some(b)) = (Number::of(a), Number::of(b)) {
        return compare_numbers(a, b);
    }
    match (a, b) {
        (V::Bool(a), V::Bool(b)) => a.cmp(&b),
        (V::String(a), V::String(b)) => a.cmp(b),
        (V::Array(a), V::Array(b)) => compare_arrays(a, b),
        (V::Document(a), V::Document(b)) => compare_objects(a, b),
        _ => type_class(a).cmp(&type_class(b)).then_with(|| document::compare(a, b)),
    }
}

/// Returns the rank of a value's type; types that JSON does not have come last.
fn type_class(value: ValueRef<'_>) -> u8 {
    match value {
        ValueRef::Null => 0,
        ValueRef::Bool(_) => 1,
        value if value.is_number() => 2,
        ValueRef::String(_) => 3,
        ValueRef::Array(_) => 4,
        ValueRef::Document(_) => 5,
        _ => 6,
    }
}

/// Compares two arrays by the first elements that differ; a prefix sorts before the longer array.
fn compare_arrays(a: ArrayRef<'_>, b: ArrayRef<'_>) -> Ordering {
    let mut rest = b.iter();
    for a in a.iter() {
        let Some(b) = rest.next() else { return Ordering::Greater };
        let order = compare_values(a, b);
        if order.is_ne() {
            return order;
        }
    }
    if rest.next().is_some() { Ordering::Less } else { Ordering::Equal }
}

/// Compares two objects. Only if they have equally many properties are both sorted by name, so a
/// small object never costs a comparison with all of a large one.
fn compare_objects(a: DocRef<'_>, b: DocRef<'_>) -> Ordering {
    let order = compare_counts(a, b);
    if order.is_ne() {
        return order;
    }
    let (a, b) = (sorted_by_name(a), sorted_by_name(b));
    for ((a_name, a), (b_name, b)) in a.iter().zip(&b) {
        let order = a_name.cmp(b_name).then_with(|| compare_values(*a, *b));
        if order.is_ne() {
            return order;
        }
    }
    Ordering::Equal
}

/// Returns the rank of the type of a value that `<`, `<=`, `>` and `>=` can compare: null, boolean,
/// number or string. `None` for arrays and objects, although ORDER BY orders them.
pub(crate) fn simple_class(value: ValueRef<'_>) -> Option<u8> {
    match value {
        ValueRef::Null => Some(0),
        ValueRef::Bool(_) => Some(1),
        ValueRef::String(_) => Some(3),
        other => other.is_number().then_some(2),
    }
}

/// A value whose `Ord` is the order of [`compare_values`], for sets and maps.
#[derive(Clone, Copy, Debug)]
pub struct InOrder<'a>(pub ValueRef<'a>);

impl PartialEq for InOrder<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for InOrder<'_> {}

impl PartialOrd for InOrder<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for InOrder<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_values(self.0, other.0)
    }
}

/// Compares two objects by their numbers of properties. Stops at the end of the smaller object, so
/// that its size bounds the work.
pub(crate) fn compare_counts(a: DocRef<'_>, b: DocRef<'_>) -> Ordering {
    let (mut a, mut b) = (a.iter(), b.iter());
    loop {
        match (a.next().is_some(), b.next().is_some()) {
            (true, true) => {}
            (a, b) => return a.cmp(&b),
        }
    }
}

/// Returns the properties sorted by name.
pub(crate) fn sorted_by_name(object: DocRef<'_>) -> Vec<(&str, ValueRef<'_>)> {
    let mut fields: Vec<_> = object.iter().collect();
    fields.sort_by_key(|(name, _)| *name);
    fields
}

#[cfg(test)]
mod tests {
    use document::json::parse;

    use super::*;

    #[test]
    fn types_and_values_stand_in_one_order() {
        let ascending = [
            "null",
            "false",
            "true",
            "-1e300",
            "-1",
            "0",
            "0.5",
            "9007199254740992.0",
            "9007199254740993",
            "1e300",
            "\"\"",
            "\"A\"",
            "\"Z\"",
            "\"a\"",
            "\"aa\"",
            "\"é\"",
            "\"\u{ffff}\"",
            "\"\u{1f600}\"",
            "[]",
            "[null]",
            "[1]",
            "[1,1]",
            "[2]",
            "[[]]",
            "{}",
            "{\"a\":1}",
            "{\"a\":2}",
            "{\"b\":0}",
            "{\"b\":0,\"a\":1}",
            "{\"c\":3,\"a\":1}",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                let left = parse(a.as_bytes(), 9).unwrap();
                let right = parse(b.as_bytes(), 9).unwrap();
                assert_eq!(compare_values(left.as_ref(), right.as_ref()), i.cmp(&j), "{a} {b}");
                assert_eq!(
                    super::super::is_equal(left.as_ref(), right.as_ref()),
                    i == j,
                    "{a} {b}"
                );
            }
        }
    }
}
