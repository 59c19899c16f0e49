//! Expressions on strings, and their results.

pub(super) const ROWS: &[(&str, &str)] = &[
    ("{$concat: ['a', 1]}", "error 16702: $concat only supports strings, not int"),
    ("{$concat: ['a', '$n']}", "null"),
    ("{$concat: []}", "''"),
    ("{$indexOfBytes: ['abc', 'c']}", "2"),
    (
        "{$indexOfBytes: [1, 'c']}",
        "error 40091: $indexOfBytes requires a string as the first argument, found: int",
    ),
    (
        "{$indexOfBytes: ['abc', 1]}",
        "error 40092: $indexOfBytes requires a string as the second argument, found: int",
    ),
    (
        "{$indexOfBytes: ['abc', 'c', 'x']}",
        r#"error 40096: $indexOfBytesrequires an integral starting index, found a value of type: string, with value: "x""#,
    ),
    (
        "{$indexOfBytes: ['abc', 'c', -1]}",
        "error 40097: $indexOfBytes requires a nonnegative starting index, found: -1",
    ),
    (
        "{$indexOfBytes: ['abc', 'c', 1, -1]}",
        "error 40097: $indexOfBytes requires a nonnegative ending index, found: -1",
    ),
    ("{$indexOfBytes: ['abc', 'c', 5]}", "-1"),
    ("{$indexOfBytes: ['abc', '', 3]}", "3"),
    ("{$indexOfBytes: ['abc', 'c', 2, 1]}", "-1"),
    ("{$indexOfBytes: ['$n', 1]}", "null"),
    ("{$indexOfBytes: ['é', 'x', 1]}", "-1"),
    ("{$indexOfCP: ['aéc', 'c']}", "2"),
    (
        "{$indexOfCP: ['a']}",
        "error 28667: Expression $indexOfCP takes at least 2 arguments, and at most 4, but 1 were passed in.",
    ),
    (
        "{$trim: {input: 1}}",
        "error 50699: $trim requires its input to be a string, got 1 (of type int) instead.",
    ),
    ("{$trim: {input: ' a '}}", "'a'"),
    ("{$trim: {input: 'xxaxx', chars: 'x'}}", "'a'"),
    (
        "{$trim: {input: 'xxaxx', chars: 1}}",
        "error 50700: $trim requires 'chars' to be a string, got 1 (of type int) instead.",
    ),
    ("{$trim: {}}", "error 50695: $trim requires an 'input' field"),
    ("{$trim: 1}", "error 50696: $trim only supports an object as an argument, found int"),
    ("{$trim: {input: 'a', z: 1}}", "error 50694: $trim found an unknown argument: z"),
    ("{$ltrim: {input: ' a '}}", "'a '"),
    ("{$trim: {input: 'a', chars: '$n'}}", "null"),
    ("{$regexFind: {input: 'abc', regex: 'b'}}", "{match: 'b', idx: 1, captures: []}"),
    (
        "{$regexFind: {input: 'aéb(c)', regex: '(b)(x)?'}}",
        "{match: 'b', idx: 2, captures: ['b', null]}",
    ),
    (
        "{$regexFind: {input: 1, regex: 'b'}}",
        "error 51104: $regexFind needs 'input' to be of type string",
    ),
    (
        "{$regexFind: {input: 'a', regex: 1}}",
        "error 51105: $regexFind needs 'regex' to be of type string or regex",
    ),
    (
        "{$regexFind: {input: 'a', regex: '('}}",
        "error 51111: Invalid Regex in $regexFind: missing closing parenthesis",
    ),
    (
        "{$regexFind: {input: 'a', regex: 'a', options: 'q'}}",
        "error 51108: $regexFind invalid flag in regex options: q",
    ),
    (
        "{$regexFind: {input: 'a', regex: /a/i, options: 'i'}}",
        "error 51107: $regexFind: found regex option(s) specified in both 'regex' and 'option' fields",
    ),
    (
        "{$regexFind: {input: 'a', regex: 'a', options: 1}}",
        "error 51106: $regexFind needs 'options' to be of type string",
    ),
    ("{$regexFind: {input: '$n', regex: 'a'}}", "null"),
    ("{$regexFindAll: {input: '$n', regex: 'a'}}", "[]"),
    ("{$regexMatch: {input: '$n', regex: 'a'}}", "false"),
    ("{$regexMatch: {input: 'a', regex: '$n'}}", "false"),
    (
        "{$regexFindAll: {input: 'abab', regex: 'a(b)'}}",
        "[{match: 'ab', idx: 0, captures: ['b']}, {match: 'ab', idx: 2, captures: ['b']}]",
    ),
    (
        "{$regexFindAll: {input: 'ab', regex: ''}}",
        "[{match: '', idx: 0, captures: []}, {match: '', idx: 1, captures: []}]",
    ),
    ("{$regexFind: {}}", "error 31022: $regexFind requires 'input' parameter"),
    (
        "{$regexFind: 1}",
        "error 51103: $regexFind expects an object of named arguments but found: int",
    ),
    (
        "{$regexFind: {input: 'a', regex: 'a', zz: 1}}",
        "error 31024: $regexFind found an unknown argument: zz",
    ),
    ("{$regexFind: {input: 'a'}}", "error 31023: $regexFind requires 'regex' parameter"),
    ("{$replaceOne: {input: 'aba', find: 'a', replacement: 'x'}}", "'xba'"),
    ("{$replaceAll: {input: 'aba', find: 'a', replacement: 'x'}}", "'xbx'"),
    ("{$replaceAll: {input: 'aba', find: '', replacement: 'x'}}", "'xaxbxax'"),
    (
        "{$replaceOne: {input: 1, find: 'a', replacement: 'x'}}",
        "error 51746: $replaceOne requires that 'input' be a string, found: 1",
    ),
    (
        "{$replaceOne: {input: 'a', find: 1, replacement: 'x'}}",
        "error 51745: $replaceOne requires that 'find' be a string, found: 1",
    ),
    (
        "{$replaceOne: {input: 'a', find: 'a', replacement: 1}}",
        "error 51744: $replaceOne requires that 'replacement' be a string, found: 1",
    ),
    ("{$replaceOne: {input: 'a', find: 'a', replacement: null}}", "null"),
    (
        "{$replaceOne: {input: 'a', find: 'a'}}",
        "error 51747: $replaceOne requires 'replacement' to be specified",
    ),
    ("{$replaceOne: 1}", "error 51751: $replaceOne requires an object as an argument, found: int"),
    ("{$split: ['a-b-', '-']}", "['a', 'b', '']"),
    ("{$split: ['a', '']}", "error 40087: $split requires a non-empty separator"),
    (
        "{$split: [1, 'a']}",
        "error 40085: $split requires an expression that evaluates to a string as a first argument, found: int",
    ),
    (
        "{$split: ['a', 1]}",
        "error 40086: $split requires an expression that evaluates to a string as a second argument, found: int",
    ),
    ("{$split: ['$n', 1]}", "null"),
    ("{$strLenBytes: 1}", "error 34473: $strLenBytes requires a string argument, found: int"),
    ("{$strLenBytes: '$n'}", "error 34473: $strLenBytes requires a string argument, found: null"),
    ("{$strLenCP: '$n'}", "error 34471: $strLenCP requires a string argument, found: null"),
    ("{$strLenCP: 'é'}", "1"),
    ("{$strcasecmp: ['a', 'B']}", "-1"),
    ("{$strcasecmp: [null, 'B']}", "-1"),
    ("{$strcasecmp: [1, '1']}", "0"),
    ("{$strcasecmp: [[], '1']}", "error 16007: can't convert from BSON type array to String"),
    ("{$substr: ['abc', 1, -1]}", "'bc'"),
    (
        "{$substr: ['abc', -1, 1]}",
        "error 50752: $substrBytes:  starting index must be non-negative (got: -1)",
    ),
    (
        "{$substr: ['éa', 1, 1]}",
        "error 28656: $substrBytes:  Invalid range, starting index is a UTF-8 continuation byte.",
    ),
    (
        "{$substr: ['éa', 0, 1]}",
        "error 28657: $substrBytes:  Invalid range, ending index is in the middle of a UTF-8 character.",
    ),
    ("{$substr: [1, 0, 1]}", "'1'"),
    (
        "{$substr: ['abc', 'x', 1]}",
        "error 16034: $substrBytes:  starting index must be a numeric type (is BSON type string)",
    ),
    (
        "{$substr: ['abc', 0, 'x']}",
        "error 16035: $substrBytes:  length must be a numeric type (is BSON type string)",
    ),
    ("{$substr: [null, 0, 1]}", "''"),
    ("{$substr: ['$d', 0, 4]}", "'2024'"),
    ("{$substrBytes: ['abc', 5, 1]}", "''"),
    ("{$substrCP: ['éa', 1, 1]}", "'a'"),
    (
        "{$substrCP: ['éa', -1, 1]}",
        "error 34455: $substrCP: the starting index must be nonnegative integer.",
    ),
    ("{$substrCP: ['éa', 0, -1]}", "error 34454: $substrCP: length must be a nonnegative integer."),
    (
        "{$substrCP: ['éa', 'x', 1]}",
        "error 34450: $substrCP: starting index must be a numeric type (is BSON type string)",
    ),
    (
        "{$substrCP: ['éa', 1.5, 1]}",
        "error 34451: $substrCP: starting index cannot be represented as a 32-bit integral value: 1.5",
    ),
    (
        "{$substrCP: ['éa', 1, 'x']}",
        "error 34452: $substrCP: length must be a numeric type (is BSON type string)",
    ),
    ("{$substrCP: [null, 1, 1]}", "''"),
    ("{$toLower: 'ÀB'}", "'Àb'"),
    ("{$toUpper: null}", "''"),
    ("{$toUpper: 5}", "'5'"),
    ("{$toUpper: [['a']]}", "error 16007: can't convert from BSON type array to String"),
];
