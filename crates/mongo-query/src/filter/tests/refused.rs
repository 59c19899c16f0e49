//! Invalid filters, with code and text.

use super::refused;

#[test]
fn refusals_have_codes_and_texts() {
    for row in ROWS {
        refused(row);
    }
}

const ROWS: &[[&str; 2]] = &[
    [
        "{$foo: 1}",
        "2 unknown top level operator: $foo. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.",
    ],
    ["{a: {$foo: 1}}", "2 unknown operator: $foo"],
    ["{$and: 1}", "2 $and must be an array"],
    ["{$and: []}", "2 $and/$or/$nor must be a nonempty array"],
    ["{$or: [1]}", "2 $or/$and/$nor entries need to be full objects"],
    ["{$nor: {}}", "2 $nor must be an array"],
    ["{a: {$in: 1}}", "2 $in needs an array"],
    ["{a: {$in: [{$x: 1}]}}", "2 cannot nest $ under $in"],
    ["{a: {$nin: 1}}", "2 $nin needs an array"],
    ["{a: {$not: 1}}", "2 $not needs a regex or a document"],
    ["{a: {$not: {}}}", "2 $not cannot be empty"],
    ["{a: {$not: {b: 1}}}", "2 unknown operator: b"],
    ["{a: {$type: 'foo'}}", "2 Unknown type name alias: foo"],
    ["{a: {$type: 99}}", "2 Invalid numerical type code: 99"],
    ["{a: {$type: 1.5}}", "2 Invalid numerical type code: 1.5"],
    ["{a: {$type: []}}", "9 a must match at least one type"],
    ["{a: {$type: {}}}", "14 type must be represented as a number or a string"],
    ["{a: {$type: 0}}", "2 Invalid numerical type code: 0. Instead use {$exists:false}."],
    ["{a: {$mod: 1}}", "2 malformed mod, needs to be an array"],
    ["{a: {$mod: []}}", "2 malformed mod, not enough elements"],
    ["{a: {$mod: [1]}}", "2 malformed mod, not enough elements"],
    ["{a: {$mod: [0, 1]}}", "2 divisor cannot be 0"],
    ["{a: {$mod: ['a', 1]}}", "2 malformed mod, divisor not a number"],
    ["{a: {$mod: [1, 'a']}}", "2 malformed mod, remainder not a number"],
    ["{a: {$mod: [1, 2, 3]}}", "2 malformed mod, too many elements"],
    [
        "{a: {$mod: [NaN, 1]}}",
        "2 malformed mod, divisor value is invalid :: caused by :: Unable to coerce NaN/Inf to integral type",
    ],
    ["{a: {$mod: [0.5, 1]}}", "2 divisor cannot be 0"],
    ["{a: {$regex: 1}}", "2 $regex has to be a string"],
    ["{a: {$options: 'i'}}", "2 $options needs a $regex"],
    ["{a: {$regex: 'a', $options: 'z'}}", "51108 invalid flag in regex options: z"],
    ["{a: {$regex: 'a', $options: 1}}", "2 $options has to be a string"],
    ["{a: {$regex: /a/i, $options: 'i'}}", "51075 options set in both $regex and $options"],
    ["{a: {$regex: /a/i, $options: ''}}", "51075 options set in both $regex and $options"],
    [r#"{a: {$regex: 'a\0b'}}"#, "2 Regular expression cannot contain an embedded null byte"],
    ["{a: {$all: 1}}", "2 $all needs an array"],
    ["{a: {$all: [{$gt: 1}]}}", "2 no $ expressions in $all"],
    ["{a: {$all: [{$elemMatch: {}}, 1]}}", "2 $all/$elemMatch has to be consistent"],
    ["{a: {$all: [1, {$elemMatch: {}}]}}", "2 no $ expressions in $all"],
    ["{a: {$elemMatch: 1}}", "2 $elemMatch needs an Object"],
    ["{a: {$elemMatch: {$foo: 1}}}", "2 unknown operator: $foo"],
    ["{a: {$size: 'a'}}", r#"2 Failed to parse $size. Expected a number in: $size: "a""#],
    ["{a: {$size: -1}}", "2 Failed to parse $size. Expected a non-negative number in: $size: -1"],
    ["{a: {$size: 1.5}}", "2 Failed to parse $size. Expected an integer: $size: 1.5"],
    [
        "{a: {$bitsAllSet: 'a'}}",
        r#"2 a takes an Array, a number, or a BinData but received: $bitsAllSet: "a""#,
    ],
    ["{a: {$bitsAllSet: -1}}", "9 Expected a non-negative number in: $bitsAllSet: -1"],
    ["{a: {$bitsAllSet: 1.5}}", "9 Expected an integer: $bitsAllSet: 1.5"],
    [
        "{a: {$bitsAllSet: [-1]}}",
        "2 Failed to parse bit position. Expected a non-negative number in: 0: -1",
    ],
    [
        "{a: {$bitsAllSet: ['a']}}",
        r#"2 Failed to parse bit position. Expected a number in: 0: "a""#,
    ],
    ["{a: {$bitsAllSet: [1.5]}}", "2 Failed to parse bit position. Expected an integer: 0: 1.5"],
    ["{a: {$comment: 1}}", "2 unknown operator: $comment"],
    ["{a: {$eq: 1, b: 2}}", "2 unknown operator: b"],
    ["{a: {$gt: /a/}}", "2 Can't have RegEx as arg to predicate over field 'a'."],
    ["{a: {$ne: /a/}}", "2 Can't have regex as arg to $ne."],
    ["{a: {$elemMatch: {$expr: 1}}}", "2 $expr can only be applied to the top-level document"],
    [
        "{a: {$elemMatch: {$and: [{$expr: 1}]}}}",
        "2 $expr can only be applied to the top-level document",
    ],
    ["{a: {$id: 1}}", "2 unknown operator: $id"],
    ["{a: {$expr: 1}}", "2 unknown operator: $expr"],
    ["{a: {$and: []}}", "2 unknown operator: $and"],
    [
        "{$a.b: 1}",
        "2 unknown top level operator: $a.b. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.",
    ],
    ["{$nor: []}", "2 $and/$or/$nor must be a nonempty array"],
    ["{a: {$not: {$foo: 1}}}", "2 unknown operator: $foo"],
    [
        "{$eq: 1}",
        "2 unknown top level operator: $eq. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.",
    ],
    [
        "{$rand: 1}",
        "2 unknown top level operator: $rand. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.",
    ],
    ["{a: {$in: [{$foo: 1}, 1]}}", "2 cannot nest $ under $in"],
    ["{a: {$encrypt: 1}}", "2 unknown operator: $encrypt"],
    ["{a: {$not: []}}", "2 $not needs a regex or a document"],
    ["{a: {$all: [{$regex: 'a'}]}}", "2 no $ expressions in $all"],
    ["{a: {$elemMatch: {$gt: 1, b: 1}}}", "2 unknown operator: b"],
    [
        "{a: {$elemMatch: {b: 1, $gt: 1}}}",
        "2 unknown top level operator: $gt. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.",
    ],
];
