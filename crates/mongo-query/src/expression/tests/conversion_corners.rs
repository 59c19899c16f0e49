//! Corner cases of types, conversions between them and sizes of values.

pub(super) const ROWS: &[(&str, &str)] = &[
    ("{$type: '$aa.b.c'}", "'array'"),
    ("{$toInt: NumberDecimal('3.9')}", "3"),
    ("{$toLong: '-5'}", "NumberLong(-5)"),
    ("{$toLong: true}", "NumberLong(1)"),
    ("{$toDouble: NumberLong(5)}", "5.0"),
    (
        "{$toDouble: ''}",
        "error 241: Failed to parse number '' in $convert with no onError value: Empty string",
    ),
    (
        "{$toDouble: '1e400'}",
        "error 241: Failed to parse number '1e400' in $convert with no onError value: Out of range",
    ),
    (
        "{$toDouble: ' 5'}",
        "error 241: Failed to parse number ' 5' in $convert with no onError value: Leading whitespace",
    ),
    (
        "{$toDouble: '5x'}",
        "error 241: Failed to parse number '5x' in $convert with no onError value: Did not consume whole string.",
    ),
    (
        "{$toDouble: NumberDecimal('1E+400')}",
        "error 241: Conversion would overflow target type in $convert with no onError value: 1E+400",
    ),
    (
        "{$toInt: NumberDecimal('Infinity')}",
        "error 241: Attempt to convert infinity value to integer type in $convert with no onError value",
    ),
    ("{$toInt: -3.9}", "-3"),
    (
        "{$toInt: 2147483648.0}",
        "error 241: Conversion would overflow target type in $convert with no onError value: 2.14748e+09",
    ),
    (
        "{$toLong: 9.3e+18}",
        "error 241: Conversion would overflow target type in $convert with no onError value: 9.3e+18",
    ),
    ("{$toDecimal: 5}", "NumberDecimal('5')"),
    ("{$toDecimal: NumberLong(5)}", "NumberDecimal('5')"),
    (
        "{$toDecimal: 'abc'}",
        "error 241: Failed to parse number 'abc' in $convert with no onError value: Failed to parse string to decimal",
    ),
    ("{$toBool: ''}", "true"),
    ("{$toBool: 'false'}", "true"),
    ("{$toBool: 0.0}", "false"),
    ("{$toBool: NaN}", "true"),
    ("{$toBool: NumberDecimal('0.0')}", "false"),
    ("{$toString: -0.0}", "'-0'"),
    ("{$toString: -Infinity}", "'-Infinity'"),
    ("{$toString: null}", "null"),
    (
        "{$toObjectId: 'zzzzzzzzzzzzzzzzzzzzzzzz'}",
        "error 241: Failed to parse objectId 'zzzzzzzzzzzzzzzzzzzzzzzz' in $convert with no onError value: Invalid character found in hex string: z",
    ),
    ("{$toDate: '2024-02-29T13:05:07.089'}", "Date(1709211907089)"),
    ("{$convert: {input: '5', to: 'double'}}", "5.0"),
    ("{$convert: {input: 5, to: 'string'}}", "'5'"),
    ("{$convert: {input: 5, to: {$literal: 2}}}", "'5'"),
    ("{$convert: {input: '$o', to: 'int', onError: '$zz'}}", "missing"),
    ("{$convert: {input: '$zz', to: 'nope'}}", "error 2: Unknown type name: nope"),
    ("{$convert: {input: '$zz', to: 'int', onNull: '$qq'}}", "missing"),
    ("{$bsonSize: '$$ROOT'}", "181"),
    ("{$binarySize: BinData(0, '61626364')}", "4"),
    ("{$type: 1.5}", "'double'"),
    ("{$type: /a/}", "'regex'"),
    ("{$type: NumberDecimal('1')}", "'decimal'"),
    ("{$isNumber: '$zz'}", "false"),
];
