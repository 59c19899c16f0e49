//! Expressions on arrays, and their results.

pub(super) const ROWS: &[(&str, &str)] = &[
    ("{$arrayElemAt: ['$arr', -1]}", "2"),
    ("{$arrayElemAt: ['$arr', 9]}", "missing"),
    (
        "{$arrayElemAt: ['$s', 0]}",
        "error 28689: $arrayElemAt's first argument must be an array, but is string",
    ),
    (
        "{$arrayElemAt: ['$arr', 'x']}",
        "error 28690: $arrayElemAt's second argument must be a numeric value, but is string",
    ),
    (
        "{$arrayElemAt: ['$arr', 1.5]}",
        "error 28691: $arrayElemAt's second argument must be representable as a 32-bit integer: 1.5",
    ),
    ("{$arrayElemAt: ['$arr', null]}", "null"),
    ("{$arrayToObject: [[['a', 1], ['b', 2]]]}", "{a: 1, b: 2}"),
    ("{$arrayToObject: [[{k: 'a', v: 1}]]}", "{a: 1}"),
    (
        "{$arrayToObject: '$s'}",
        "error 40386: $arrayToObject requires an array input, found: string",
    ),
    (
        "{$arrayToObject: [[1]]}",
        "error 40398: Unrecognised input type format for $arrayToObject: int",
    ),
    (
        "{$arrayToObject: [[['a']]]}",
        "error 40397: $arrayToObject requires an array of size 2 arrays,found array of size: 1",
    ),
    (
        "{$arrayToObject: [[[1, 2]]]}",
        "error 40395: $arrayToObject requires an array of key-value pairs, where the key must be of type string. Found key type: int",
    ),
    (
        "{$arrayToObject: [[{k: 'a'}]]}",
        "error 40392: $arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:1",
    ),
    (
        "{$arrayToObject: [[{k: 1, v: 1}]]}",
        "error 40394: $arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: int",
    ),
    (
        "{$arrayToObject: [[{k: 'a', z: 1}]]}",
        r#"error 40393: $arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: {k: "a", z: 1}"#,
    ),
    (
        "{$arrayToObject: [[['a', 1], {k: 'a', v: 1}]]}",
        "error 40396: $arrayToObject requires a consistent input format. Elements mustall be arrays or all be objects. Array was detected, now found: object",
    ),
    (
        "{$arrayToObject: [[{k: 'a', v: 1}, ['a', 1]]]}",
        "error 40391: $arrayToObject requires a consistent input format. Elements mustall be arrays or all be objects. Object was detected, now found: array",
    ),
    ("{$arrayToObject: [[['a', 1], ['a', 2]]]}", "{a: 2}"),
    (
        r#"{$arrayToObject: [[['a\0', 1]]]}"#,
        "error 4940400: Key field cannot contain an embedded null byte",
    ),
    ("{$concatArrays: ['$arr', [1]]}", "[3, 1, 2, 1]"),
    ("{$concatArrays: ['$arr', '$n']}", "null"),
    (
        "{$concatArrays: ['$arr', '$s']}",
        "error 28664: $concatArrays only supports arrays, not string",
    ),
    ("{$first: '$arr'}", "3"),
    ("{$first: '$s'}", "error 28689: $first's argument must be an array, but is string"),
    ("{$first: [[]]}", "missing"),
    ("{$last: '$n'}", "null"),
    ("{$firstN: {input: '$arr', n: 2}}", "[3, 1]"),
    ("{$firstN: {input: '$arr', n: 0}}", "error 5787908: 'n' must be greater than 0, found 0"),
    (
        "{$firstN: {input: '$arr', n: 1.5}}",
        "error 5787903: Value for 'n' must be of integral type, but found 1.5",
    ),
    (
        "{$firstN: {input: '$arr', n: 'x'}}",
        r#"error 5787902: Value for 'n' must be of integral type, but found "x""#,
    ),
    ("{$firstN: {input: '$s', n: 1}}", "error 5788200: Input must be an array"),
    ("{$firstN: {input: '$n', n: 1}}", "error 5788200: Input must be an array"),
    ("{$firstN: {n: 1}}", "error 5787907: Missing value for 'input'"),
    ("{$firstN: 1}", "error 5787801: specification must be an object; found $firstN: 1"),
    (
        "{$firstN: {input: '$arr', n: 1, z: 1}}",
        "error 5787901: Unknown argument for 'n' operator: z",
    ),
    ("{$maxN: {input: '$arr', n: 2}}", "[3, 2]"),
    ("{$minN: {input: [1, null, 'a'], n: 3}}", "[1, 'a']"),
    ("{$lastN: {input: '$arr', n: 9}}", "[3, 1, 2]"),
    ("{$in: [1, '$arr']}", "true"),
    ("{$in: [1, '$s']}", "error 40081: $in requires an array as a second argument, found: string"),
    (
        "{$in: [1, '$zz']}",
        "error 40081: $in requires an array as a second argument, found: missing",
    ),
    ("{$indexOfArray: ['$arr', 2]}", "2"),
    (
        "{$indexOfArray: ['$s', 2]}",
        "error 40090: $indexOfArray requires an array as a first argument, found: string",
    ),
    (
        "{$indexOfArray: ['$arr', 2, 'x']}",
        r#"error 40096: $indexOfArrayrequires an integral starting index, found a value of type: string, with value: "x""#,
    ),
    (
        "{$indexOfArray: ['$arr', 2, -1]}",
        "error 40097: $indexOfArray requires a nonnegative starting index, found: -1",
    ),
    ("{$indexOfArray: ['$arr', 2, 0, 1]}", "-1"),
    ("{$isArray: '$arr'}", "true"),
    (
        "{$isArray: [[1], 2]}",
        "error 16020: Expression $isArray takes exactly 1 arguments. 2 were passed in.",
    ),
    ("{$objectToArray: '$o'}", "[{k: 'x', v: 1}, {k: 'y', v: 'z'}]"),
    (
        "{$objectToArray: '$s'}",
        "error 40390: $objectToArray requires a document input, found: string",
    ),
    ("{$range: [0, 10, 3]}", "[0, 3, 6, 9]"),
    ("{$range: [0, 10, 0]}", "error 34449: $range requires a non-zero step value"),
    (
        "{$range: ['x', 1]}",
        "error 34443: $range requires a numeric starting value, found value of type: string",
    ),
    (
        "{$range: [1.5, 1]}",
        "error 34444: $range requires a starting value that can be represented as a 32-bit integer, found value: 1.5",
    ),
    (
        "{$range: [0, 'x']}",
        "error 34445: $range requires a numeric ending value, found value of type: string",
    ),
    (
        "{$range: [0, 1.5]}",
        "error 34446: $range requires an ending value that can be represented as a 32-bit integer, found value: 1.5",
    ),
    (
        "{$range: [0, 1, 'x']}",
        "error 34447: $range requires a numeric step value, found value of type:string",
    ),
    (
        "{$range: [0, 1, 1.5]}",
        "error 34448: $range requires a step value that can be represented as a 32-bit integer, found value: 1.5",
    ),
    ("{$range: [5, 0, -2]}", "[5, 3, 1]"),
    ("{$range: [0, 5, -2]}", "[]"),
    ("{$reverseArray: '$arr'}", "[2, 1, 3]"),
    (
        "{$reverseArray: '$s'}",
        "error 34435: The argument to $reverseArray must be an array, but was of type: string",
    ),
    ("{$size: '$arr'}", "3"),
    (
        "{$size: '$s'}",
        "error 17124: The argument to $size must be an array, but was of type: string",
    ),
    (
        "{$size: '$zz'}",
        "error 17124: The argument to $size must be an array, but was of type: missing",
    ),
    ("{$slice: ['$arr', 2]}", "[3, 1]"),
    ("{$slice: ['$arr', -2]}", "[1, 2]"),
    ("{$slice: ['$arr', 1, 1]}", "[1]"),
    ("{$slice: ['$arr', 1, 0]}", "error 28729: Third argument to $slice must be positive: 0"),
    (
        "{$slice: ['$s', 1]}",
        "error 28724: First argument to $slice must be an array, but is of type: string",
    ),
    (
        "{$slice: ['$arr', 'x']}",
        "error 28725: Second argument to $slice must be a numeric value, but is of type: string",
    ),
    (
        "{$slice: ['$arr', 1.5]}",
        "error 28726: Second argument to $slice can't be represented as a 32-bit integer: 1.5",
    ),
    (
        "{$slice: ['$arr', 1, 'x']}",
        "error 28727: Third argument to $slice must be numeric, but is of type: string",
    ),
    (
        "{$slice: ['$arr', 1, 1.5]}",
        "error 28728: Third argument to $slice can't be represented as a 32-bit integer: 1.5",
    ),
    ("{$slice: ['$arr', -9, 2]}", "[3, 1]"),
    ("{$slice: ['$arr', 9, 2]}", "[]"),
    ("{$slice: ['$arr', 0]}", "[]"),
    (
        "{$slice: ['$arr']}",
        "error 28667: Expression $slice takes at least 2 arguments, and at most 3, but 1 were passed in.",
    ),
    ("{$sortArray: {input: '$arr', sortBy: 1}}", "[1, 2, 3]"),
    (
        "{$sortArray: {input: '$arr', sortBy: 2}}",
        "error 2942506: The $sort element value must be either 1 or -1",
    ),
    (
        "{$sortArray: {input: '$arr', sortBy: 'x'}}",
        "error 2942507: The $sort is invalid: use 1/-1 to sort the whole element, or {field:1/-1} to sort embedded fields",
    ),
    (
        "{$sortArray: {input: '$s', sortBy: 1}}",
        "error 2942504: The input argument to $sortArray must be an array, but was of type: string",
    ),
    ("{$sortArray: {input: '$aa', sortBy: {b: -1}}}", "[{b: 2}, {b: 1}, 5, [{b: 9}]]"),
    (
        "{$sortArray: {input: '$arr'}}",
        "error 2942503: $sortArray requires 'sortBy' to be specified",
    ),
    ("{$sortArray: {sortBy: 1}}", "error 2942502: $sortArray requires 'input' to be specified"),
    ("{$sortArray: 1}", "error 2942500: $sortArray requires an object as an argument, found: int"),
    ("{$sortArray: {input: '$n', sortBy: 1}}", "null"),
    (
        "{$sortArray: {input: '$arr', sortBy: {}}}",
        "error 2942505: BadValue: The sort pattern is empty when it should be a set of fields.",
    ),
    (
        "{$sortArray: {input: '$arr', sortBy: {b: 2}}}",
        "error 2942505: BadValue: The sort element value must be either 1 or -1",
    ),
    (
        "{$sortArray: {input: '$arr', sortBy: {'': 1}}}",
        "error 2942505: BadValue: The sort field cannot be empty",
    ),
    (
        "{$sortArray: {input: '$arr', sortBy: {'a..b': 1}}}",
        "error 2942505: BadValue: The sort field is a dotted field but has an empty part: a..b",
    ),
    (
        "{$sortArray: {input: {$literal: [{$a: 3}, {$a: 1}, {b: 2}]}, sortBy: {$a: -1}}}",
        "[{$a: 3}, {$a: 1}, {b: 2}]",
    ),
    ("{$sortArray: {input: [{b: 2}, {b: 1}], sortBy: {b: 1, b: -1}}}", "[{b: 1}, {b: 2}]"),
    (
        "{$sortArray: {input: '$arr', sortBy: 1, z: 1}}",
        "error 2942501: $sortArray found an unknown argument: z",
    ),
    ("{$zip: {inputs: ['$arr', [1]]}}", "[[3, 1]]"),
    ("{$zip: {inputs: ['$arr', [1]], useLongestLength: true}}", "[[3, 1], [1, null], [2, null]]"),
    (
        "{$zip: {inputs: ['$arr', [1]], useLongestLength: true, defaults: [8, 9]}}",
        "[[3, 1], [1, 9], [2, 9]]",
    ),
    (
        "{$zip: {inputs: ['$arr', [1]], defaults: [8, 9]}}",
        "error 34466: cannot specify defaults unless useLongestLength is true",
    ),
    (
        "{$zip: {inputs: ['$s']}}",
        r#"error 34468: $zip found a non-array expression in input: "abc""#,
    ),
    ("{$zip: {inputs: ['$n', [1]]}}", "null"),
    ("{$zip: {inputs: []}}", "error 34465: $zip requires at least one input array"),
    ("{$zip: {inputs: '$s'}}", "error 34461: inputs must be an array of expressions, found string"),
    (
        "{$zip: {inputs: ['$arr'], useLongestLength: 1}}",
        "error 34463: useLongestLength must be a bool, found 1",
    ),
    (
        "{$zip: {inputs: ['$arr'], useLongestLength: true, defaults: [1, 2]}}",
        "error 34467: defaults and inputs must have the same length",
    ),
    ("{$zip: 1}", "error 34460: $zip only supports an object as an argument, found int"),
    ("{$zip: {z: 1}}", "error 34464: $zip found an unknown argument: z"),
    ("{$zip: {useLongestLength: true}}", "error 34465: $zip requires at least one input array"),
];
