//! Parts of edits; whole updates are tested with their parser.

use document::{Decimal128, Value, array, doc};
use evaluation::Kind;

use super::{path::compare_names, *};
use crate::filter::{Comparison, PathTest};

#[test]
fn identical_is_stricter_than_equal() {
    let decimal = |text| Value::Decimal128(Decimal128::parse(text).unwrap());
    for (a, b, expected) in [
        (Value::from(1), Value::from(1), true),
        (Value::from(1), Value::from(1i64), false),
        (Value::from(0.0), Value::from(-0.0), false),
        (Value::from(f64::NAN), Value::from(f64::NAN), true),
        (decimal("1"), decimal("1.0"), false),
        (array![1, 2], array![1, 2], true),
        (array![1, 2], array![1, 2.0], false),
        (doc! {"a": 1, "b": 2}.into(), doc! {"a": 1, "b": 2}.into(), true),
        (doc! {"a": 1, "b": 2}.into(), doc! {"b": 2, "a": 1}.into(), false),
        (Value::from("a"), Value::Symbol("a".to_owned()), false),
    ] {
        assert_eq!(is_identical(&a, &b), expected, "{a:?} {b:?}");
    }
}

#[test]
fn paths_are_applied_numbers_first_by_value() {
    let parts = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<String>>();
    let sorted = ["9", "10", "B", "a", "a.2", "a.10", "a.b", "b"];
    // Only numbers without leading zeros are sorted by value.
    let padded = ["0001", "001", "002", "01", "02", "1", "2", "10"];
    for pair in sorted.windows(2).chain(padded.windows(2)) {
        assert!(compare_names(&parts(pair[0]), &parts(pair[1])).is_lt(), "{pair:?}");
    }
}

#[test]
fn paths_are_checked() {
    for (path, expected) in [
        ("a.b", Ok(false)),
        ("a.$", Ok(true)),
        ("a.$[].b", Ok(true)),
        ("a.$[x]", Ok(true)),
        ("a.$x", Ok(false)),
        ("", Err(56)),
        ("a.", Err(56)),
        ("$", Err(2)),
        ("$[]", Err(2)),
        ("a.$.b.$", Err(2)),
    ] {
        let found = EditPath::parse(path).map(|path| path.is_dynamic());
        assert_eq!(found.map_err(|error| error.number), expected, "{path}");
    }
}

#[test]
fn a_replacement_keeps_the_id() {
    let old = doc! {"_id": 1, "a": 1}.to_buf();
    for (new, expected) in [
        (doc! {"b": 2}, Ok(doc! {"_id": 1, "b": 2})),
        (doc! {"b": 2, "_id": 1}, Ok(doc! {"_id": 1, "b": 2})),
        (doc! {"_id": 2}, Err(66)),
        (doc! {"a": 1}, Ok(doc! {"_id": 1, "a": 1})),
        (doc! {"_id": 1, "a": 1}, Ok(doc! {"_id": 1, "a": 1})),
    ] {
        let outcome = Edit::Replacement(new.clone()).apply(old.as_ref(), None, &Context::default());
        let changed = outcome.as_ref().map(|outcome| outcome.changed).unwrap_or(true);
        let same = new.get("_id").is_some() && new.get("a").is_some();
        assert_eq!(changed, !same, "{new:?}");
        let found = outcome.map(|outcome| outcome.document).map_err(|error| error.number);
        assert_eq!(found, expected.map(|document| document.to_buf()), "{new:?}");
    }
}

#[test]
fn pipelines_give_back_a_lost_id() {
    let filter = Filter::Path("_id".into(), PathTest::Compare(Comparison::Eq, 5.into()));
    let inserted = Edit::Pipeline(Vec::new()).insert(&filter, &Context::default());
    assert_eq!(inserted, Ok(doc! {"_id": 5}.to_buf()));
}

#[test]
fn an_upsert_does_not_compute() {
    let filter = Filter::Expr(Box::new(crate::expr::Expr::Literal(true.into())));
    let refused = Edit::Replacement(doc! {}).insert(&filter, &Context::default());
    let error = refused.map_err(|error| (error.kind, error.number));
    assert_eq!(error, Err((Kind::Invalid, 224)));
}
