//! Expressions on dates, and their results.

pub(super) const ROWS: &[(&str, &str)] = &[
    ("{$year: '$d'}", "2024"),
    ("{$year: '$s'}", "error 16006: can't convert from BSON type string to Date"),
    ("{$year: '$n'}", "null"),
    ("{$year: {date: '$d', timezone: 'America/New_York'}}", "2024"),
    (
        "{$year: {date: '$d', timezone: 'Foo'}}",
        r#"error 40485: unrecognized time zone identifier: "Foo""#,
    ),
    (
        "{$year: {date: '$d', timezone: 1}}",
        "error 40533: $year requires a string for the timezone argument, but was given a int (1)",
    ),
    ("{$year: {date: '$d', timezone: '$n'}}", "null"),
    (
        "{$year: {timezone: 'UTC'}}",
        r#"error 40539: missing 'date' argument to $year, provided: $year: { timezone: "UTC" }"#,
    ),
    ("{$year: {date: '$d', z: 1}}", r#"error 40535: unrecognized option to $year: "z""#),
    ("{$hour: {date: '$d', timezone: '+05:30'}}", "18"),
    ("{$hour: {date: '$d', timezone: '-0530'}}", "7"),
    ("{$hour: {date: '$d', timezone: '+05'}}", "18"),
    ("{$year: ObjectId('65a1b2c3d4e5f60718293a4b')}", "2024"),
    ("{$year: Timestamp(5, 6)}", "1970"),
    (
        "{$year: [1, 2]}",
        "error 40536: $year accepts exactly one argument if given an array, but was given 2",
    ),
    ("{$week: '$d'}", "8"),
    ("{$isoWeek: '$d'}", "9"),
    ("{$isoWeekYear: '$d'}", "NumberLong(2024)"),
    ("{$isoDayOfWeek: '$d'}", "4"),
    ("{$dayOfWeek: '$d'}", "5"),
    ("{$dayOfYear: '$d'}", "60"),
    ("{$millisecond: '$d'}", "89"),
    ("{$dateAdd: {startDate: '$d', unit: 'month', amount: 1}}", "Date(1711717507089)"),
    ("{$dateAdd: {startDate: '$d', unit: 'year', amount: 1}}", "Date(1740747907089)"),
    (
        "{$dateAdd: {startDate: '$s', unit: 'year', amount: 1}}",
        "error 5166403: $dateAdd requires startDate to be convertible to a date",
    ),
    (
        "{$dateAdd: {startDate: '$d', unit: 'foo', amount: 1}}",
        "error 9: unknown time unit value: foo",
    ),
    (
        "{$dateAdd: {startDate: '$d', unit: 1, amount: 1}}",
        "error 5166404: $dateAdd expects string defining the time unit",
    ),
    (
        "{$dateAdd: {startDate: '$d', unit: 'day', amount: 1.5}}",
        "error 5166405: $dateAdd expects integer amount of time units",
    ),
    (
        "{$dateAdd: {startDate: '$d', unit: 'day', amount: 'x'}}",
        "error 5166405: $dateAdd expects integer amount of time units",
    ),
    (
        "{$dateAdd: {startDate: '$d', unit: 'day'}}",
        "error 5166402: $dateAdd requires startDate, unit, and amount to be present",
    ),
    ("{$dateAdd: 1}", "error 5166400: $dateAdd expects an object as its argument"),
    (
        "{$dateAdd: {startDate: '$d', unit: 'day', amount: 1, z: 1}}",
        "error 5166401: Unrecognized argument to $dateAdd: z. Expected arguments are startDate, unit, amount, and optionally timezone.",
    ),
    (
        "{$dateAdd: {startDate: '$d', unit: 'day', amount: 1, timezone: 'America/New_York'}}",
        "Date(1709298307089)",
    ),
    ("{$dateAdd: {startDate: '$n', unit: 'day', amount: 1}}", "null"),
    (
        "{$dateAdd: {startDate: Date(1709985600000), unit: 'day', amount: 1, timezone: 'America/New_York'}}",
        "Date(1710068400000)",
    ),
    (
        "{$dateAdd: {startDate: Date(1709985600000), unit: 'hour', amount: 24, timezone: 'America/New_York'}}",
        "Date(1710072000000)",
    ),
    (
        "{$dateAdd: {startDate: '$d', unit: 'year', amount: NumberLong(9223372036854775807)}}",
        "error 5976500: invalid dateAdd 'amount' parameter value: 9223372036854775807 year",
    ),
    ("{$dateSubtract: {startDate: '$d', unit: 'quarter', amount: 1}}", "Date(1701263107089)"),
    ("{$dateSubtract: {startDate: '$d', unit: 'week', amount: 1}}", "Date(1708607107089)"),
    (
        "{$dateDiff: {startDate: Date(1704067140000), endDate: Date(1704067200000), unit: 'year'}}",
        "NumberLong(1)",
    ),
    (
        "{$dateDiff: {startDate: Date(1704067140000), endDate: Date(1704067200000), unit: 'week'}}",
        "NumberLong(0)",
    ),
    (
        "{$dateDiff: {startDate: Date(1704499200000), endDate: Date(1704672000000), unit: 'week', startOfWeek: 'monday'}}",
        "NumberLong(1)",
    ),
    (
        "{$dateDiff: {startDate: Date(1704499200000), endDate: Date(1704672000000), unit: 'week', startOfWeek: 'foo'}}",
        "error 5439016: $dateDiff parameter 'startOfWeek' value cannot be recognized as a day of a week: foo",
    ),
    (
        "{$dateDiff: {startDate: Date(1704499200000), endDate: Date(1704672000000), unit: 'week', startOfWeek: 1}}",
        "error 5439015: $dateDiff requires 'startOfWeek' to be a string, but got int",
    ),
    (
        "{$dateDiff: {startDate: Date(1704499200000), endDate: '$s', unit: 'week'}}",
        "error 5166307: $dateDiff requires 'endDate' to be a date, but got string",
    ),
    (
        "{$dateDiff: {startDate: Date(1704499200000), endDate: Date(1672963200000), unit: 'month'}}",
        "NumberLong(-12)",
    ),
    (
        "{$dateDiff: {startDate: Date(1704499200000), unit: 'month'}}",
        "error 5166304: Missing 'endDate' parameter to $dateDiff",
    ),
    ("{$dateDiff: {startDate: '$n', endDate: 1, unit: 'month'}}", "null"),
    (
        "{$dateDiff: {startDate: Date(1704499200000), endDate: Date(1672963200000), unit: 'foo'}}",
        "error 5439014: $dateDiff parameter 'unit' value cannot be recognized as a time unit: foo",
    ),
    (
        "{$dateDiff: {startDate: Date(1704583800000), endDate: Date(1704587400000), unit: 'hour'}}",
        "NumberLong(1)",
    ),
    (
        "{$dateDiff: {startDate: Date(1704583800000), endDate: Date(1704587340000), unit: 'day', timezone: '+01:00'}}",
        "NumberLong(0)",
    ),
    ("{$dateFromParts: {year: 2024}}", "Date(1704067200000)"),
    ("{$dateFromParts: {year: 2024, month: 14, day: 0, hour: -1}}", "Date(1738278000000)"),
    (
        "{$dateFromParts: {year: 'x'}}",
        r#"error 40515: 'year' must evaluate to an integer, found string with value "x""#,
    ),
    (
        "{$dateFromParts: {year: 0}}",
        "error 40523: 'year' must evaluate to an integer in the range 1 to 9999, found 0",
    ),
    (
        "{$dateFromParts: {year: 10000}}",
        "error 40523: 'year' must evaluate to an integer in the range 1 to 9999, found 10000",
    ),
    (
        "{$dateFromParts: {year: 2024, month: 99999}}",
        "error 31034: 'month' must evaluate to a value in the range [-32768, 32767]; value 99999 is not in range",
    ),
    (
        "{$dateFromParts: {month: 1}}",
        "error 40516: $dateFromParts requires either 'year' or 'isoWeekYear' to be present",
    ),
    (
        "{$dateFromParts: {year: 2024, isoWeek: 1}}",
        "error 40489: $dateFromParts does not allow mixing natural dates with ISO dates",
    ),
    ("{$dateFromParts: {isoWeekYear: 2024, isoWeek: 1, isoDayOfWeek: 3}}", "Date(1704240000000)"),
    (
        "{$dateFromParts: {isoWeekYear: 2024, month: 1}}",
        "error 40525: $dateFromParts does not allow mixing ISO dates with natural dates",
    ),
    ("{$dateFromParts: {year: null}}", "null"),
    (
        "{$dateFromParts: {year: 2024, timezone: 'America/New_York', hour: 5}}",
        "Date(1704103200000)",
    ),
    (
        "{$dateFromParts: {year: 2024, x: 1}}",
        "error 40518: Unrecognized argument to $dateFromParts: x",
    ),
    ("{$dateFromParts: 1}", "error 40519: $dateFromParts only supports an object as its argument"),
    (
        "{$dateFromParts: {year: 2024.5}}",
        "error 40515: 'year' must evaluate to an integer, found double with value 2024.5",
    ),
    (
        "{$dateFromParts: {year: 2024, timezone: 5}}",
        "error 40517: timezone must evaluate to a string, found int",
    ),
    ("{$dateFromString: {dateString: '2024-02-29T13:05:07.089Z'}}", "Date(1709211907089)"),
    ("{$dateFromString: {dateString: '2024-02-29'}}", "Date(1709164800000)"),
    ("{$dateFromString: {dateString: '2024-02-29 13:05'}}", "Date(1709211900000)"),
    ("{$dateFromString: {dateString: '2024-02-29T13:05:07+0200'}}", "Date(1709204707000)"),
    (
        "{$dateFromString: {dateString: '2024-02-29T13:05:07', timezone: 'America/New_York'}}",
        "Date(1709229907000)",
    ),
    (
        "{$dateFromString: {dateString: '2024-02-29T13:05:07Z', timezone: 'America/New_York'}}",
        "error 241: you cannot pass in a date/time string with time zone information ('Z') together with a timezone argument",
    ),
    (
        "{$dateFromString: {dateString: 'foo'}}",
        "error 241: Error parsing date string 'foo'; 0: passing a time zone identifier as part of the string is not allowed 'f'",
    ),
    (
        "{$dateFromString: {dateString: 1}}",
        "error 241: $dateFromString requires that 'dateString' be a string, found: int with value 1",
    ),
    ("{$dateFromString: {dateString: '$n'}}", "null"),
    ("{$dateFromString: {dateString: '$n', onNull: 5}}", "5"),
    ("{$dateFromString: {dateString: 'foo', onError: 5}}", "5"),
    ("{$dateFromString: {dateString: '15/03/2018', format: '%d/%m/%Y'}}", "Date(1521072000000)"),
    (
        "{$dateFromString: {dateString: '15/03/2018 x', format: '%d/%m/%Y'}}",
        "error 241: Error parsing date string '15/03/2018 x'; 10: Trailing data ' '",
    ),
    (
        "{$dateFromString: {dateString: '15/03', format: '%d/%m'}}",
        r#"error 241: an incomplete date/time string has been found, with elements missing: "15/03""#,
    ),
    (
        "{$dateFromString: {dateString: '15/03/2018', format: '%q'}}",
        "error 18536: Invalid format character '%q' in format string",
    ),
    (
        "{$dateFromString: {dateString: '15/03/2018', format: 1}}",
        "error 40684: $dateFromString requires that 'format' be a string, found: int with value 1",
    ),
    ("{$dateFromString: {}}", "error 40542: Missing 'dateString' parameter to $dateFromString"),
    (
        "{$dateFromString: 1}",
        "error 40540: $dateFromString only supports an object as an argument, found: int",
    ),
    (
        "{$dateFromString: {dateString: 'a', z: 1}}",
        "error 40541: Unrecognized argument to $dateFromString: z",
    ),
    ("{$dateFromString: {dateString: 'July 4th, 2017'}}", "Date(1499126400000)"),
    ("{$dateFromString: {dateString: 'July 4, 2017 11:00:00'}}", "Date(1499166000000)"),
    ("{$dateFromString: {dateString: 'Fri, 01 Mar 2024 10:00:00 +0100'}}", "Date(1709283600000)"),
    ("{$dateFromString: {dateString: '2024-02'}}", "Date(1706745600000)"),
    ("{$dateFromString: {dateString: '2024-W09-4'}}", "Date(1709164800000)"),
    ("{$dateFromString: {dateString: '20240229'}}", "Date(1709164800000)"),
    (
        "{$dateFromString: {dateString: '2024-02-30'}}",
        "error 241: Error parsing date string '2024-02-30'; 10: The parsed date was invalid ' '",
    ),
    ("{$dateFromString: {dateString: '1/2/2024'}}", "Date(1704153600000)"),
    ("{$dateFromString: {dateString: '2024-02-29T13:05:07.123456Z'}}", "Date(1709211907123)"),
    (
        "{$dateFromString: {dateString: '2024-02-29 America/New_York'}}",
        "error 241: Error parsing date string '2024-02-29 America/New_York'; 11: passing a time zone identifier as part of the string is not allowed 'A'",
    ),
    (
        "{$dateFromString: {dateString: '10:00'}}",
        r#"error 241: an incomplete date/time string has been found, with elements missing: "10:00""#,
    ),
    (
        "{$dateToParts: {date: '$d'}}",
        "{year: 2024, month: 2, day: 29, hour: 13, minute: 5, second: 7, millisecond: 89}",
    ),
    (
        "{$dateToParts: {date: '$d', iso8601: true}}",
        "{isoWeekYear: 2024, isoWeek: 9, isoDayOfWeek: 4, hour: 13, minute: 5, second: 7, millisecond: 89}",
    ),
    (
        "{$dateToParts: {date: '$d', iso8601: 1}}",
        "error 40521: iso8601 must evaluate to a bool, found int",
    ),
    ("{$dateToParts: {date: '$s'}}", "error 16006: can't convert from BSON type string to Date"),
    (
        "{$dateToParts: {date: '$d', timezone: 'Asia/Tokyo'}}",
        "{year: 2024, month: 2, day: 29, hour: 22, minute: 5, second: 7, millisecond: 89}",
    ),
    ("{$dateToParts: {}}", "error 40522: Missing 'date' parameter to $dateToParts"),
    ("{$dateToParts: {date: '$n'}}", "null"),
    ("{$dateToString: {date: '$d'}}", "'2024-02-29T13:05:07.089Z'"),
    ("{$dateToString: {date: '$d', timezone: 'Asia/Tokyo'}}", "'2024-02-29T22:05:07.089Z'"),
    (
        "{$dateToString: {date: '$d', format: '%Y-%m-%d %H:%M:%S.%L %z %Z %j %u %w %U %V %G %%'}}",
        "'2024-02-29 13:05:07.089 +0000 0 060 4 5 08 09 2024 %'",
    ),
    ("{$dateToString: {date: '$d', format: '%b %B', timezone: 'Asia/Tokyo'}}", "'Feb February'"),
    (
        "{$dateToString: {date: '$d', format: '%q'}}",
        "error 18536: Invalid format character '%q' in format string",
    ),
    (
        "{$dateToString: {date: '$d', format: 'x%'}}",
        "error 18535: Unmatched '%' at end of format string",
    ),
    (
        "{$dateToString: {date: '$d', format: 1}}",
        "error 18533: $dateToString requires that 'format' be a string, found: int with value 1",
    ),
    ("{$dateToString: {date: '$s'}}", "error 16006: can't convert from BSON type string to Date"),
    ("{$dateToString: {date: '$n'}}", "null"),
    ("{$dateToString: {date: '$n', onNull: 'x'}}", "'x'"),
    ("{$dateToString: {format: 'x'}}", "error 18628: Missing 'date' parameter to $dateToString"),
    ("{$dateToString: 1}", "error 18629: $dateToString only supports an object as its argument"),
    (
        "{$dateToString: {date: '$d', z: 1}}",
        "error 18534: Unrecognized argument to $dateToString: z",
    ),
    ("{$dateToString: {date: '$d', format: '$n'}}", "null"),
    ("{$dateToString: {date: '$d', format: '%Y', timezone: '$n'}}", "null"),
    ("{$dateTrunc: {date: '$d', unit: 'month'}}", "Date(1706745600000)"),
    ("{$dateTrunc: {date: '$d', unit: 'week'}}", "Date(1708819200000)"),
    ("{$dateTrunc: {date: '$d', unit: 'week', startOfWeek: 'mon'}}", "Date(1708905600000)"),
    ("{$dateTrunc: {date: '$d', unit: 'week', binSize: 2}}", "Date(1708819200000)"),
    ("{$dateTrunc: {date: '$d', unit: 'hour', binSize: 5}}", "Date(1709200800000)"),
    (
        "{$dateTrunc: {date: '$d', unit: 'day', binSize: 2, timezone: 'America/New_York'}}",
        "Date(1709096400000)",
    ),
    ("{$dateTrunc: {date: '$d', unit: 'month', binSize: 7}}", "Date(1701388800000)"),
    ("{$dateTrunc: {date: '$d', unit: 'quarter'}}", "Date(1704067200000)"),
    ("{$dateTrunc: {date: '$d', unit: 'year', binSize: 3}}", "Date(1704067200000)"),
    (
        "{$dateTrunc: {date: '$d', unit: 'day', binSize: 0}}",
        "error 5439018: $dateTrunc requires 'binSize' to be greater than 0, but got value 0",
    ),
    (
        "{$dateTrunc: {date: '$d', unit: 'day', binSize: 'x'}}",
        r#"error 5439017: $dateTrunc requires 'binSize' to be a 64-bit integer, but got value '"x"' of type string"#,
    ),
    (
        "{$dateTrunc: {date: '$s', unit: 'day'}}",
        "error 5439012: $dateTrunc requires 'date' to be a date, but got string",
    ),
    (
        "{$dateTrunc: {date: '$d', unit: 'foo'}}",
        "error 5439014: $dateTrunc parameter 'unit' value cannot be recognized as a time unit: foo",
    ),
    ("{$dateTrunc: {date: '$d'}}", "error 5439010: Missing 'unit' parameter to $dateTrunc"),
    ("{$dateTrunc: {date: Date(631152000000), unit: 'week', binSize: 3}}", "Date(631065600000)"),
    ("{$dateTrunc: {date: Date(641520000000), unit: 'month', binSize: 7}}", "Date(633830400000)"),
    ("{$dateTrunc: {date: Date(641530800000), unit: 'hour', binSize: 7}}", "Date(641512800000)"),
];
