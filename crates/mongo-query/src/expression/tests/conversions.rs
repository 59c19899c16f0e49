//! Conversions between types, and their results.

pub(super) const ROWS: &[(&str, &str)] = &[
    ("{$toBool: 'x'}", "true"),
    ("{$toBool: '$n'}", "null"),
    ("{$toBool: '$zz'}", "null"),
    ("{$toBool: [[]]}", "true"),
    ("{$toBool: '$o'}", "true"),
    ("{$toInt: '12'}", "12"),
    (
        "{$toInt: '12.5'}",
        "error 241: Failed to parse number '12.5' in $convert with no onError value: Did not consume whole string.",
    ),
    (
        "{$toInt: 'x'}",
        "error 241: Failed to parse number 'x' in $convert with no onError value: Did not consume whole string.",
    ),
    (
        "{$toInt: ' 1'}",
        "error 241: Failed to parse number ' 1' in $convert with no onError value: Did not consume whole string.",
    ),
    ("{$toInt: 12.7}", "12"),
    (
        "{$toInt: 1e+20}",
        "error 241: Conversion would overflow target type in $convert with no onError value: 1e+20",
    ),
    (
        "{$toInt: '$d'}",
        "error 241: Unsupported conversion from date to int in $convert with no onError value",
    ),
    (
        "{$toInt: '$o'}",
        "error 241: Unsupported conversion from object to int in $convert with no onError value",
    ),
    (
        "{$toInt: NaN}",
        "error 241: Attempt to convert NaN value to integer type in $convert with no onError value",
    ),
    (
        "{$toInt: Infinity}",
        "error 241: Attempt to convert infinity value to integer type in $convert with no onError value",
    ),
    ("{$toLong: '$d'}", "NumberLong(1709211907089)"),
    (
        "{$toLong: '99999999999999999999'}",
        "error 241: Failed to parse number '99999999999999999999' in $convert with no onError value: Overflow",
    ),
    (
        "{$toLong: 1e+19}",
        "error 241: Conversion would overflow target type in $convert with no onError value: 1e+19",
    ),
    (
        "{$toInt: NumberLong(9999999999)}",
        "error 241: Conversion would overflow target type in $convert with no onError value: ",
    ),
    (
        "{$toInt: ''}",
        "error 241: Failed to parse number '' in $convert with no onError value: No digits",
    ),
    (
        "{$toInt: '0x1F'}",
        "error 241: Illegal hexadecimal input in $convert with no onError value: 0x1F",
    ),
    ("{$toInt: '+5'}", "5"),
    ("{$toDouble: '1.5'}", "1.5"),
    ("{$toDouble: '-0x1p1'}", "-2.0"),
    ("{$toDouble: '0X1P0'}", "1.0"),
    ("{$toDouble: 'NaN(1a_)'}", "NaN"),
    (
        "{$toDouble: '0x1p1'}",
        "error 241: Illegal hexadecimal input in $convert with no onError value: 0x1p1",
    ),
    (
        "{$toDouble: '+0x'}",
        "error 241: Failed to parse number '+0x' in $convert with no onError value: Did not consume whole string.",
    ),
    (
        "{$toDouble: '+0x1p1024'}",
        "error 241: Failed to parse number '+0x1p1024' in $convert with no onError value: Out of range",
    ),
    (
        "{$toInt: '0X10'}",
        "error 241: Failed to parse number '0X10' in $convert with no onError value: Did not consume whole string.",
    ),
    ("{$toDouble: '$d'}", "1709211907089.0"),
    ("{$toDouble: '1e3'}", "1000.0"),
    (
        "{$toDouble: 'abc'}",
        "error 241: Failed to parse number 'abc' in $convert with no onError value: Did not consume any digits",
    ),
    ("{$toDouble: '-Infinity'}", "-Infinity"),
    ("{$toDouble: 'nan'}", "NaN"),
    ("{$toDouble: true}", "1.0"),
    ("{$toDecimal: '1.50'}", "NumberDecimal('1.50')"),
    ("{$toDecimal: 1.1}", "NumberDecimal('1.10000000000000')"),
    (
        "{$toDecimal: 'x'}",
        "error 241: Failed to parse number 'x' in $convert with no onError value: Failed to parse string to decimal",
    ),
    ("{$toDecimal: true}", "NumberDecimal('1')"),
    ("{$toDecimal: '$d'}", "NumberDecimal('1709211907089')"),
    ("{$toString: 1.5}", "'1.5'"),
    ("{$toString: 1.0}", "'1'"),
    ("{$toString: 1e+21}", "'1e+21'"),
    ("{$toString: 1e-07}", "'1e-07'"),
    ("{$toString: 100000000000.5}", "'100000000000.5'"),
    ("{$toString: 3.14159265358979}", "'3.14159265358979'"),
    ("{$toString: 1234567.891}", "'1234567.891'"),
    ("{$toString: {$add: [0.1, 0.2]}}", "'0.30000000000000004'"),
    ("{$toString: 1e15}", "'1000000000000000'"),
    ("{$toString: 1e16}", "'1e+16'"),
    ("{$toString: '$d'}", "'2024-02-29T13:05:07.089Z'"),
    ("{$toString: ObjectId('65a1b2c3d4e5f60718293a4b')}", "'65a1b2c3d4e5f60718293a4b'"),
    ("{$toString: true}", "'true'"),
    (
        "{$toString: '$arr'}",
        "error 241: Unsupported conversion from array to string in $convert with no onError value",
    ),
    (
        "{$toString: '$o'}",
        "error 241: Unsupported conversion from object to string in $convert with no onError value",
    ),
    ("{$toString: NumberDecimal('1.50')}", "'1.50'"),
    ("{$toString: Infinity}", "'Infinity'"),
    ("{$toString: NaN}", "'NaN'"),
    (
        "{$toString: BinData(0, '616263')}",
        "error 241: Unsupported conversion from binData to string in $convert with no onError value",
    ),
    (
        "{$toString: Timestamp(1, 2)}",
        "error 241: Unsupported conversion from timestamp to string in $convert with no onError value",
    ),
    ("{$toString: NumberLong(5)}", "'5'"),
    ("{$toString: 0.1}", "'0.1'"),
    ("{$toString: 0.3333333333333333}", "'0.3333333333333333'"),
    ("{$toString: 123456789.123}", "'123456789.123'"),
    ("{$toObjectId: '65a1b2c3d4e5f60718293a4b'}", "ObjectId('65a1b2c3d4e5f60718293a4b')"),
    (
        "{$toObjectId: 'x'}",
        "error 241: Failed to parse objectId 'x' in $convert with no onError value: Invalid string length for parsing to OID, expected 24 but found 1",
    ),
    (
        "{$toObjectId: 1}",
        "error 241: Unsupported conversion from int to objectId in $convert with no onError value",
    ),
    (
        "{$toDate: 0}",
        "error 241: Unsupported conversion from int to date in $convert with no onError value",
    ),
    ("{$toDate: NumberLong(5)}", "Date(5)"),
    ("{$toDate: 1.7}", "Date(1)"),
    ("{$toDate: '2024-01-01'}", "Date(1704067200000)"),
    (
        "{$toDate: 'x'}",
        "error 241: Error parsing date string 'x'; 0: passing a time zone identifier as part of the string is not allowed 'x'",
    ),
    ("{$toDate: ObjectId('65a1b2c3d4e5f60718293a4b')}", "Date(1705095875000)"),
    (
        "{$toDate: true}",
        "error 241: Unsupported conversion from bool to date in $convert with no onError value",
    ),
    ("{$toDate: Timestamp(5, 6)}", "Date(5000)"),
    ("{$toDate: NumberDecimal('5.5')}", "Date(5)"),
    (
        "{$toDate: '$o'}",
        "error 241: Unsupported conversion from object to date in $convert with no onError value",
    ),
    (
        "{$toDate: 1e+30}",
        "error 241: Conversion would overflow target type in $convert with no onError value: 1e+30",
    ),
    ("{$convert: {input: 'x', to: 'int', onError: 5}}", "5"),
    ("{$convert: {input: '$n', to: 'int', onNull: 6}}", "6"),
    ("{$convert: {input: 1, to: 'foo'}}", "error 2: Unknown type name: foo"),
    (
        "{$convert: {input: 1, to: 99}}",
        "error 9: In $convert, numeric value for 'to' does not correspond to a BSON type: 99",
    ),
    (
        "{$convert: {input: 1, to: 'object'}}",
        "error 241: Unsupported conversion from int to object in $convert with no onError value",
    ),
    ("{$convert: {input: 1, to: null}}", "null"),
    ("{$convert: {input: 1, to: 16}}", "1"),
    (
        "{$convert: {input: 1, to: 16.5}}",
        "error 9: In $convert, numeric 'to' argument is not an integer",
    ),
    (
        "{$convert: {input: 1, to: true}}",
        "error 9: $convert's 'to' argument must be a string or number, but is bool",
    ),
    ("{$convert: {input: 1}}", "error 9: Missing 'to' parameter to $convert"),
    ("{$convert: {to: 1}}", "error 9: Missing 'input' parameter to $convert"),
    ("{$convert: 1}", "error 9: $convert expects an object of named arguments but found: int"),
    ("{$convert: {input: 1, to: 'int', z: 1}}", "error 9: $convert found an unknown argument: z"),
    (
        "{$convert: {input: ObjectId('65a1b2c3d4e5f60718293a4b'), to: 'objectId'}}",
        "ObjectId('65a1b2c3d4e5f60718293a4b')",
    ),
    (
        "{$convert: {input: [1], to: 'int'}}",
        "error 241: Unsupported conversion from array to int in $convert with no onError value",
    ),
    (
        "{$convert: {input: /a/, to: 'string'}}",
        "error 241: Unsupported conversion from regex to string in $convert with no onError value",
    ),
    ("{$convert: {input: 1.5, to: 'bool'}}", "true"),
    ("{$convert: {input: MinKey, to: 'bool'}}", "true"),
    (
        "{$convert: {input: BinData(0, '61'), to: 'binData'}}",
        "error 241: Unsupported conversion from binData to binData in $convert with no onError value",
    ),
    (
        "{$convert: {input: 1, to: 'minKey'}}",
        "error 241: Unsupported conversion from int to minKey in $convert with no onError value",
    ),
    (
        "{$convert: {input: 'a', to: 'array'}}",
        "error 241: Unsupported conversion from string to array in $convert with no onError value",
    ),
];
