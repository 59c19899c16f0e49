//! The values that paths visit.

use document::{DocRef, Document, Path, array, doc, shell};
use evaluation::Error;

use super::{PathEnd, SeenValue, any_value};

fn check_walk(document: Document, path: &str, leaf: PathEnd, expected: &str) {
    let raw = document.to_buf();
    for form in [raw.as_ref(), DocRef::Tree(&document)] {
        let mut found = Vec::new();
        let stopped = any_value(form, &Path::new(path), leaf, &mut |seen: SeenValue<'_>| {
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
    check_walk(doc! {"a": 1}, "a", PathEnd::Elements, "1");
    check_walk(doc! {"a": 1}, "b", PathEnd::Elements, "-");
    check_walk(doc! {"a": 1}, "a.b", PathEnd::Elements, "-");
    check_walk(doc! {"a": doc!{"b": 1}}, "a.b", PathEnd::Elements, "1");
    check_walk(doc! {"a": array![1, 2]}, "a", PathEnd::Elements, "1@0 2@1 [ 1, 2 ]");
    check_walk(doc! {"a": array![1, 2]}, "a", PathEnd::Whole, "[ 1, 2 ]");
    check_walk(doc! {"a": array![]}, "a", PathEnd::Elements, "[]");
    check_walk(doc! {"a": array![]}, "a.b", PathEnd::Elements, "");
    check_walk(doc! {"a": array![1, 2]}, "a.1", PathEnd::Elements, "2");
    check_walk(doc! {"a": array![1, 2]}, "a.01", PathEnd::Elements, "");
    check_walk(doc! {"a": array![array![7, 8]]}, "a.0", PathEnd::Elements, "[ 7, 8 ]");
    check_walk(doc! {"a": array![array![7, 8]]}, "a.0.1", PathEnd::Elements, "8");
    check_walk(items(), "a.b", PathEnd::Elements, "1@0 2@2 3@2 [ 2, 3 ]@2 -@3");
    check_walk(items(), "a.b", PathEnd::Whole, "1@0 [ 2, 3 ]@2 -@3");
    check_walk(items(), "a.2.b", PathEnd::Whole, "-@0 -@2 [ 2, 3 ] -@3");
    check_walk(doc! {"a": array![doc!{"0": 9}]}, "a.0", PathEnd::Elements, "9@0 { 0: 9 }");
}
