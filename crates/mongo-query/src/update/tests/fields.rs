//! Operators on single fields, replacements, and invalid updates.

use super::check;

#[test]
fn single_fields() {
    for row in ROWS {
        check(row);
    }
}

const ROWS: &[[&str; 3]] = &[
    [
        "{_id: 1, a: 1}",
        "{$foo: {a: 1}}",
        "9 Unknown modifier: $foo. Expected a valid update modifier or pipeline-style update specified as an array",
    ],
    [
        "{_id: 1}",
        "{$set: 1}",
        "9 Modifiers operate on fields but we found type int instead. For example: {$mod: {<field>: ...}} not {$set: 1}",
    ],
    ["{_id: 1}", "{$set: {}}", "= {_id: 1}"],
    [
        "{_id: 1, a: 1}",
        "{$set: {a: 1}, b: 1}",
        "9 Unknown modifier: b. Expected a valid update modifier or pipeline-style update specified as an array",
    ],
    [
        "{_id: 1, a: 1}",
        "{b: 1, $set: {a: 1}}",
        "52 The dollar ($) prefixed field '$set' in '$set' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.",
    ],
    [
        "{_id: 1, a: 1}",
        "{a: 1, $b: 1}",
        "52 The dollar ($) prefixed field '$b' in '$b' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.",
    ],
    ["{_id: 1, a: 1}", "{a: {$b: 1}}", "{_id: 1, a: {$b: 1}}"],
    [
        "{_id: 1}",
        "{$set: {$a: 1}}",
        "52 The dollar ($) prefixed field '$a' in '$a' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.",
    ],
    ["{_id: 1, a: 1}", "{$set: {a: {$x: 1}}}", "{_id: 1, a: {$x: 1}}"],
    ["{_id: 1}", "{$set: {'': 1}}", "56 An empty update path is not valid."],
    [
        "{_id: 1, o: {p: 1}}",
        "{$set: {o.: 1}}",
        "56 The update path 'o.' contains an empty field name, which is not allowed.",
    ],
    [
        "{_id: 1, o: {p: 1}}",
        "{$set: {o..p: 1}}",
        "56 The update path 'o..p' contains an empty field name, which is not allowed.",
    ],
    [
        "{_id: 1}",
        "{$set: {.a: 1}}",
        "56 The update path '.a' contains an empty field name, which is not allowed.",
    ],
    [
        "{_id: 1}",
        "{$set: {_id: 2}}",
        "66 Performing an update on the path '_id' would modify the immutable field '_id'",
    ],
    [
        "{_id: 1}",
        "{$set: {_id: 1.0}}",
        "66 Performing an update on the path '_id' would modify the immutable field '_id'",
    ],
    ["{_id: 1}", "{$set: {_id: 1}}", "= {_id: 1}"],
    [
        "{_id: 1}",
        "{$unset: {_id: 1}}",
        "66 Performing an update on the path '_id' would modify the immutable field '_id'",
    ],
    [
        "{_id: 1, a: 1}",
        "{_id: 2, z: 1}",
        "66 After applying the update, the (immutable) field '_id' was found to have been altered to _id: 2",
    ],
    ["{_id: 1, a: 1}", "{z: 1, _id: 1}", "{_id: 1, z: 1}"],
    ["{_id: 1, a: 1}", "{z: 1}", "{_id: 1, z: 1}"],
    ["{_id: 1}", "{$set: {_id.x: 1}}", "28 Cannot create field 'x' in element {_id: 1}"],
    [
        "{_id: 1}",
        "{$rename: {_id: 'x'}}",
        "66 Performing an update on the path '_id' would modify the immutable field '_id'",
    ],
    [
        "{_id: 1, a: 1}",
        "{$rename: {a: '_id'}}",
        "66 Performing an update on the path '_id' would modify the immutable field '_id'",
    ],
    ["{_id: 1, a: 1}", "{$set: {a.b: 1}}", "28 Cannot create field 'b' in element {a: 1}"],
    ["{_id: 1, s: 'x'}", "{$set: {s.0: 1}}", r#"28 Cannot create field '0' in element {s: "x"}"#],
    ["{_id: 1, n: null}", "{$set: {n.b: 1}}", "28 Cannot create field 'b' in element {n: null}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$set: {r.b: 1}}",
        "28 Cannot create field 'b' in element {r: [ 1, 2, 3 ]}",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$set: {r.5: 1}}", "{_id: 1, r: [1, 2, 3, null, null, 1]}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$set: {r.2000000: 1}}",
        "34 can't backfill more than 1500000 elements",
    ],
    ["{_id: 1, r: [1, 2, 3]}", "{$set: {r.01: 1}}", "{_id: 1, r: [1, 1, 3]}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$set: {r.4294967296: 1}}",
        "28 Cannot create field '4294967296' in element {r: [ 1, 2, 3 ]}",
    ],
    ["{_id: 1, q: [{x: 1}, {x: 2}]}", "{$set: {q.0.x: 5}}", "{_id: 1, q: [{x: 5}, {x: 2}]}"],
    [
        "{_id: 1, q: [{x: 1}, {x: 2}]}",
        "{$set: {q.x: 5}}",
        "28 Cannot create field 'x' in element {q: [ { x: 1 }, { x: 2 } ]}",
    ],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$set: {r.0.x: 5}}",
        "28 Cannot create field 'x' in element {0: 1}",
    ],
    ["{_id: 1}", "{$set: {new.0.x: 5}}", "{_id: 1, new: {0: {x: 5}}}"],
    [
        "{_id: 1}",
        "{$set: {z: 1, y: 2, x.b: 1, x.a: 2, 10: 1, 9: 1, B: 1}}",
        "{_id: 1, 9: 1, 10: 1, B: 1, x: {a: 2, b: 1}, y: 2, z: 1}",
    ],
    ["{_id: 1}", "{$set: {zz: 1}, $inc: {aa: 1}}", "{_id: 1, aa: 1, zz: 1}"],
    [
        "{_id: 1, a: 1}",
        "{$set: {a: 1, a.b: 1}}",
        "40 Updating the path 'a.b' would create a conflict at 'a'",
    ],
    [
        "{_id: 1, a: 1}",
        "{$set: {a: 1}, $inc: {a: 1}}",
        "40 Updating the path 'a' would create a conflict at 'a'",
    ],
    [
        "{_id: 1, o: {p: 1}}",
        "{$set: {o.p: 1}, $unset: {o: 1}}",
        "40 Updating the path 'o' would create a conflict at 'o'",
    ],
    ["{_id: 1, a: 1}", "{$set: {a: 1.0}}", "{_id: 1, a: 1.0}"],
    ["{_id: 1, a: 1}", "{$set: {a: 1}}", "= {_id: 1, a: 1}"],
    ["{_id: 1, a: 1}", "{$unset: {a: 1}}", "{_id: 1}"],
    ["{_id: 1}", "{$unset: {zz: 1}}", "= {_id: 1}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$unset: {r.1: 1}}", "{_id: 1, r: [1, null, 3]}"],
    ["{_id: 1, a: 1}", "{$unset: {a.b: 1}}", "= {_id: 1, a: 1}"],
    ["{_id: 1, o: {p: 1}}", "{$unset: {o.p: 1}}", "{_id: 1, o: {}}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$unset: {r.x: 1}}", "= {_id: 1, r: [1, 2, 3]}"],
    // Several fields of one document are removed together.
    ["{_id: 1, a: 1, b: 2, c: 3}", "{$unset: {c: 1, a: 1, zz: 1}}", "{_id: 1, b: 2}"],
    [
        "{_id: 1, o: {a: 1, b: 2, c: {d: 3, e: 4}}, a: 5}",
        "{$unset: {o.c.e: 1, o.a: 1, o.c.d: 1, a: 1, o.b: 1}}",
        "{_id: 1, o: {c: {}}}",
    ],
    [
        "{_id: 1, r: [1, null, 3, {a: 1, b: 2}]}",
        "{$unset: {r.0: 1, r.1: 1, r.3.a: 1, r.3.b: 1, r.9: 1}}",
        "{_id: 1, r: [null, null, 3, {}]}",
    ],
    ["{_id: 1, r: [null, null]}", "{$unset: {r.0: 1, r.1: 1}}", "= {_id: 1, r: [null, null]}"],
    ["{_id: 1, a: 1}", "{$unset: {x: 1, y.z: 1, a.b: 1}}", "= {_id: 1, a: 1}"],
    ["{_id: 1, a: 1, b: 2, c: 3}", "{$unset: {a: 1, c: 1}, $set: {b: 9}}", "{_id: 1, b: 9}"],
    ["{_id: 1, a: 1}", "{$rename: {a: 'zz'}}", "{_id: 1, zz: 1}"],
    [
        "{_id: 1, a: 1}",
        "{$rename: {a: 'a'}}",
        r#"2 The source and target field for $rename must differ: a: "a""#,
    ],
    [
        "{_id: 1, a: 1}",
        "{$rename: {a: 'a.b'}}",
        r#"2 The source and target field for $rename must not be on the same path: a: "a.b""#,
    ],
    [
        "{_id: 1, a: 1}",
        "{$rename: {a.b: 'a'}}",
        r#"2 The source and target field for $rename must not be on the same path: a.b: "a""#,
    ],
    ["{_id: 1, a: 1}", "{$rename: {a: 1}}", "2 The 'to' field for $rename must be a string: a: 1"],
    ["{_id: 1}", "{$rename: {nope: 'zz'}}", "= {_id: 1}"],
    ["{_id: 1, a: 1, s: 'x'}", "{$rename: {a: 's'}}", "{_id: 1, s: 1}"],
    ["{_id: 1, a: 1, o: {p: 1}}", "{$rename: {a: 'o.p'}}", "{_id: 1, o: {p: 1}}"],
    ["{_id: 1, o: {p: 1}}", "{$rename: {o.p: 'zz'}}", "{_id: 1, o: {}, zz: 1}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$rename: {r.0: 'zz'}}",
        "2 The source field cannot be an array element, 'r.0' in doc with _id: 1 has an array field called 'r'",
    ],
    [
        "{_id: 1, a: 1, r: [1, 2, 3]}",
        "{$rename: {a: 'r.0'}}",
        "2 The destination field cannot be an array element, 'r.0' in doc with _id: 1 has an array field called 'r'",
    ],
    [
        "{_id: 1, a: 1}",
        "{$rename: {a: '$x'}}",
        "52 The dollar ($) prefixed field '$x' in '$x' is not allowed in the context of an update's replacement document. Consider using an aggregation pipeline with $replaceWith.",
    ],
    ["{_id: 1, a: 1}", "{$rename: {a: ''}}", "56 An empty update path is not valid."],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$rename: {r.x: 'zz'}}",
        "28 cannot use the part (r of r.x) to traverse the element ({r: [ 1, 2, 3 ]})",
    ],
    [
        "{_id: 1, a: 1, s: 'x'}",
        "{$rename: {a: 's.x'}}",
        r#"28 Cannot create field 'x' in element {s: "x"}"#,
    ],
    [
        "{_id: 1, a: 1}",
        "{$rename: {a.b: 'zz'}}",
        "28 cannot use the part (a of a.b) to traverse the element ({a: 1})",
    ],
    [
        "{_id: 1, a: 1}",
        "{$rename: {a: 'b'}, $set: {b: 1}}",
        "40 Updating the path 'b' would create a conflict at 'b'",
    ],
    [
        "{_id: 1, a: 1}",
        "{$rename: {a: 'b'}, $set: {a: 1}}",
        "40 Updating the path 'a' would create a conflict at 'a'",
    ],
    ["{_id: 1}", "{$setOnInsert: {zz: 1}}", "= {_id: 1}"],
    [
        "{_id: 1, r: [1, 2, 3]}",
        "{$set: {r.e$: 9}}",
        "28 Cannot create field 'e$' in element {r: [ 1, 2, 3 ]}",
    ],
    ["{_id: 1, a: 1}", "5", "9 Update argument must be either an object or an array"],
    ["{_id: 1, a: 1}", "'x'", "9 Update argument must be either an object or an array"],
    ["{_id: 1, a: 1}", "{a: {_id: 5}}", "{_id: 1, a: {_id: 5}}"],
    ["{_id: 1, a: 1}", "{_id: 1.0, z: 1}", "{_id: 1.0, z: 1}"],
    ["{_id: 1, a: 1}", "{_id: NumberLong(1), z: 1}", "{_id: NumberLong(1), z: 1}"],
    [
        "{_id: 1, a: 1}",
        "{_id: {$a: 1}}",
        "52 _id fields may not contain '$'-prefixed fields: $a is not valid for storage.",
    ],
    ["{_id: 1, a: 1, o: {p: [5, 6]}}", "{$rename: {o: 'a'}}", "{_id: 1, a: {p: [5, 6]}}"],
    ["{_id: 1, o: {p: [5, 6]}}", "{$rename: {o.p: 'o.z'}}", "{_id: 1, o: {z: [5, 6]}}"],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}], o: {p: [5, 6]}}",
        "{$rename: {q: 'o.q'}}",
        "{_id: 1, o: {p: [5, 6], q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}}",
    ],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$rename: {q.0.x: 'zz'}}",
        "2 The source field cannot be an array element, 'q.0.x' in doc with _id: 1 has an array field called 'q'",
    ],
    [
        "{_id: 1, a: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$rename: {a: 'q.0.z'}}",
        "2 The destination field cannot be an array element, 'q.0.z' in doc with _id: 1 has an array field called 'q'",
    ],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$rename: {zz: 'q.0.z'}}",
        "= {_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
    ],
    ["{_id: 1, a: 1}", "{$rename: {a: 'zz.b.c'}}", "{_id: 1, zz: {b: {c: 1}}}"],
    [
        "{_id: 1, a: 1, r: [1, 2, 3]}",
        "{$rename: {a: 'a2', r: 'a3'}}",
        "{_id: 1, a2: 1, a3: [1, 2, 3]}",
    ],
    ["{_id: 1, a: 1, r: [1, 2, 3]}", "{$rename: {a: 'r'}}", "{_id: 1, r: 1}"],
    ["{_id: 1}", "{$rename: {zz: '_id'}}", "= {_id: 1}"],
    ["{_id: 1, r: [1, 2, 3]}", "{$unset: {r.7: 1}}", "= {_id: 1, r: [1, 2, 3]}"],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$unset: {q.0: 1}}",
        "{_id: 1, q: [null, {x: 2, y: [3, 4]}]}",
    ],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$unset: {q.0.x: 1}}",
        "{_id: 1, q: [{y: [1, 2]}, {x: 2, y: [3, 4]}]}",
    ],
    [
        "{_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
        "{$unset: {q.x: 1}}",
        "= {_id: 1, q: [{x: 1, y: [1, 2]}, {x: 2, y: [3, 4]}]}",
    ],
    ["{_id: 1}", "{$unset: {'': 1}}", "56 An empty update path is not valid."],
    ["{_id: 1, a: 1}", "{$unset: {a: 1, zz: 1}}", "{_id: 1}"],
    ["{_id: 1}", "{$unset: {$a: 1}}", "= {_id: 1}"],
    [
        "{_id: 1, a: 1, r: [1, 2, 3]}",
        "{$set: {a: 5}, $unset: {r: 1}, $inc: {n: 1}}",
        "{_id: 1, a: 5, n: 1}",
    ],
    [
        "{_id: 1}",
        "{$set: {b.z: 1}, $inc: {b.a: 1}, $push: {b.m: 1}}",
        "{_id: 1, b: {a: 1, m: [1], z: 1}}",
    ],
    [
        "{_id: 1}",
        "{$setOnInsert: {n: 1}, $set: {n: 2}}",
        "40 Updating the path 'n' would create a conflict at 'n'",
    ],
    [
        "{_id: 1, o: {p: [5, 6]}}",
        "{$set: {o.p.3: 1, o.p.10: 1, o.p.2: 1}}",
        "{_id: 1, o: {p: [5, 6, 1, 1, null, null, null, null, null, null, 1]}}",
    ],
    ["{_id: 1, o: {p: [5, 6]}}", "{$set: {o: {}}}", "{_id: 1, o: {}}"],
    ["{_id: 1, o: {p: [5, 6]}}", "{$set: {o.p: [5, 6]}}", "= {_id: 1, o: {p: [5, 6]}}"],
    ["{_id: 1, o: {p: [5, 6]}}", "{$set: {o.p: [5.0, 6]}}", "{_id: 1, o: {p: [5.0, 6]}}"],
    ["{_id: 1, a: 1}", "{$set: {a: null}}", "{_id: 1, a: null}"],
    ["{_id: 1, a: 1}", "{$set: {a: {$a: 1}, b: [{$c: 1}]}}", "{_id: 1, a: {$a: 1}, b: [{$c: 1}]}"],
    ["{_id: 1}", "{$set: {$ref: 1}}", "55 The DBRef $ref field must be a String, not a int"],
    ["{_id: 1, a: 1}", "{$set: {a: {'': 1}}}", "{_id: 1, a: {'': 1}}"],
    ["{_id: 1, a: 1}", "{'': 1}", "{_id: 1, '': 1}"],
    ["{_id: 1, a: 1}", "{a.b: 1, c..: 2}", "{_id: 1, a.b: 1, c..: 2}"],
];
