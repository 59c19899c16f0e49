//! Stages that combine several rows into one: `$group`, `$sortByCount`, `$bucket`, `$bucketAuto`.

pub(super) const ROWS: &[(&str, &str)] = &[
    (
        "[{$group: {_id: '$x', s: {$sum: '$a'}, c: {$count: {}}, av: {$avg: '$a'}, mn: {$min: '$a'}, mx: {$max: '$a'}, f: {$first: '$a'}, la: {$last: '$a'}, p: {$push: '$a'}}}]",
        "{_id: 'p', s: 3.5, c: 2, av: 1.75, mn: 1, mx: 2.5, f: 1, la: 2.5, p: [1, 2.5]}; {_id: 'q', s: NumberLong(2), c: 1, av: 2.0, mn: NumberLong(2), mx: NumberLong(2), f: NumberLong(2), la: NumberLong(2), p: [NumberLong(2)]}; {_id: null, s: 0, c: 2, av: null, mn: 's', mx: 's', f: 's', la: null, p: ['s']}",
    ),
    // The stage reads more fields than are found in one pass over a document.
    (
        "[{$group: {_id: '$x', n1: {$sum: '$n1'}, n2: {$sum: '$n2'}, n3: {$sum: '$n3'}, n4: {$sum: '$n4'}, n5: {$sum: '$n5'}, n6: {$sum: '$n6'}, n7: {$sum: '$n7'}, s: {$sum: '$a'}, t: {$sum: '$a'}, x: {$first: '$x'}}}]",
        "{_id: 'p', n1: 0, n2: 0, n3: 0, n4: 0, n5: 0, n6: 0, n7: 0, s: 3.5, t: 3.5, x: 'p'}; {_id: 'q', n1: 0, n2: 0, n3: 0, n4: 0, n5: 0, n6: 0, n7: 0, s: NumberLong(2), t: NumberLong(2), x: 'q'}; {_id: null, n1: 0, n2: 0, n3: 0, n4: 0, n5: 0, n6: 0, n7: 0, s: 0, t: 0, x: null}",
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
    (
        "[{$group: {_id: {a: '$a', b: true}}}]",
        "error 17390: $group does not support inclusion-style expressions",
    ),
    (
        "[{$group: {_id: {'a.b': '$a'}}}]",
        "error 16412: FieldPath field names may not contain '.'. Consider using $getField or $setField.",
    ),
    (
        "[{$group: {_id: {'': '$a'}}}]",
        "error 15998: FieldPath field names may not be empty strings.",
    ),
    ("[{$limit: 1}, {$group: {_id: {k: {v: 1}}}}]", "{_id: {k: {v: 1}}}"),
    ("[{$group: {_id: 2}}]", "{_id: 2}"),
    ("[{$sortByCount: '$x'}]", "{_id: 'p', count: 2}; {_id: 'q', count: 1}; {_id: null, count: 2}"),
    (
        "[{$sortByCount: 'x'}]",
        "error 40148: the sortByCount field must be defined as a $-prefixed path or an expression inside an object",
    ),
    (
        "[{$group: {_id: null, n: {$sum: {$divide: [1, {$subtract: ['$_id', '$_id']}]}}}}]",
        "error 4848401: can't $divide by zero",
    ),
    (
        "[{$group: {_id: {$mod: ['$_id', {$subtract: ['$_id', '$_id']}]}}}]",
        "error 4848403: can't $mod by zero",
    ),
    (
        "[{$group: {_id: {$switch: {branches: [{case: '$zz', then: 1}]}}}}]",
        "error 4934200: $switch could not find a matching branch for an input, and no default was specified.",
    ),
    ("[{$group: {_id: null, n: {$sum: {$divide: [1, 0]}}}}]", "error 2: can't $divide by zero"),
    ("[{$group: {_id: {$mod: [1, 0]}}}]", "error 16610: can't $mod by zero"),
    (
        "[{$project: {n: {$divide: [1, {$subtract: ['$_id', '$_id']}]}}}]",
        "error 2: can't $divide by zero",
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
        "[{$bucket: {groupBy: '$_id', boundaries: [1, 3, 5], default: 'x'}}]",
        "{_id: 1, count: 2}; {_id: 3, count: 2}; {_id: 'x', count: 1}",
    ),
    (
        "[{$bucket: {groupBy: '$_id', boundaries: [1, 3, 5]}}]",
        "error 4934200: $switch could not find a matching branch for an input, and no default was specified.",
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
        "[{$bucketAuto: {groupBy: '$_id', buckets: 2, output: {}}}]",
        "{_id: {min: 1, max: 4}, count: 3}; {_id: {min: 4, max: 5}, count: 2}",
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
        "[{$bucketAuto: {groupBy: '$a', buckets: 2}}]",
        "{_id: {min: null, max: 2.5}, count: 3}; {_id: {min: 2.5, max: 's'}, count: 2}",
    ),
];
