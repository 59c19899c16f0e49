//! Sort keys and orders.

use document::{Document, Path, Value, array, doc, shell};

use super::{Sort, SortPart};

fn sort(parts: &[(&str, i32)]) -> Sort {
    let part =
        |(path, order): &(&str, i32)| SortPart { path: Path::new(*path), descending: *order < 0 };
    Sort { parts: parts.iter().map(part).collect() }
}

fn check(parts: &[(&str, i32)], document: Document, expected: &str) {
    let raw = document.to_buf();
    for form in [document::DocRef::Tree(&document), raw.as_ref()] {
        let key = Value::Array(sort(parts).key_of(form, None).0);
        assert_eq!(shell(key.as_ref()).to_string(), expected, "{parts:?} {document:?}");
    }
}

#[test]
fn arrays_sort_by_their_first_element_in_the_order() {
    let nested = || doc! {"a": array![doc!{"x": 1, "y": 9}, doc!{"x": 2, "y": 1}], "b": 5};
    check(&[("a", 1)], doc! {"a": array![3, 1, 2]}, "[ 1 ]");
    check(&[("a", -1)], doc! {"a": array![3, 1, 2]}, "[ 3 ]");
    check(&[("a", 1)], doc! {"a": array![]}, "[ undefined ]");
    check(&[("a", 1)], doc! {}, "[ null ]");
    check(&[("a", 1)], doc! {"a": array![array![0, 9], array![1]]}, "[ [ 0, 9 ] ]");
    check(&[("a.b", 1)], doc! {"a": array![]}, "[ null ]");
    check(&[("a.b", 1)], doc! {"a": array![1, doc!{"b": 2}]}, "[ null ]");
    check(&[("a.b", -1)], doc! {"a": array![1, doc!{"b": 2}]}, "[ 2 ]");
    check(&[("a.1", 1)], doc! {"a": array![7, 8]}, "[ 8 ]");
    check(&[("a.1", 1)], doc! {"a": array![7, array![]]}, "[ undefined ]");
    check(&[("a.1", 1)], doc! {"a": array![7, array![9, 8]]}, "[ [ 9, 8 ] ]");
    check(&[("a.x", 1), ("a.y", 1)], nested(), "[ 1, 9 ]");
    check(&[("a.y", 1), ("a.x", 1)], nested(), "[ 1, 2 ]");
    check(&[("a.x", -1), ("a.y", 1)], nested(), "[ 2, 1 ]");
    check(&[("b", 1), ("a.x", -1)], nested(), "[ 5, 2 ]");
    check(&[("a", 1), ("b", 1)], doc! {"a": array![2, 1], "b": array![]}, "[ 1, undefined ]");
    check(&[("a", 1), ("b", -1)], doc! {"a": array![2, 1], "b": array![4, 5]}, "[ 1, 5 ]");
}

#[test]
fn parallel_arrays_have_no_strict_key() {
    for (document, expected) in
        [(doc! {"a": array![1], "b": array![2]}, Some(2)), (doc! {"a": array![1], "b": 2}, None)]
    {
        let key = sort(&[("a", 1), ("b", 1)]).strict_key(document.to_buf().as_ref(), None);
        assert_eq!(key.err().map(|error| error.number), expected, "{document:?}");
    }
}

#[test]
fn keys_compare_part_by_part() {
    let order = sort(&[("a", 1), ("b", -1)]);
    let ascending = [
        doc! {"a": array![]},
        doc! {"b": 3},
        doc! {"a": Value::Null, "b": 2},
        doc! {"a": 1, "b": 9},
        doc! {"a": 1, "b": 8},
        doc! {"a": "x"},
    ];
    for (i, a) in ascending.iter().enumerate() {
        for (j, b) in ascending.iter().enumerate() {
            let found = order.compare(
                &order.key_of(a.to_buf().as_ref(), None),
                &order.key_of(b.to_buf().as_ref(), None),
            );
            assert_eq!(found, i.cmp(&j), "{a:?} {b:?}");
            let key = order.key_of(b.to_buf().as_ref(), None);
            assert_eq!(
                order.compare_with_key(a.to_buf().as_ref(), &key, None),
                found,
                "{a:?} {b:?}"
            );
        }
    }
    let short = order.key_of(doc! {"a": "x"}.to_buf().as_ref(), None).memory_bytes();
    let long = order.key_of(doc! {"a": "x".repeat(1000)}.to_buf().as_ref(), None).memory_bytes();
    assert!(long >= short + 999, "{short} {long}");
}
