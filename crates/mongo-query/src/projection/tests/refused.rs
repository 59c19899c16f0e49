//! Invalid projections, with code and text.

use super::refused;

#[test]
fn refusals_have_codes_and_texts() {
    for row in ROWS {
        refused(row);
    }
}

const ROWS: &[[&str; 2]] = &[
    [
        "{a: 0, z: {$add: [1, 2]}}",
        "31252 Cannot use expression other than $meta in exclusion projection",
    ],
    ["{a: 0, z: 'x'}", "31310 Cannot use an expression z: \"x\" in an exclusion projection"],
    ["{a: 0, z: 1}", "31253 Cannot do inclusion on field z in exclusion projection"],
    ["{a: 1, z: 0}", "31254 Cannot do exclusion on field z in inclusion projection"],
    ["{a: {x: 1, y: 0}}", "31254 Cannot do exclusion on field y in inclusion projection"],
    ["{a: 1, a.x: 1}", "31249 Path collision at a.x remaining portion x"],
    ["{a.x: 1, a: 1}", "31250 Path collision at a"],
    ["{a.: 1}", "40353 FieldPath must not end with a '.'."],
    ["{'': 1}", "40352 FieldPath cannot be constructed with empty string"],
    ["{.a: 1}", "15998 FieldPath field names may not be empty strings."],
    [
        "{$a: 1}",
        "16410 FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ],
    [
        "{a.$b: 1}",
        "16410 FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ],
    ["{b: {$slice: 1}, b.c: 1}", "31249 Path collision at b.c remaining portion c"],
    ["{a.k: {$elemMatch: {c: 1}}}", "31275 Cannot use $elemMatch projection on a nested field."],
    ["{k: {$elemMatch: 1}}", "31274 elemMatch: Invalid argument, object required, but got int"],
    [
        "{a: {$elemMatch: {x: 1}, y: 1}}",
        "16410 FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ],
    ["{k: {}}", "51270 An empty sub-projection is not a valid value. Found empty object at path"],
    [
        "{a: {x: {}}}",
        "51270 An empty sub-projection is not a valid value. Found empty object at path",
    ],
    [
        "{a: {$slice: 1, x: 1}}",
        "16410 FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ],
    ["{a: {_id: 0, x: 1}}", "31253 Cannot do inclusion on field x in exclusion projection"],
    ["{a._id: 0, z: 1}", "31253 Cannot do inclusion on field z in exclusion projection"],
    ["{k.$: 0}", "31395 positional projection cannot be used with exclusion"],
    [
        "{k.$.x: 1}",
        "31394 As of 4.4, it's illegal to specify positional operator in the middle of a path.Positional projection may only be used at the end, for example: a.b.$. If the query previously used a form like a.b.$.d, remove the parts following the '$' and the results will be equivalent.",
    ],
    ["{k.$: 1, z: 0}", "31254 Cannot do exclusion on field z in inclusion projection"],
    ["{k.$: 1, b.$: 1}", "31276 Cannot specify more than one positional projection per query."],
    ["{k.$: 'x'}", "31308 positional projection cannot be used with a literal"],
    [
        "{$: 1}",
        "16410 FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ],
    ["{k.$: 1, k: 1}", "31250 Path collision at k"],
    [
        "{k.$: 1, b: {$elemMatch: {c: 1}}}",
        "31255 Cannot specify positional operator and $elemMatch.",
    ],
    [
        "{k.$.c: 1}",
        "31394 As of 4.4, it's illegal to specify positional operator in the middle of a path.Positional projection may only be used at the end, for example: a.b.$. If the query previously used a form like a.b.$.d, remove the parts following the '$' and the results will be equivalent.",
    ],
];
