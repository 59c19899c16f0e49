//! Stages that change each row: `$project`, `$set`, `$unset`, `$replaceRoot`, `$redact`, `$unwind`.

pub(super) const ROWS: &[(&str, &str)] = &[
    (
        "[{$unwind: '$l'}]",
        "{_id: 1, a: 1, x: 'p', l: 1, o: {e: 2}}; {_id: 1, a: 1, x: 'p', l: 2, o: {e: 2}}; {_id: 4, a: 's', l: 5, x: null}",
    ),
    (
        "[{$unwind: {path: '$l', preserveNullAndEmptyArrays: true, includeArrayIndex: 'i'}}]",
        "{_id: 1, a: 1, x: 'p', l: 1, o: {e: 2}, i: NumberLong(0)}; {_id: 1, a: 1, x: 'p', l: 2, o: {e: 2}, i: NumberLong(1)}; {_id: 2, a: NumberLong(2), x: 'q', i: null}; {_id: 3, a: 2.5, x: 'p', i: null}; {_id: 4, a: 's', l: 5, x: null, i: null}; {_id: 5, l: null, i: null}",
    ),
    (
        "[{$unwind: 'l'}]",
        "error 28818: path option to $unwind stage should be prefixed with a '$': l",
    ),
    (
        "[{$unwind: 1}]",
        "error 15981: expected either a string or an object as specification for $unwind stage, got int",
    ),
    ("[{$unwind: {}}]", "error 28812: no path specified to $unwind stage"),
    (
        "[{$unwind: {path: 1}}]",
        "error 28808: expected a string as the path for $unwind stage, got int",
    ),
    (
        "[{$unwind: {path: '$l', includeArrayIndex: 1}}]",
        "error 28810: expected a non-empty string for the includeArrayIndex  option to $unwind stage, got int",
    ),
    (
        "[{$unwind: {path: '$l', includeArrayIndex: '$i'}}]",
        "error 28822: includeArrayIndex option to $unwind stage should not be prefixed with a '$': $i",
    ),
    (
        "[{$unwind: {path: '$l', includeArrayIndex: ''}}]",
        "error 28810: expected a non-empty string for the includeArrayIndex  option to $unwind stage, got string",
    ),
    (
        "[{$unwind: {path: '$l', preserveNullAndEmptyArrays: 1}}]",
        "error 28809: expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got int",
    ),
    ("[{$unwind: {path: '$l', z: 1}}]", "error 28811: unrecognized option to $unwind stage: z"),
    ("[{$unwind: '$'}]", "error 40352: FieldPath cannot be constructed with empty string"),
    ("[{$unwind: '$l.'}]", "error 40353: FieldPath must not end with a '.'."),
    (
        "[{$unwind: {path: '$l', includeArrayIndex: 'o.i'}}]",
        "{_id: 1, a: 1, x: 'p', l: 1, o: {e: 2, i: NumberLong(0)}}; {_id: 1, a: 1, x: 'p', l: 2, o: {e: 2, i: NumberLong(1)}}; {_id: 4, a: 's', l: 5, x: null, o: {i: null}}",
    ),
    ("[{$unwind: '$o.e'}]", "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}"),
    (
        "[{$unwind: '$$ROOT'}]",
        "error 16410: FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ),
    ("[{$unwind: ''}]", "error 28812: no path specified to $unwind stage"),
    ("[{$project: 1}]", "error 15969: $project specification must be an object"),
    (
        "[{$project: {}}]",
        "error 51272: Invalid $project :: caused by :: projection specification must have at least one field",
    ),
    ("[{$addFields: 1}]", "error 40272: $addFields specification stage must be an object, got int"),
    (
        "[{$addFields: {}}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}; {_id: 2, a: NumberLong(2), x: 'q', l: []}; {_id: 3, a: 2.5, x: 'p'}; {_id: 4, a: 's', l: 5, x: null}; {_id: 5, l: null}",
    ),
    (
        "[{$set: {}}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}; {_id: 2, a: NumberLong(2), x: 'q', l: []}; {_id: 3, a: 2.5, x: 'p'}; {_id: 4, a: 's', l: 5, x: null}; {_id: 5, l: null}",
    ),
    (
        "[{$set: {a: {}}}, {$limit: 1}]",
        "error 40180: Invalid $set :: caused by :: an empty object is not a valid value. Found empty object at path a",
    ),
    ("[{$set: {o: {z: 1}}}, {$limit: 1}]", "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2, z: 1}}"),
    ("[{$set: {'o.z': 1}}, {$limit: 1}]", "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2, z: 1}}"),
    (
        "[{$set: {'l.z': 1}}]",
        "{_id: 1, a: 1, x: 'p', l: [{z: 1}, {z: 1}], o: {e: 2}}; {_id: 2, a: NumberLong(2), x: 'q', l: []}; {_id: 3, a: 2.5, x: 'p', l: {z: 1}}; {_id: 4, a: 's', l: {z: 1}, x: null}; {_id: 5, l: {z: 1}}",
    ),
    (
        "[{$set: {a: {$foo: 1}}}]",
        "error 168: Invalid $set :: caused by :: Unrecognized expression '$foo'",
    ),
    (
        "[{$set: {a: 1, 'a.b': 1}}]",
        "error 40176: Invalid $set :: caused by :: specification contains two conflicting paths. Cannot specify both 'a.b' and 'a': { a: 1, a.b: 1 }",
    ),
    (
        "[{$set: {'a.b': 1, a: 1}}]",
        "error 40176: Invalid $set :: caused by :: specification contains two conflicting paths. Cannot specify both 'a' and 'a.b': { a.b: 1, a: 1 }",
    ),
    (
        "[{$set: {$a: 1}}]",
        "error 16410: Invalid $set :: caused by :: FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ),
    (
        "[{$set: {'a..b': 1}}]",
        "error 15998: Invalid $set :: caused by :: FieldPath field names may not be empty strings.",
    ),
    (
        "[{$set: {'': 1}}]",
        "error 40352: Invalid $set :: caused by :: FieldPath cannot be constructed with empty string",
    ),
    (
        "[{$set: {'a.$b': 1}}]",
        "error 16410: Invalid $set :: caused by :: FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ),
    (
        "[{$set: {a: {'b.c': 1}}}, {$limit: 1}]",
        "error 40183: Invalid $set :: caused by :: cannot use dotted field name 'b.c' in a sub object: { a: { b.c: 1 } }",
    ),
    (
        "[{$set: {a: {b: {}}}}]",
        "error 40180: Invalid $set :: caused by :: an empty object is not a valid value. Found empty object at path a.b",
    ),
    ("[{$set: {a: '$zz'}}, {$limit: 1}]", "{_id: 1, x: 'p', l: [1, 2], o: {e: 2}}"),
    (
        "[{$set: {a: {x: {$add: [1, 1]}, $add: 1}}}]",
        "error 40181: Invalid $set :: caused by :: an expression specification must contain exactly one field, the name of the expression. Found 2 fields in { x: { $add: [ 1, 1 ] }, $add: 1 }, while parsing object { a: { x: { $add: [ 1, 1 ] }, $add: 1 } }",
    ),
    (
        "[{$set: {new: {x: '$zz'}}}, {$limit: 1}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}, new: {}}",
    ),
    ("[{$set: {l: {x: '$zz'}}}, {$limit: 1}]", "{_id: 1, a: 1, x: 'p', l: [{}, {}], o: {e: 2}}"),
    (
        "[{$set: {l: {x: ['$zz']}}}, {$limit: 1}]",
        "{_id: 1, a: 1, x: 'p', l: [{x: [null]}, {x: [null]}], o: {e: 2}}",
    ),
    ("[{$unset: 'a'}, {$limit: 1}]", "{_id: 1, x: 'p', l: [1, 2], o: {e: 2}}"),
    (
        "[{$unset: []}]",
        "error 31119: $unset specification must be a string or an array with at least one field",
    ),
    ("[{$unset: 1}]", "error 31002: $unset specification must be a string or an array"),
    (
        "[{$unset: [1]}]",
        "error 31120: $unset specification must be a string or an array containing only string values",
    ),
    (
        "[{$unset: ['a', 'a.b']}]",
        "error 31249: Invalid $unset :: caused by :: Path collision at a.b remaining portion b",
    ),
    (
        "[{$unset: ''}]",
        "error 40352: Invalid $unset :: caused by :: FieldPath cannot be constructed with empty string",
    ),
    (
        "[{$unset: '$a'}]",
        "error 16410: Invalid $unset :: caused by :: FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ),
    ("[{$unset: ['a', '_id']}, {$limit: 1}]", "{x: 'p', l: [1, 2], o: {e: 2}}"),
    (
        "[{$replaceRoot: {newRoot: '$o'}}]",
        r#"error 40228: 'newRoot' expression  must evaluate to an object, but resulting value was: MISSING. Type of resulting value: 'missing'. Input document: {_id: 2, a: 2, x: "q", l: []}"#,
    ),
    ("[{$match: {_id: 1}}, {$replaceRoot: {newRoot: '$o'}}]", "{e: 2}"),
    (
        "[{$replaceRoot: {newRoot: '$a'}}]",
        r#"error 40228: 'newRoot' expression  must evaluate to an object, but resulting value was: 1. Type of resulting value: 'int'. Input document: {_id: 1, a: 1, x: "p", l: [1, 2], o: {e: 2}}"#,
    ),
    (
        "[{$replaceRoot: {}}]",
        "error 40414: BSON field '$replaceRoot.newRoot' is missing but a required field",
    ),
    (
        "[{$replaceRoot: 1}]",
        "error 40229: expected an object as specification for $replaceRoot stage, got int",
    ),
    (
        "[{$replaceRoot: {newRoot: 1, z: 1}}]",
        "error 40415: BSON field '$replaceRoot.z' is an unknown field.",
    ),
    (
        "[{$replaceWith: '$a'}]",
        r#"error 40228: 'replacement document'  must evaluate to an object, but resulting value was: 1. Type of resulting value: 'int'. Input document: {_id: 1, a: 1, x: "p", l: [1, 2], o: {e: 2}}"#,
    ),
    ("[{$replaceWith: {z: '$a'}}, {$limit: 1}]", "{z: 1}"),
    (
        "[{$replaceWith: 1}]",
        r#"error 40228: 'replacement document'  must evaluate to an object, but resulting value was: 1. Type of resulting value: 'int'. Input document: {_id: 1, a: 1, x: "p", l: [1, 2], o: {e: 2}}"#,
    ),
    (
        "[{$redact: '$a'}]",
        "error 17053: $redact's expression should not return anything aside from the variables $$KEEP, $$DESCEND, and $$PRUNE, but returned 1",
    ),
    (
        "[{$redact: {$cond: [true, '$$KEEP', '$$PRUNE']}}, {$limit: 1}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}",
    ),
    ("[{$redact: '$$DESCEND'}, {$limit: 1}]", "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}"),
    (
        "[{$set: {r: {$sum: {$meta: 'x'}}}}]",
        "error 17308: Invalid $set :: caused by :: Unsupported argument to $meta: x",
    ),
    (
        "[{$match: {_id: {$gt: 1}}}, {$match: {x: 'p'}}, {$set: {b: {$add: ['$a', 1]}}}]",
        "{_id: 3, a: 2.5, x: 'p', b: 3.5}",
    ),
    (
        "[{$set: {l: {$concatArrays: ['$l', [9]]}}}, {$limit: 1}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2, 9], o: {e: 2}}",
    ),
    (
        "[{$project: {q: {$cond: [{$gt: ['$_id', 2]}, '$x', '$$REMOVE']}}}]",
        "{_id: 1}; {_id: 2}; {_id: 3, q: 'p'}; {_id: 4, q: null}; {_id: 5}",
    ),
    (
        "[{$replaceWith: {$mergeObjects: [{_id: '$_id'}, '$o']}}]",
        "{_id: 1, e: 2}; {_id: 2}; {_id: 3}; {_id: 4}; {_id: 5}",
    ),
    (
        "[{$set: {o: {e: '$$REMOVE', g: 1}}}, {$limit: 2}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {g: 1}}; {_id: 2, a: NumberLong(2), x: 'q', l: [], o: {g: 1}}",
    ),
    (
        "[{$redact: {$cond: [{$eq: ['$e', 2]}, '$$PRUNE', '$$DESCEND']}}, {$limit: 1}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2]}",
    ),
    (
        "[{$set: {z: {$let: {vars: {v: '$a'}, in: {$ifNull: ['$$v', 'none']}}}}}, {$project: {z: 1}}]",
        "{_id: 1, z: 1}; {_id: 2, z: NumberLong(2)}; {_id: 3, z: 2.5}; {_id: 4, z: 's'}; {_id: 5, z: 'none'}",
    ),
    (
        "[{$project: {_id: 0, d: {$dateToString: {date: {$toDate: {$toLong: '$_id'}}}}}}]",
        "{d: '1970-01-01T00:00:00.001Z'}; {d: '1970-01-01T00:00:00.002Z'}; {d: '1970-01-01T00:00:00.003Z'}; {d: '1970-01-01T00:00:00.004Z'}; {d: '1970-01-01T00:00:00.005Z'}",
    ),
    ("[{$set: {x: '$$undefinedvar'}}]", "error 17276: Use of undefined variable: undefinedvar"),
];
