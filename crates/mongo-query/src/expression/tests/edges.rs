//! Values at the limits of functions, with MongoDB's results.

pub(super) const ROWS: &[(&str, &str)] = &[
    ("{$toDecimal: 1.5}", "NumberDecimal('1.50000000000000')"),
    ("{$toDecimal: 0.0}", "NumberDecimal('0')"),
    ("{$multiply: [1.5, NumberDecimal('1.50')]}", "NumberDecimal('2.2500000000000000')"),
    (
        "{$add: [9223372036854775808.0, NumberDecimal('1.50')]}",
        "NumberDecimal('9223372036854775809.50')",
    ),
    ("{$sum: [NumberDecimal('1E+6')]}", "NumberDecimal('1000000')"),
    ("{$sum: [NumberDecimal('-0')]}", "NumberDecimal('0')"),
    ("{$exp: NumberDecimal('0')}", "NumberDecimal('1')"),
    ("{$round: [NumberDecimal('1'), 1]}", "NumberDecimal('1.0')"),
    ("{$trunc: NumberDecimal('1E+6')}", "NumberDecimal('1000000')"),
    ("{$ceil: NumberDecimal('1E+6')}", "NumberDecimal('1000000')"),
    (
        "{$toDouble: NumberDecimal('1E-6176')}",
        "error 241: Conversion would overflow target type in $convert with no onError value: 1E-6176",
    ),
    ("{$convert: {input: '1E7000', to: 'decimal', onError: 'no'}}", "'no'"),
    (
        "{$convert: {input: Date(9223372036854775807), to: 'string', onError: 'no'}}",
        "error 18537: Could not convert date to string: date component was outside the supported range of 0-9999: 292278994",
    ),
    ("{$toDecimal: '-Infinity'}", "NumberDecimal('-Infinity')"),
    (
        "{$toString: Date(9223372036854775807)}",
        "error 18537: Could not convert date to string: date component was outside the supported range of 0-9999: 292278994",
    ),
    ("{$dateFromParts: {year: 2020, millisecond: NumberLong(10000000000)}}", "Date(1587836800000)"),
    (
        "{$dateFromParts: {year: NumberLong(2147483648)}}",
        "error 40523: 'year' must evaluate to an integer in the range 1 to 9999, found 2147483648",
    ),
    (
        "{$dateFromParts: {year: 2020, second: NumberLong(9223372036854775807)}}",
        "error 159: Overflow casting from a lower-precision duration to a higher-precision duration",
    ),
    ("{$add: [Date(1583020799999), NumberDecimal('1.50')]}", "Date(1583020800000)"),
    ("{$stdDevPop: [1, NaN]}", "NaN"),
    ("{$stdDevSamp: [1, 'x']}", "null"),
    ("{$mod: [7.5, 0]}", "error 16610: can't $mod by zero"),
    ("{$mod: [7, NumberDecimal('0')]}", "error 5733415: can't $mod by zero"),
    ("{$multiply: [null, 'x']}", "null"),
    ("{$multiply: ['x', null]}", "error 14: $multiply only supports numeric types, not string"),
    ("{$atan2: ['x', null]}", "error 51044: $atan2 only supports numeric types, not string"),
    ("{$atan2: [null, 'x']}", "null"),
    ("{$log: [2147483647, 2]}", "30.999999999328196"),
    ("{$add: [Date(1000), -2.5]}", "Date(997)"),
    ("{$add: [Date(-1000), -2.5]}", "Date(-1002)"),
    ("{$add: [Date(0), NumberDecimal('1.50')]}", "Date(2)"),
    ("{$subtract: [Date(1000), 2.5]}", "Date(998)"),
    ("{$indexOfCP: ['', '']}", "0"),
    ("{$indexOfCP: ['', 'a']}", "-1"),
    (
        "{$sortArray: {input: [{a: [5, 1]}, {a: [2, 9]}, {a: 3}], sortBy: {a: 1}}}",
        "[{a: 3}, {a: [2, 9]}, {a: [5, 1]}]",
    ),
    (
        "{$sortArray: {input: [{a: [5, 1]}, {a: [2, 9]}, {a: 3}], sortBy: {'a.1': -1}}}",
        "[{a: [2, 9]}, {a: [5, 1]}, {a: 3}]",
    ),
    (
        "{$sortArray: {input: [], sortBy: {a: 1.5}}}",
        "error 2942505: BadValue: The sort element value must be either 1 or -1",
    ),
    (
        "{$dateToString: {date: Date(253402300799999), timezone: 'America/New_York'}}",
        "'9999-12-31T18:59:59.999Z'",
    ),
    // Bins of hours are elapsed time, even across a change of the offset.
    (
        "{$dateTrunc: {date: Date(1593604799999), unit: 'hour', binSize: 2, timezone: 'America/New_York'}}",
        "Date(1593601200000)",
    ),
    (
        "{$dateTrunc: {date: Date(1593604799999), unit: 'hour', timezone: 'Australia/Lord_Howe'}}",
        "Date(1593601200000)",
    ),
    (
        "{$dateToParts: {date: '$d', timezone: 1}}",
        "error 40517: timezone must evaluate to a string, found int",
    ),
    (
        "{$hour: {date: '$d', timezone: 'utc'}}",
        "error 40485: unrecognized time zone identifier: \"utc\"",
    ),
    (
        "{$hour: {date: '$d', timezone: 'Z'}}",
        "error 40485: unrecognized time zone identifier: \"Z\"",
    ),
    ("{$dateFromString: {dateString: '2020-060', onError: 'no'}}", "'no'"),
    ("{$dateFromString: {dateString: '1583020800', onError: 'no'}}", "'no'"),
    ("{$dateFromString: {dateString: '2020-02-29T24:00:00', onError: 'no'}}", "'no'"),
    ("{$dateFromString: {dateString: '2020-02-29T10:20:60Z', onError: 'no'}}", "'no'"),
    ("{$dateFromString: {dateString: '20200229T102030Z'}}", "Date(1582971630000)"),
    (
        "{$dateFromString: {dateString: '2020-02-29.5', format: '%Y-%m-%d.%L'}}",
        "Date(1582934400500)",
    ),
    ("{$regexMatch: {input: 'x', regex: '^\\\\p{L}[\\\\p{Ll}]?$'}}", "true"),
    ("{$regexMatch: {input: 'a', regex: '\\\\141'}}", "true"),
];
