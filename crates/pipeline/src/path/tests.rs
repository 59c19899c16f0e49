//! Where paths lead.

use document::{DocRef, Document, Path, array, doc, shell};
use evaluation::Error;

use super::{Leaf, Seen, any_value};

fn check_walk(document: Document, path: &str, leaf: Leaf, expected: &str) {
    let raw = document.to_buf();
    for form in [raw.as_ref(), DocRef::Tree(&document)] {
        let mut found = Vec::new();
        let stopped = any_value(form, &Path::new(path), leaf, &mut |seen: Seen<'_>| {
            let value = seen.value.map_or("-".to_owned(), |value| shell(value).to_string());
            let index = seen.index.map_or(String::new(), |index| format!("@{index}"));
            found.push(format!("{value}{index}"));
            Ok::<bool, Error>(false)
        });
        assert_eq!(stopped, Ok(false));
        assert_eq!(found.join(" "), expected, "{document:?} {path}");
    }
}

#[test]
fn paths_lead_to_values() {
    let items = || doc! {"a": array![doc!{"b": 1}, 5, doc!{"b": array![2, 3]}, doc!{}]};
    check_walk(doc! {"a": 1}, "a", Leaf::Elements, "1");
    check_walk(doc! {"a": 1}, "b", Leaf::Elements, "-");
    check_walk(doc! {"a": 1}, "a.b", Leaf::Elements, "-");
    check_walk(doc! {"a": doc!{"b": 1}}, "a.b", Leaf::Elements, "1");
    check_walk(doc! {"a": array![1, 2]}, "a", Leaf::Elements, "1@0 2@1 [ 1, 2 ]");
    check_walk(doc! {"a": array![1, 2]}, "a", Leaf::Whole, "[ 1, 2 ]");
    check_walk(doc! {"a": array![]}, "a", Leaf::Elements, "[]");
    check_walk(doc! {"a": array![]}, "a.b", Leaf::Elements, "");
    check_walk(doc! {"a": array![1, 2]}, "a.1", Leaf::Elements, "2");
    check_walk(doc! {"a": array![1, 2]}, "a.01", Leaf::Elements, "");
    check_walk(doc! {"a": array![array![7, 8]]}, "a.0", Leaf::Elements, "[ 7, 8 ]");
    check_walk(doc! {"a": array![array![7, 8]]}, "a.0.1", Leaf::Elements, "8");
    check_walk(items(), "a.b", Leaf::Elements, "1@0 2@2 3@2 [ 2, 3 ]@2 -@3");
    check_walk(items(), "a.b", Leaf::Whole, "1@0 [ 2, 3 ]@2 -@3");
    check_walk(items(), "a.2.b", Leaf::Whole, "-@0 -@2 [ 2, 3 ] -@3");
    check_walk(doc! {"a": array![doc!{"0": 9}]}, "a.0", Leaf::Elements, "9@0 { 0: 9 }");
}
