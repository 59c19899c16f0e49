//! Kinds of edits, the use of the operation's instant, and properties of edits.

use super::{check, parsed, result};
use pipeline::edit::Edit;

#[test]
fn kinds_are_told_apart() {
    for (update, multi, expected) in [
        ("{a: 1}", false, "replacement"),
        ("{}", true, "9 multi update is not supported for replacement-style update"),
        ("{$set: {a: 1}}", true, "operators"),
        ("[]", true, "pipeline"),
        ("5", false, "9 Update argument must be either an object or an array"),
    ] {
        let found = match parsed(update, "", multi) {
            Ok(Edit::Replacement(_)) => "replacement".to_owned(),
            Ok(Edit::Operators(_)) => "operators".to_owned(),
            Ok(Edit::Pipeline(_)) => "pipeline".to_owned(),
            Err(error) => format!("{} {}", error.code, error.message),
        };
        assert_eq!(found, expected, "{update}");
    }
    let error = parsed("[]", "[{x: 1}]", false).unwrap_err();
    assert_eq!(error.code, 9);
}

#[test]
fn the_instant_is_the_operations() {
    for row in [
        ["{_id: 1}", "{$currentDate: {a: true}}", "{_id: 1, a: Date(1700000000123)}"],
        ["{_id: 1}", "{$currentDate: {a: false}}", "{_id: 1, a: Date(1700000000123)}"],
        [
            "{_id: 1, a: 5}",
            "{$currentDate: {a: {$type: 'date'}}}",
            "{_id: 1, a: Date(1700000000123)}",
        ],
        [
            "{_id: 1}",
            "{$currentDate: {a: {$type: 'timestamp'}}}",
            "{_id: 1, a: Timestamp(1700000000, 124)}",
        ],
        [
            "{_id: 1}",
            "{$currentDate: {a: 1}}",
            "2 int is not valid type for $currentDate. Please use a boolean ('true') or a $type \
             expression ({$type: 'timestamp/date'}).",
        ],
        ["{_id: 1}", "{$currentDate: {a: {$x: 1}}}", "2 Unrecognized $currentDate option: $x"],
        [
            "{_id: 1}",
            "{$currentDate: {a: {$type: 'x'}}}",
            "2 The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: \
             {field : {$type: 'date'}}}",
        ],
    ] {
        check(&row);
    }
}

#[test]
fn edits_name_the_roots_they_touch() {
    for (update, touched, not) in [
        ("{$set: {'a.b': 1}}", "a", "b"),
        ("{$rename: {a: 'b.c'}}", "b", "c"),
        ("{$rename: {a: 'b'}}", "a", "c"),
        ("{$unset: {a: 1}}", "a", "b"),
        ("{x: 1}", "x", "a"),
        ("{$push: {'a.$[]': 1}}", "a", "$[]"),
    ] {
        let edit = parsed(update, "", false).unwrap();
        assert!(edit.touches_root(touched) && !edit.touches_root(not), "{update}");
    }
}

#[test]
fn a_replacement_without_an_id_is_a_write_also_where_it_changes_nothing() {
    for row in [
        ["{_id: 1, a: 1}", "{a: 1}", "{_id: 1, a: 1}"],
        ["{_id: 1, a: 1}", "{_id: 1, a: 1}", "= {_id: 1, a: 1}"],
        ["{_id: 1, a: 1}", "{$set: {a: 1}}", "= {_id: 1, a: 1}"],
        ["{_id: 1, a: 1}", "[{$replaceWith: {a: 1}}]", "{_id: 1, a: 1}"],
        ["{_id: 1, a: 1}", "[{$set: {a: 1}}]", "= {_id: 1, a: 1}"],
    ] {
        check(&row);
    }
}

#[test]
fn limits_hold() {
    let deep = format!("{{_id: 1, a: {}1{}}}", "{a: ".repeat(178), "}".repeat(178));
    let path = vec!["a"; 179].join(".");
    let deeper = result(&deep, "{}", &format!("{{$set: {{'{path}': {{a: {{a: 1}}}}}}}}"), "");
    assert_eq!(deeper, "15 Document exceeds maximum nesting depth of 180");
    let long = vec!["a"; 5000].join(".");
    let refused = result("{_id: 1}", "{}", &format!("{{$set: {{'{long}': 1}}}}"), "");
    assert_eq!(refused, "15 The update path is too long");
    let padded = result("{_id: 1, a: []}", "{}", "{$set: {'a.1500001': 1}}", "");
    assert_eq!(padded, "34 can't backfill more than 1500000 elements");
    let big = "x".repeat(9 << 20);
    let update = format!("{{$set: {{b: '{big}'}}}}");
    let large = result(&format!("{{_id: 1, a: '{big}'}}"), "{}", &update, "");
    assert_eq!(large, "17419 Resulting document after update is larger than 16777216");
}
