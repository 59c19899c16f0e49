//! Operators on arrays.

use super::check;

#[test]
fn arrays_change() {
    for row in ROWS {
        check(row);
    }
}

const ROWS: &[[&str; 3]] = &[
    ["{_id: 1, r: [1, 2, 3]}", "{$push: {r: 4}}", "{_id: 1, r: [1, 2, 3, 4]}"],
    ["{_id: 1}", "{$push: {zz: 4}}", "{_id: 1, zz: [4]}"],
    [
        "{_id: 1, a: 1}",
        "{$push: {a: 4}}",
        "2 The field 'a' must be an array but is of type int in document {_id: 1}",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$push: {r: {$each: [4, 5]}}}", "{_id: 1, r: [1, 2, 3, 4, 5]}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: 4}}}",
        "2 The argument to $each in $push must be an array but it was of type: int",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$push: {r: {$each: [], $slice: 2}}}", "{_id: 1, r: [1, 2]}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$push: {r: {$each: [], $slice: -2}}}", "{_id: 1, r: [2, 3]}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$push: {r: {$each: [0], $sort: 1}}}", "{_id: 1, r: [0, 1, 2, 3]}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [0], $sort: {x: 1}}}}",
        "{_id: 1, r: [1, 2, 3, 0]}",
    ],
    [
        "{_id: 1, q: [{x: 1}, {x: 2}]}",
        "{$push: {q: {$each: [{x: 0}], $sort: {x: -1}}}}",
        "{_id: 1, q: [{x: 2}, {x: 1}, {x: 0}]}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [9, 8], $position: 1}}}",
        "{_id: 1, r: [1, 9, 8, 2, 3]}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [9, 8], $position: -1}}}",
        "{_id: 1, r: [1, 2, 9, 8, 3]}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [9, 8], $position: 'a'}}}",
        "2 The value for $position must be an integer value, not of type: string",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [9], $position: 1.5}}}",
        "2 The value for $position must be an integer value, not of type: double",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [9], $slice: 1.5}}}",
        "2 The value for $slice must be an integer value but was given type: double",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [9], $slice: 'a'}}}",
        "2 The value for $slice must be an integer value but was given type: string",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [9], $sort: 2}}}",
        "2 The $sort element value must be either 1 or -1",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [9], $sort: 'a'}}}",
        "2 The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [9], $sort: {}}}}",
        "2 The sort pattern is empty when it should be a set of fields.",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [9], $sort: {x: 2}}}}",
        "2 The sort element value must be either 1 or -1",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [9], $foo: 2}}}",
        "2 Unrecognized clause in $push: $foo",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$push: {r: {$foo: 2}}}", "{_id: 1, r: [1, 2, 3, {$foo: 2}]}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$push: {r: {$slice: 2}}}", "{_id: 1, r: [1, 2, 3, {$slice: 2}]}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {x: 2, $each: [1]}}}",
        "2 Unrecognized clause in $push: x",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [9], x: 2}}}",
        "2 Unrecognized clause in $push: x",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$push: {r: {$each: [], $slice: 0}}}", "{_id: 1, r: []}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$push: {r: {$each: []}}}", "= {_id: 1, r: [1, 2, 3]}"],
    ["{_id: 1}", "{$push: {zz: {$each: []}}}", "{_id: 1, zz: []}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [5], $sort: {'': 1}}}}",
        "2 The sort field cannot be empty",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [5], $sort: {a..b: 1}}}}",
        "2 The sort field is a dotted field but has an empty part: a..b",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [5], $sort: {$a: 1}}}}",
        "{_id: 1, r: [1, 2, 3, 5]}",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$addToSet: {r: 1}}", "= {_id: 1, r: [1, 2, 3]}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$addToSet: {r: 1.0}}", "= {_id: 1, r: [1, 2, 3]}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$addToSet: {r: 9}}", "{_id: 1, r: [1, 2, 3, 9]}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$addToSet: {r: {$each: [1, 9, 9.0]}}}",
        "{_id: 1, r: [1, 2, 3, 9]}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$addToSet: {r: {$each: 1}}}",
        "14 The argument to $each in $addToSet must be an array but it was of type int",
    ],
    [
        "{_id: 1, a: 1}",
        "{$addToSet: {a: 1}}",
        "2 Cannot apply $addToSet to non-array field. Field named 'a' has non-array type int",
    ],
    ["{_id: 1}", "{$addToSet: {zz: {$each: [1, 1]}}}", "{_id: 1, zz: [1]}"],
    ["{_id: 1}", "{$addToSet: {zz: {$each: []}}}", "{_id: 1, zz: []}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$addToSet: {r: {$each: [5], x: 1}}}",
        "2 Found unexpected fields after $each in $addToSet: { $each: [ 5 ], x: 1 }",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$addToSet: {r: {x: 1, $each: [5]}}}",
        "{_id: 1, r: [1, 2, 3, {x: 1, $each: [5]}]}",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$addToSet: {r: {$foo: 1}}}", "{_id: 1, r: [1, 2, 3, {$foo: 1}]}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$addToSet: {r: {$each: [1], $slice: 1}}}",
        "2 Found unexpected fields after $each in $addToSet: { $each: [ 1 ], $slice: 1 }",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$pop: {r: 1}}", "{_id: 1, r: [1, 2]}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$pop: {r: -1}}", "{_id: 1, r: [2, 3]}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$pop: {r: 0}}", "9 $pop expects 1 or -1, found: 0"],
    ["{_id: 1, r: [1, 2, 3]}", "{$pop: {r: 'a'}}", r#"9 Expected a number in: r: "a""#],
    ["{_id: 1, r: [1, 2, 3]}", "{$pop: {r: 1.0}}", "{_id: 1, r: [1, 2]}"],
    ["{_id: 1, a: 1}", "{$pop: {a: 1}}", "14 Path 'a' contains an element of non-array type 'int'"],
    ["{_id: 1}", "{$pop: {zz: 1}}", "= {_id: 1}"],
    [
        "{_id: 1, a: 1}",
        "{$pop: {a.b: 1}}",
        "28 Cannot use the part (b) of (a.b) to traverse the element ({a: 1})",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$pop: {r.x: 1}}",
        "28 Cannot use the part (x) of (r.x) to traverse the element ({r: [ 1, 2, 3 ]})",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$pull: {r: 1}}", "{_id: 1, r: [2, 3]}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$pull: {r: {$gte: 2}}}", "{_id: 1, r: [1]}"],
    ["{_id: 1, q: [{x: 1}, {x: 2}]}", "{$pull: {q: {x: 1}}}", "{_id: 1, q: [{x: 2}]}"],
    ["{_id: 1, q: [{x: 1}, {x: 2}]}", "{$pull: {q: {x: {$gt: 1}}}}", "{_id: 1, q: [{x: 1}]}"],
    ["{_id: 1, q: [{x: 1}, {x: 2}]}", "{$pull: {q: {$or: [{x: 1}]}}}", "{_id: 1, q: [{x: 2}]}"],
    ["{_id: 1, a: 1}", "{$pull: {a: 1}}", "2 Cannot apply $pull to a non-array value"],
    ["{_id: 1}", "{$pull: {zz: 1}}", "= {_id: 1}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$pull: {r: {$in: [1, 3]}}}", "{_id: 1, r: [2]}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$pull: {r: {$foo: 1}}}",
        "2 unknown top level operator: $foo. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.",
    ],
    [
        "{_id: 1, a: 1}",
        "{$pull: {a.b: 1}}",
        "28 Cannot use the part (b) of (a.b) to traverse the element ({a: 1})",
    ],
    [
        "{_id: 1, q: [{x: 1}, {x: 2}]}",
        "{$pull: {q: {$elemMatch: {x: 1}}}}",
        "= {_id: 1, q: [{x: 1}, {x: 2}]}",
    ],
    ["{_id: 1, q: [{x: 1}, {x: 2}]}", "{$pull: {q: {}}}", "{_id: 1, q: []}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$pull: {r: /a/}}", "= {_id: 1, r: [1, 2, 3]}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$pull: {r: [1, 2]}}", "= {_id: 1, r: [1, 2, 3]}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$pull: {r.x: 1}}",
        "28 Cannot use the part (x) of (r.x) to traverse the element ({r: [ 1, 2, 3 ]})",
    ],
    [
        "{_id: 1, q: [{x: 1}, {x: 2}]}",
        "{$pull: {q: {$expr: 1}}}",
        "224 $expr is not allowed in this context",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$pullAll: {r: [1, 3.0]}}", "{_id: 1, r: [2]}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$pullAll: {r: 1}}",
        "2 $pullAll requires an array argument but was given a int",
    ],
    ["{_id: 1, a: 1}", "{$pullAll: {a: [1]}}", "2 Cannot apply $pull to a non-array value"],
    ["{_id: 1}", "{$pullAll: {zz: [1]}}", "= {_id: 1}"],
    ["{_id: 1, q: [{x: 1}, {x: 2}]}", "{$pullAll: {q: [{x: 1}]}}", "{_id: 1, q: [{x: 2}]}"],
    [
        "{_id: 1, a: 1}",
        "{$pullAll: {a.b: [1]}}",
        "28 Cannot use the part (b) of (a.b) to traverse the element ({a: 1})",
    ],
    ["{_id: 1, o: {p: [5, 6]}}", "{$addToSet: {o.p: {x: 1}}}", "{_id: 1, o: {p: [5, 6, {x: 1}]}}"],
    ["{_id: 1, g: [[1, 2], [3, 4]]}", "{$pull: {g: [1, 2]}}", "{_id: 1, g: [[3, 4]]}"],
    ["{_id: 1, g: [[1, 2], [3, 4]]}", "{$pull: {g: {$in: [[1, 2]]}}}", "{_id: 1, g: [[3, 4]]}"],
    ["{_id: 1, g: [[1, 2], [3, 4]]}", "{$pull: {g: {$in: [1]}}}", "{_id: 1, g: [[3, 4]]}"],
    ["{_id: 1, g: [[1, 2], [3, 4]]}", "{$pull: {g: {$gt: 3}}}", "{_id: 1, g: [[1, 2]]}"],
    [
        "{_id: 1, g: [[1, 2], [3, 4]]}",
        "{$pull: {g: {$elemMatch: {$gt: 3}}}}",
        "{_id: 1, g: [[1, 2]]}",
    ],
    ["{_id: 1, g: [[1, 2], [3, 4]]}", "{$pull: {g: {$size: 2}}}", "{_id: 1, g: []}"],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$pull: {q: {x: {$in: [1, 5]}, y: 2}}}",
        "{_id: 1, q: [{x: 2, y: [3, 4]}]}",
    ],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$pull: {q: {y: {$all: [3, 4]}}}}",
        "{_id: 1, q: [{x: 1, y: [1, 2]}]}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$pull: {r: {$not: {$gt: 1}}}}",
        "2 unknown top level operator: $not. If you are trying to negate an entire expression, use $nor.",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$pull: {r: {$ne: 1}}}", "{_id: 1, r: [1]}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$pull: {r: null}}", "= {_id: 1, r: [1, 2, 3]}"],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$pull: {q: {x: 1, y: [1, 2]}}}",
        "{_id: 1, q: [{x: 2, y: [3, 4]}]}",
    ],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$pull: {q: {y: [1, 2], x: 1}}}",
        "{_id: 1, q: [{x: 2, y: [3, 4]}]}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [3, 1, 2], $sort: -1, $slice: 4}}}",
        "{_id: 1, r: [3, 3, 2, 2]}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [3, 1, 2], $sort: 1, $slice: -2, $position: 0}}}",
        "{_id: 1, r: [3, 3]}",
    ],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$push: {q: {$each: [], $sort: {y: -1}}}}",
        "{_id: 1, q: [{x: 2, y: [3, 4]}, {x: 1, y: [1, 2]}]}",
    ],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$push: {q: {$each: [5, {x: 0}], $sort: {x: 1}}}}",
        "{_id: 1, q: [5, {x: 0}, {x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
    ],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$push: {q: {$each: [{x: {z: 3}}, {x: {z: 1}}], $sort: {x.z: 1}}}}",
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}, {x: {z: 1}}, {x: {z: 3}}]}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [7], $position: 100}}}",
        "{_id: 1, r: [1, 2, 3, 7]}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [7], $position: -100}}}",
        "{_id: 1, r: [7, 1, 2, 3]}",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$push: {r: [8, 9]}}", "{_id: 1, r: [1, 2, 3, [8, 9]]}"],
    ["{_id: 1, a: 1}", "{$push: {a.b: 1}}", "28 Cannot create field 'b' in element {a: 1}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r.0: 1}}",
        "2 The field 'r.0' must be an array but is of type int in document {_id: 1}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [1], $sort: 1.0, $slice: 2.0}}}",
        "{_id: 1, r: [1, 1]}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [1], $sort: {a: -1}}}}",
        "{_id: 1, r: [1, 2, 3, 1]}",
    ],
    ["{_id: 1, o: {p: [5, 6]}}", "{$push: {o.n.m: 1}}", "{_id: 1, o: {p: [5, 6], n: {m: [1]}}}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [1], $slice: null}}}",
        "2 The value for $slice must be an integer value but was given type: null",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [1], $slice: NumberLong(2)}}}",
        "{_id: 1, r: [1, 2]}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$push: {r: {$each: [], $slice: 100}}}",
        "= {_id: 1, r: [1, 2, 3]}",
    ],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$addToSet: {q: {y: [1, 2], x: 1}}}",
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}, {y: [1, 2], x: 1}]}",
    ],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$addToSet: {q: {x: 1, y: [1, 2]}}}",
        "= {_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
    ],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$addToSet: {q: {x: 1.0, y: [1, 2]}}}",
        "= {_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
    ],
    [
        "{_id: 1, g: [[1, 2], [3, 4]]}",
        "{$addToSet: {g: [1, 2]}}",
        "= {_id: 1, g: [[1, 2], [3, 4]]}",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$addToSet: {r: null}}", "{_id: 1, r: [1, 2, 3, null]}"],
];
