//! Pipelines over five documents.

pub(super) const ROWS: &[(&str, &str)] = &[
    (
        "[{$group: {_id: '$x', s: {$sum: '$a'}, c: {$count: {}}, av: {$avg: '$a'}, mn: {$min: '$a'}, mx: {$max: '$a'}, f: {$first: '$a'}, la: {$last: '$a'}, p: {$push: '$a'}}}]",
        "{_id: 'p', s: 3.5, c: 2, av: 1.75, mn: 1, mx: 2.5, f: 1, la: 2.5, p: [1, 2.5]}; {_id: 'q', s: NumberLong(2), c: 1, av: 2.0, mn: NumberLong(2), mx: NumberLong(2), f: NumberLong(2), la: NumberLong(2), p: [NumberLong(2)]}; {_id: null, s: 0, c: 2, av: null, mn: 's', mx: 's', f: 's', la: null, p: ['s']}",
    ),
    ("[{$group: {}}]", "error 15955: a group specification must include an _id"),
    ("[{$group: 1}]", "error 15947: a group's fields must be specified in an object"),
    ("[{$group: {_id: 1, a: 1}}]", "error 40234: The field 'a' must be an accumulator object"),
    ("[{$group: {_id: 1, a: {$foo: 1}}}]", "error 15952: unknown group operator '$foo'"),
    (
        "[{$group: {_id: 1, a: {$sum: 1, $avg: 1}}}]",
        "error 40238: The field 'a' must specify one accumulator",
    ),
    (
        "[{$group: {_id: 1, 'a.b': {$sum: 1}}}]",
        "error 40235: The field name 'a.b' cannot contain '.'",
    ),
    (
        "[{$group: {_id: 1, $a: {$sum: 1}}}]",
        "error 40236: The field name '$a' cannot be an operator name",
    ),
    ("[{$group: {_id: 1, a: {$count: 1}}}]", "error 14: $count takes no arguments, i.e. $count:{}"),
    (
        "[{$group: {_id: 1, a: {$sum: [1, 2]}}}]",
        "error 40237: The $sum accumulator is a unary operator",
    ),
    (
        "[{$group: {_id: 1, a: {$sum: ['$a']}}}]",
        "error 40237: The $sum accumulator is a unary operator",
    ),
    ("[{$group: {_id: 1, a: {$firstN: {n: 2, input: '$a'}}}}]", "{_id: 1, a: [1, NumberLong(2)]}"),
    (
        "[{$group: {_id: 1, a: {$firstN: {n: 0, input: '$a'}}}}]",
        "error 5787908: 'n' must be greater than 0, found 0",
    ),
    (
        "[{$group: {_id: 1, a: {$firstN: {n: 'x', input: '$a'}}}}]",
        r#"error 5787902: Value for 'n' must be of integral type, but found "x""#,
    ),
    (
        "[{$group: {_id: 1, a: {$firstN: 1}}}]",
        "error 5787801: specification must be an object; found $firstN: 1",
    ),
    ("[{$group: {_id: 1, a: {$firstN: {n: 2}}}}]", "error 5787907: Missing value for 'input'"),
    ("[{$group: {_id: 1, a: {$firstN: {input: 2}}}}]", "error 5787906: Missing value for 'n'"),
    (
        "[{$group: {_id: 1, a: {$firstN: {n: 2, input: '$a', z: 1}}}}]",
        "error 5787901: Unknown argument for 'n' operator: z",
    ),
    ("[{$group: {_id: 1, a: {$maxN: {n: 2, input: '$a'}}}}]", "{_id: 1, a: ['s', 2.5]}"),
    (
        "[{$group: {_id: 1, a: {$minN: {n: 9, input: '$a'}}}}]",
        "{_id: 1, a: [1, NumberLong(2), 2.5, 's']}",
    ),
    ("[{$group: {_id: 1, a: {$lastN: {n: 2, input: '$a'}}}}]", "{_id: 1, a: ['s', null]}"),
    ("[{$group: {_id: 1, a: {$top: {sortBy: {_id: -1}, output: '$a'}}}}]", "{_id: 1, a: null}"),
    (
        "[{$group: {_id: 1, a: {$top: {sortBy: {_id: 1}, output: ['$a', '$l']}}}}]",
        "{_id: 1, a: [1, [1, 2]]}",
    ),
    (
        "[{$group: {_id: 1, a: {$bottomN: {n: 2, sortBy: {_id: -1}, output: '$a'}}}}]",
        "{_id: 1, a: [NumberLong(2), 1]}",
    ),
    (
        "[{$group: {_id: 1, a: {$topN: {n: 3, sortBy: {_id: -1}, output: '$a'}}}}]",
        "{_id: 1, a: [null, 's', 2.5]}",
    ),
    (
        "[{$group: {_id: 1, a: {$top: {output: '$a'}}}}]",
        "error 5788005: Missing value for 'sortBy'",
    ),
    (
        "[{$group: {_id: 1, a: {$top: {sortBy: {a: 1}}}}}]",
        "error 5788004: Missing value for 'output'",
    ),
    (
        "[{$group: {_id: 1, a: {$top: 1}}}]",
        "error 5788001: specification must be an object; found $top: 1",
    ),
    (
        "[{$group: {_id: 1, a: {$topN: {sortBy: {a: 1}, output: 1}}}}]",
        "error 5788003: Missing value for 'n'",
    ),
    (
        "[{$group: {_id: 1, a: {$top: {sortBy: {a: 1}, output: 1, n: 1}}}}]",
        "error 5788002: Unknown argument to $top 'n'",
    ),
    (
        "[{$group: {_id: 1, a: {$top: {sortBy: 1, output: 1}}}}]",
        "error 10065: invalid parameter: expected an object (sortBy)",
    ),
    ("[{$group: {_id: 1, a: {$mergeObjects: '$o'}}}]", "{_id: 1, a: {e: 2}}"),
    (
        "[{$group: {_id: 1, a: {$mergeObjects: '$a'}}}]",
        "error 5911200: $mergeObjects only supports objects",
    ),
    ("[{$group: {_id: 1, a: {$addToSet: '$x'}}}]", "{_id: 1, a: ['p', 'q', null]}"),
    ("[{$group: {_id: 1, a: {$push: '$zz'}}}]", "{_id: 1, a: []}"),
    (
        "[{$group: {_id: 1, a: {$first: '$zz'}, b: {$min: '$zz'}, c: {$avg: '$zz'}, d: {$sum: '$zz'}, e: {$stdDevPop: '$zz'}, f: {$stdDevSamp: 1}, g: {$max: '$zz'}}}]",
        "{_id: 1, a: null, b: null, c: null, d: 0, e: null, f: 0.0, g: null}",
    ),
    (
        "[{$group: {_id: {k: '$zz', x: '$x'}}}]",
        "{_id: {x: 'p'}}; {_id: {x: 'q'}}; {_id: {x: null}}; {_id: {}}",
    ),
    (
        "[{$group: {_id: ['$a']}}]",
        "{_id: ['s']}; {_id: [1]}; {_id: [2.5]}; {_id: [NumberLong(2)]}; {_id: [null]}",
    ),
    ("[{$group: {_id: '$o.e'}}]", "{_id: 2}; {_id: null}"),
    (
        "[{$group: {_id: 1, a: {$sum: '$a'}, b: {$stdDevSamp: '$a'}, c: {$stdDevPop: '$a'}}}]",
        "{_id: 1, a: 5.5, b: 0.7637626158259734, c: 0.6236095644623235}",
    ),
    ("[{$group: {_id: 1, a: '$b'}}]", "error 40234: The field 'a' must be an accumulator object"),
    ("[{$group: {_id: 1, a: {$stdDevPop: {$literal: 1}}}}]", "{_id: 1, a: 0.0}"),
    (
        "[{$group: {_id: {a: 1, $sum: 1}}}]",
        "error 17390: $group does not support inclusion-style expressions",
    ),
    (
        "[{$group: {_id: {'a.b': 1}}}]",
        "error 17390: $group does not support inclusion-style expressions",
    ),
    ("[{$group: {_id: 2}}]", "{_id: 2}"),
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
    ("[{$limit: 0}]", "error 15958: the limit must be positive"),
    (
        "[{$limit: -1}]",
        "error 5107201: invalid argument to $limit stage: Expected a non-negative number in: $limit: -1",
    ),
    (
        "[{$limit: 'x'}]",
        r#"error 5107201: invalid argument to $limit stage: Expected a number in: $limit: "x""#,
    ),
    (
        "[{$limit: 1.5}]",
        "error 5107201: invalid argument to $limit stage: Expected an integer: $limit: 1.5",
    ),
    (
        "[{$limit: 2.0}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}; {_id: 2, a: NumberLong(2), x: 'q', l: []}",
    ),
    (
        "[{$skip: -1}]",
        "error 5107200: invalid argument to $skip stage: Expected a non-negative number in: $skip: -1",
    ),
    (
        "[{$skip: 'x'}]",
        r#"error 5107200: invalid argument to $skip stage: Expected a number in: $skip: "x""#,
    ),
    (
        "[{$skip: 1.5}]",
        "error 5107200: invalid argument to $skip stage: Expected an integer: $skip: 1.5",
    ),
    ("[{$skip: 4}]", "{_id: 5, l: null}"),
    ("[{$count: 'n'}]", "{n: 5}"),
    ("[{$count: ''}]", "error 40157: the count field must be a non-empty string"),
    ("[{$count: 1}]", "error 40156: the count field must be a non-empty string"),
    ("[{$count: '$a'}]", "error 40158: the count field cannot be a $-prefixed path"),
    ("[{$count: 'a.b'}]", "error 40160: the count field cannot contain '.'"),
    (r#"[{$count: 'a\0'}]"#, "error 40159: the count field cannot contain a null byte"),
    ("[{$match: {a: 'zz'}}, {$count: 'n'}]", ""),
    ("[{$sample: {size: -1}}]", "error 28747: size argument to $sample must not be negative"),
    ("[{$sample: 1}]", "error 28745: the $sample stage specification must be an object"),
    ("[{$sample: {}}]", "error 28749: $sample stage must specify a size"),
    ("[{$sample: {size: 'x'}}]", "error 28746: size argument to $sample must be a number"),
    ("[{$sample: {size: 1, z: 1}}]", "error 28748: unrecognized option to $sample: z"),
    ("[{$sample: {size: 0}}]", ""),
    ("[{$sort: {}}]", "error 15976: $sort stage must have at least one sort key"),
    ("[{$sort: 1}]", "error 15973: the $sort key specification must be an object"),
    (
        "[{$sort: {a: 0}}]",
        "error 15975: $sort key ordering must be 1 (for ascending) or -1 (for descending)",
    ),
    ("[{$match: 1}]", "error 15959: the match filter must be an expression in an object"),
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
    ("[{$sortByCount: '$x'}]", "{_id: 'p', count: 2}; {_id: 'q', count: 1}; {_id: null, count: 2}"),
    (
        "[{$sortByCount: 'x'}]",
        "error 40148: the sortByCount field must be defined as a $-prefixed path or an expression inside an object",
    ),
    (
        "[{$sortByCount: 1}]",
        "error 40149: the sortByCount field must be specified as a string or as an object",
    ),
    (
        "[{$sortByCount: {a: 1}}]",
        "error 40147: the sortByCount field must be defined as a $-prefixed path or an expression inside an object",
    ),
    (
        "[{$facet: {}}]",
        "error 40169: the $facet specification must be a non-empty object, but found: $facet: {}",
    ),
    (
        "[{$facet: 1}]",
        "error 40169: the $facet specification must be a non-empty object, but found: $facet: 1",
    ),
    ("[{$facet: {a: 1}}]", "error 40170: arguments to $facet must be arrays, a is type int"),
    (
        "[{$facet: {a: [{$match: {a: 1}}], b: [{$count: 'n'}]}}]",
        "{a: [{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}], b: [{n: 5}]}",
    ),
    (
        "[{$facet: {a: [{$facet: {x: []}}]}}]",
        "error 40600: $facet is not allowed to be used within a $facet stage",
    ),
    (
        "[{$facet: {a: [{$out: 'x'}]}}]",
        "error 40600: $out is not allowed to be used within a $facet stage",
    ),
    (
        "[{$facet: {$a: []}}]",
        "error 16410: FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ),
    (
        "[{$facet: {'a.b': []}}]",
        "error 16412: FieldPath field names may not contain '.'. Consider using $getField or $setField.",
    ),
    (
        "[{$facet: {a: []}}]",
        "{a: [{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}, {_id: 2, a: NumberLong(2), x: 'q', l: []}, {_id: 3, a: 2.5, x: 'p'}, {_id: 4, a: 's', l: 5, x: null}, {_id: 5, l: null}]}",
    ),
    (
        "[{$facet: {a: [{$collStats: {}}]}}]",
        "error 40600: $collStats is not allowed to be used within a $facet stage",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: [1, 3, 5], default: 'x'}}]",
        "{_id: 1, count: 2}; {_id: 3, count: 2}; {_id: 'x', count: 1}",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: [1, 3, 5]}}]",
        "error 40066: $switch could not find a matching branch for an input, and no default was specified.",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: [1, 3, 9], output: {n: {$sum: 1}, l: {$push: '$a'}}}}]",
        "{_id: 1, n: 2, l: [1, NumberLong(2)]}; {_id: 3, n: 3, l: [2.5, 's']}",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: [1]}}]",
        "error 40192: The $bucket 'boundaries' field must have at least 2 values, but found 1 value(s).",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: [1, 'a']}}]",
        "error 40193: All values in the the 'boundaries' option to $bucket must have the same type. Found conflicting types int and string.",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: [3, 1]}}]",
        "error 40194: The 'boundaries' option to $bucket must be sorted, but elements 0 and 1 are not in ascending order (3 is not less than 1).",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: ['$a', 1]}}]",
        r#"error 40191: The $bucket 'boundaries' field must be an array of constant values, but found value: "$a"."#,
    ),
    (
        "[{$bucket: {groupBy: '_id', boundaries: [1, 2]}}]",
        r#"error 40202: The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: "_id"."#,
    ),
    (
        "[{$bucket: {boundaries: [1, 2]}}]",
        "error 40198: $bucket requires 'groupBy' and 'boundaries' to be specified.",
    ),
    (
        "[{$bucket: 1}]",
        "error 40201: Argument to $bucket stage must be an object, but found type: int.",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: 1}}]",
        "error 40200: The $bucket 'boundaries' field must be an array, but found type: int.",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: [1, 9], default: 3}}]",
        "error 40199: The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: [1, 9], z: 3}}]",
        "error 40197: Unrecognized option to $bucket: z.",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: [1, 9], output: 1}}]",
        "error 40196: The $bucket 'output' field must be an object, but found type: int.",
    ),
    (
        "[{$bucket: {groupBy: '$_id'}}]",
        "error 40198: $bucket requires 'groupBy' and 'boundaries' to be specified.",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: [1, 9], default: '$a'}}]",
        r#"error 40195: The $bucket 'default' field must be a constant expression, but found: "$a"."#,
    ),
    (
        "[{$bucketAuto: {groupBy: '$_id', buckets: 2}}]",
        "{_id: {min: 1, max: 4}, count: 3}; {_id: {min: 4, max: 5}, count: 2}",
    ),
    (
        "[{$bucketAuto: {groupBy: '$_id', buckets: 3, output: {n: {$sum: 1}}}}]",
        "{_id: {min: 1, max: 3}, n: 2}; {_id: {min: 3, max: 5}, n: 2}; {_id: {min: 5, max: 5}, n: 1}",
    ),
    (
        "[{$bucketAuto: {groupBy: '$_id', buckets: 0}}]",
        "error 40243: The $bucketAuto 'buckets' field must be greater than 0, but found: 0",
    ),
    (
        "[{$bucketAuto: {groupBy: '$_id', buckets: 'x'}}]",
        "error 40241: The $bucketAuto 'buckets' field must be a numeric value, but found type: string",
    ),
    (
        "[{$bucketAuto: {groupBy: '$_id'}}]",
        "error 40246: $bucketAuto requires 'groupBy' and 'buckets' to be specified",
    ),
    (
        "[{$bucketAuto: {buckets: 1}}]",
        "error 40246: $bucketAuto requires 'groupBy' and 'buckets' to be specified",
    ),
    (
        "[{$bucketAuto: 1}]",
        "error 40240: The argument to $bucketAuto must be an object, but found type: int",
    ),
    (
        "[{$bucketAuto: {groupBy: '$_id', buckets: 2, granularity: 'zz'}}]",
        "error 238: $bucketAuto's 'granularity' is not supported",
    ),
    (
        "[{$bucketAuto: {groupBy: '$_id', buckets: 2, z: 1}}]",
        "error 40245: Unrecognized option to $bucketAuto: z",
    ),
    (
        "[{$bucketAuto: {groupBy: '$_id', buckets: 9}}]",
        "{_id: {min: 1, max: 2}, count: 1}; {_id: {min: 2, max: 3}, count: 1}; {_id: {min: 3, max: 4}, count: 1}; {_id: {min: 4, max: 5}, count: 1}; {_id: {min: 5, max: 5}, count: 1}",
    ),
    ("[{$lookup: 1}]", "error 9: the $lookup stage specification must be an object, but found int"),
    ("[{$lookup: {from: 'u'}}]", "error 9: must specify 'as' field for a $lookup"),
    ("[{$lookup: {from: 1}}]", "error 9: $lookup 'from' field must be a string, but found int"),
    (
        "[{$lookup: {from: 't', as: 'j'}}]",
        "error 9: $lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', as: 'j'}}]",
        "error 9: $lookup requires either 'pipeline' or both 'localField' and 'foreignField' to be specified",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', foreignField: 'a', as: 'j', z: 1}}]",
        "error 9: $lookup argument 'z' must be a string, found z: 1: int",
    ),
    (
        "[{$lookup: {from: 't', localField: 1, foreignField: 'a', as: 'j'}}]",
        "error 9: $lookup argument 'localField' must be a string, found localField: 1: int",
    ),
    (
        "[{$lookup: {from: 't', localField: '$a', foreignField: 'a', as: 'j'}}]",
        "error 16410: FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', foreignField: 'a', as: '$j'}}]",
        "error 16410: FieldPath field names may not start with '$'. Consider using $getField or $setField.",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', foreignField: 'a'}}]",
        "error 9: must specify 'as' field for a $lookup",
    ),
    (
        "[{$lookup: {from: 't', pipeline: 1, as: 'j'}}]",
        "error 14: 'pipeline' option must be specified as an array",
    ),
    (
        "[{$lookup: {from: 't', let: 1, pipeline: [], as: 'j'}}]",
        "error 9: $lookup argument 'let: 1' must be an object, is type int",
    ),
    (
        "[{$lookup: {from: 't', let: {X: 1}, pipeline: [], as: 'j'}}]",
        "error 9: 'X' starts with an invalid character for a user variable name",
    ),
    (
        "[{$lookup: {pipeline: [], as: 'j'}}]",
        "error 9: $lookup stage without explicit collection must have a pipeline with $documents as first stage",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', foreignField: 'a', let: {x: 1}, as: 'j'}}]",
        "error 9: $lookup with a 'let' argument must also specify 'pipeline'",
    ),
    (
        "[{$lookup: {from: {db: 'x', coll: 'y'}, localField: 'a', foreignField: 'a', as: 'j'}}]",
        "error 9: $lookup with syntax {from: {db:<>, coll:<>},..} is not supported for db: x and coll: y",
    ),
    (
        "[{$lookup: {from: 't', let: {}, pipeline: [{$out: 'x'}], as: 'j'}}]",
        "error 51047: $out is not allowed within a $lookup's sub-pipeline",
    ),
    (
        "[{$unionWith: 1}]",
        "error 9: the $unionWith stage specification must be an object or string, but found int",
    ),
    (
        "[{$unionWith: {}}]",
        "error 9: $unionWith stage without explicit collection must have a pipeline with $documents as first stage",
    ),
    (
        "[{$unionWith: {coll: 1}}]",
        "error 14: BSON field '$unionWith.coll' is the wrong type 'int', expected type 'string'",
    ),
    (
        "[{$unionWith: {coll: 't', z: 1}}]",
        "error 40415: BSON field '$unionWith.z' is an unknown field.",
    ),
    (
        "[{$unionWith: {coll: 't', pipeline: [{$limit: 1}]}}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}; {_id: 2, a: NumberLong(2), x: 'q', l: []}; {_id: 3, a: 2.5, x: 'p'}; {_id: 4, a: 's', l: 5, x: null}; {_id: 5, l: null}; {_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}",
    ),
    (
        "[{$unionWith: {coll: 't', pipeline: 1}}]",
        "error 14: BSON field '$unionWith.pipeline' is the wrong type 'int', expected type 'array'",
    ),
    ("[{$foo: 1}]", "error 40324: Unrecognized pipeline stage name: '$foo'"),
    ("[{}]", "error 40323: A pipeline stage specification object must contain exactly one field."),
    (
        "[{$match: {}, $sort: 1}]",
        "error 40323: A pipeline stage specification object must contain exactly one field.",
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
        "[{$limit: 1}, {$documents: []}]",
        "error 40602: $documents is only valid as the first stage in a pipeline",
    ),
    ("[{$limit: 1}, {$collStats: {}}]", "error 238: $collStats is not supported"),
    (
        "[{$set: {r: {$sum: {$meta: 'x'}}}}]",
        "error 238: Invalid $set :: caused by :: $meta is not supported",
    ),
    (
        "[{$lookup: {from: 't', localField: 'a', foreignField: '_id', as: 'j'}}, {$project: {'j._id': 1}}]",
        "{_id: 1, j: [{_id: 1}]}; {_id: 2, j: [{_id: 2}]}; {_id: 3, j: []}; {_id: 4, j: []}; {_id: 5, j: []}",
    ),
    (
        "[{$lookup: {from: 't', localField: 'l', foreignField: '_id', as: 'j'}}, {$project: {'j._id': 1}}]",
        "{_id: 1, j: [{_id: 1}, {_id: 2}]}; {_id: 2, j: []}; {_id: 3, j: []}; {_id: 4, j: [{_id: 5}]}; {_id: 5, j: []}",
    ),
    (
        "[{$lookup: {from: 't', localField: 'x', foreignField: 'zz', as: 'j'}}, {$project: {'j._id': 1}}]",
        "{_id: 1, j: []}; {_id: 2, j: []}; {_id: 3, j: []}; {_id: 4, j: [{_id: 1}, {_id: 2}, {_id: 3}, {_id: 4}, {_id: 5}]}; {_id: 5, j: [{_id: 1}, {_id: 2}, {_id: 3}, {_id: 4}, {_id: 5}]}",
    ),
    (
        "[{$lookup: {from: 't', localField: '_id', foreignField: 'l', as: 'j'}}, {$project: {'j._id': 1}}]",
        "{_id: 1, j: [{_id: 1}]}; {_id: 2, j: [{_id: 1}]}; {_id: 3, j: []}; {_id: 4, j: []}; {_id: 5, j: [{_id: 4}]}",
    ),
    (
        "[{$lookup: {from: 't', let: {i: '$_id'}, pipeline: [{$match: {$expr: {$lt: ['$_id', '$$i']}}}, {$project: {a: 1}}], as: 'j.k'}}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}, j: {k: []}}; {_id: 2, a: NumberLong(2), x: 'q', l: [], j: {k: [{_id: 1, a: 1}]}}; {_id: 3, a: 2.5, x: 'p', j: {k: [{_id: 1, a: 1}, {_id: 2, a: NumberLong(2)}]}}; {_id: 4, a: 's', l: 5, x: null, j: {k: [{_id: 1, a: 1}, {_id: 2, a: NumberLong(2)}, {_id: 3, a: 2.5}]}}; {_id: 5, l: null, j: {k: [{_id: 1, a: 1}, {_id: 2, a: NumberLong(2)}, {_id: 3, a: 2.5}, {_id: 4, a: 's'}]}}",
    ),
    (
        "[{$lookup: {from: 't', localField: 'x', foreignField: 'x', let: {i: '$_id'}, pipeline: [{$match: {$expr: {$ne: ['$_id', '$$i']}}}, {$count: 'n'}], as: 'j'}}]",
        "{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}, j: [{n: 1}]}; {_id: 2, a: NumberLong(2), x: 'q', l: [], j: []}; {_id: 3, a: 2.5, x: 'p', j: [{n: 1}]}; {_id: 4, a: 's', l: 5, x: null, j: [{n: 1}]}; {_id: 5, l: null, j: [{n: 1}]}",
    ),
    (
        "[{$lookup: {from: 't', pipeline: [{$sort: {_id: -1}}, {$limit: 1}, {$project: {_id: 1}}], as: 'a'}}]",
        "{_id: 1, a: [{_id: 5}], x: 'p', l: [1, 2], o: {e: 2}}; {_id: 2, a: [{_id: 5}], x: 'q', l: []}; {_id: 3, a: [{_id: 5}], x: 'p'}; {_id: 4, a: [{_id: 5}], l: 5, x: null}; {_id: 5, l: null, a: [{_id: 5}]}",
    ),
    (
        "[{$facet: {a: [{$lookup: {from: 't', localField: 'a', foreignField: '_id', as: 'j'}}, {$unwind: '$j'}, {$project: {j: '$j._id'}}], b: [{$limit: 1}]}}]",
        "{a: [{_id: 1, j: 1}, {_id: 2, j: 2}], b: [{_id: 1, a: 1, x: 'p', l: [1, 2], o: {e: 2}}]}",
    ),
    ("[{$unionWith: 't'}, {$count: 'n'}]", "{n: 10}"),
    (
        "[{$unionWith: {coll: 't', pipeline: [{$match: {_id: {$gt: 3}}}]}}, {$project: {_id: 1}}]",
        "{_id: 1}; {_id: 2}; {_id: 3}; {_id: 4}; {_id: 5}; {_id: 4}; {_id: 5}",
    ),
    ("[{$sort: {_id: -1}}, {$skip: 1}, {$limit: 2}, {$project: {_id: 1}}]", "{_id: 4}; {_id: 3}"),
    (
        "[{$sort: {x: 1, _id: -1}}, {$project: {_id: 1}}]",
        "{_id: 5}; {_id: 4}; {_id: 3}; {_id: 1}; {_id: 2}",
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
        "[{$unwind: '$l'}, {$group: {_id: '$_id', n: {$sum: '$l'}}}]",
        "{_id: 1, n: 3}; {_id: 4, n: 5}",
    ),
    (
        "[{$group: {_id: null, x: {$addToSet: '$zz'}, t: {$topN: {n: 2, sortBy: {x: -1, _id: 1}, output: '$_id'}}}}]",
        "{_id: null, x: [], t: [2, 1]}",
    ),
    (
        "[{$group: {_id: {x: '$x'}, n: {$sum: {$cond: [{$isNumber: '$a'}, '$a', 0]}}}}]",
        "{_id: {x: 'p'}, n: 3.5}; {_id: {x: 'q'}, n: NumberLong(2)}; {_id: {x: null}, n: 0}",
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
    ("[{$match: {$expr: {$gt: ['$a', '$_id']}}}, {$project: {_id: 1}}]", "{_id: 4}"),
    (
        "[{$set: {z: {$let: {vars: {v: '$a'}, in: {$ifNull: ['$$v', 'none']}}}}}, {$project: {z: 1}}]",
        "{_id: 1, z: 1}; {_id: 2, z: NumberLong(2)}; {_id: 3, z: 2.5}; {_id: 4, z: 's'}; {_id: 5, z: 'none'}",
    ),
    (
        "[{$project: {_id: 0, d: {$dateToString: {date: {$toDate: {$toLong: '$_id'}}}}}}]",
        "{d: '1970-01-01T00:00:00.001Z'}; {d: '1970-01-01T00:00:00.002Z'}; {d: '1970-01-01T00:00:00.003Z'}; {d: '1970-01-01T00:00:00.004Z'}; {d: '1970-01-01T00:00:00.005Z'}",
    ),
    ("[{$limit: 3}, {$limit: 2}, {$skip: 1}, {$project: {_id: 1}}]", "{_id: 2}"),
    (
        "[{$bucketAuto: {groupBy: '$a', buckets: 2}}]",
        "{_id: {min: null, max: 2.5}, count: 3}; {_id: {min: 2.5, max: 's'}, count: 2}",
    ),
    ("[{$set: {x: '$$undefinedvar'}}]", "error 17276: Use of undefined variable: undefinedvar"),
    (
        "[{$match: {_id: 1}}, {$graphLookup: {from: 't', startWith: '$x', connectFromField: 'o.e', connectToField: 'x', as: 'r'}}, {$project: {'r._id': 1}}]",
        "{_id: 1, r: [{_id: 1}, {_id: 3}]}",
    ),
    (
        "[{$match: {_id: 1}}, {$graphLookup: {from: 't', startWith: '$_id', connectFromField: 'l', connectToField: '_id', as: 'r', depthField: 'd'}}, {$project: {'r._id': 1, 'r.d': 1}}]",
        "{_id: 1, r: [{_id: 1, d: NumberLong(0)}, {_id: 2, d: NumberLong(1)}]}",
    ),
    (
        "[{$match: {_id: 1}}, {$graphLookup: {from: 't', startWith: '$_id', connectFromField: 'l', connectToField: '_id', as: 'r', maxDepth: 0}}, {$project: {'r._id': 1}}]",
        "{_id: 1, r: [{_id: 1}]}",
    ),
    (
        "[{$match: {_id: 1}}, {$graphLookup: {from: 't', startWith: '$l', connectFromField: 'l', connectToField: '_id', as: 'r', restrictSearchWithMatch: {x: 'q'}}}, {$project: {'r._id': 1}}]",
        "{_id: 1, r: [{_id: 2}]}",
    ),
    (
        "[{$graphLookup: {from: 't', startWith: '$l', connectFromField: 'l', connectToField: '_id', as: 'r', maxDepth: -1}}]",
        "error 40101: maxDepth requires a nonnegative argument, found: -1",
    ),
    (
        "[{$graphLookup: {from: 't'}}]",
        "error 40105: $graphLookup requires 'from', 'as', 'startWith', 'connectFromField', and 'connectToField' to be specified.",
    ),
    ("[{$graphLookup: {from: 't', z: 1}}]", "error 40104: Unknown argument to $graphLookup: z"),
];
