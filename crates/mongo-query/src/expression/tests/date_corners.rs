//! Corner cases of dates: steps of each unit, parts, texts.

pub(super) const ROWS: &[(&str, &str)] = &[
    (
        "{$dateTrunc: {date: Date(1710055800000), unit: 'year', timezone: 'America/New_York'}}",
        "Date(1704085200000)",
    ),
    ("{$dateTrunc: {date: Date(-1), unit: 'year', binSize: 3}}", "Date(-94694400000)"),
    (
        "{$dateDiff: {startDate: Date(-1), endDate: Date(1710055800000), unit: 'year'}}",
        "NumberLong(55)",
    ),
    (
        "{$dateDiff: {startDate: Date(1730615400000), endDate: Date(1710055800000), unit: 'year', timezone: 'America/New_York'}}",
        "NumberLong(0)",
    ),
    (
        "{$dateAdd: {startDate: Date(1730615400000), unit: 'year', amount: 5, timezone: 'America/New_York'}}",
        "Date(1888378200000)",
    ),
    (
        "{$dateSubtract: {startDate: Date(1711843200000), unit: 'year', amount: 1}}",
        "Date(1680220800000)",
    ),
    (
        "{$dateTrunc: {date: Date(1710055800000), unit: 'quarter', timezone: 'America/New_York'}}",
        "Date(1704085200000)",
    ),
    ("{$dateTrunc: {date: Date(-1), unit: 'quarter', binSize: 3}}", "Date(-23760000000)"),
    (
        "{$dateDiff: {startDate: Date(-1), endDate: Date(1710055800000), unit: 'quarter'}}",
        "NumberLong(217)",
    ),
    (
        "{$dateDiff: {startDate: Date(1730615400000), endDate: Date(1710055800000), unit: 'quarter', timezone: 'America/New_York'}}",
        "NumberLong(-3)",
    ),
    (
        "{$dateAdd: {startDate: Date(1730615400000), unit: 'quarter', amount: 5, timezone: 'America/New_York'}}",
        "Date(1770100200000)",
    ),
    (
        "{$dateSubtract: {startDate: Date(1711843200000), unit: 'quarter', amount: 1}}",
        "Date(1703980800000)",
    ),
    (
        "{$dateTrunc: {date: Date(1710055800000), unit: 'month', timezone: 'America/New_York'}}",
        "Date(1709269200000)",
    ),
    ("{$dateTrunc: {date: Date(-1), unit: 'month', binSize: 3}}", "Date(-7948800000)"),
    (
        "{$dateDiff: {startDate: Date(-1), endDate: Date(1710055800000), unit: 'month'}}",
        "NumberLong(651)",
    ),
    (
        "{$dateDiff: {startDate: Date(1730615400000), endDate: Date(1710055800000), unit: 'month', timezone: 'America/New_York'}}",
        "NumberLong(-8)",
    ),
    (
        "{$dateAdd: {startDate: Date(1730615400000), unit: 'month', amount: 5, timezone: 'America/New_York'}}",
        "Date(1743658200000)",
    ),
    (
        "{$dateSubtract: {startDate: Date(1711843200000), unit: 'month', amount: 1}}",
        "Date(1709164800000)",
    ),
    (
        "{$dateTrunc: {date: Date(1710055800000), unit: 'week', timezone: 'America/New_York'}}",
        "Date(1710046800000)",
    ),
    ("{$dateTrunc: {date: Date(-1), unit: 'week', binSize: 3}}", "Date(-345600000)"),
    (
        "{$dateDiff: {startDate: Date(-1), endDate: Date(1710055800000), unit: 'week'}}",
        "NumberLong(2828)",
    ),
    (
        "{$dateDiff: {startDate: Date(1730615400000), endDate: Date(1710055800000), unit: 'week', timezone: 'America/New_York'}}",
        "NumberLong(-34)",
    ),
    (
        "{$dateAdd: {startDate: Date(1730615400000), unit: 'week', amount: 5, timezone: 'America/New_York'}}",
        "Date(1733639400000)",
    ),
    (
        "{$dateSubtract: {startDate: Date(1711843200000), unit: 'week', amount: 1}}",
        "Date(1711238400000)",
    ),
    (
        "{$dateTrunc: {date: Date(1710055800000), unit: 'day', timezone: 'America/New_York'}}",
        "Date(1710046800000)",
    ),
    ("{$dateTrunc: {date: Date(-1), unit: 'day', binSize: 3}}", "Date(-172800000)"),
    (
        "{$dateDiff: {startDate: Date(-1), endDate: Date(1710055800000), unit: 'day'}}",
        "NumberLong(19793)",
    ),
    (
        "{$dateDiff: {startDate: Date(1730615400000), endDate: Date(1710055800000), unit: 'day', timezone: 'America/New_York'}}",
        "NumberLong(-238)",
    ),
    (
        "{$dateAdd: {startDate: Date(1730615400000), unit: 'day', amount: 5, timezone: 'America/New_York'}}",
        "Date(1731047400000)",
    ),
    (
        "{$dateSubtract: {startDate: Date(1711843200000), unit: 'day', amount: 1}}",
        "Date(1711756800000)",
    ),
    (
        "{$dateTrunc: {date: Date(1710055800000), unit: 'hour', timezone: 'America/New_York'}}",
        "Date(1710054000000)",
    ),
    ("{$dateTrunc: {date: Date(-1), unit: 'hour', binSize: 3}}", "Date(-10800000)"),
    (
        "{$dateDiff: {startDate: Date(-1), endDate: Date(1710055800000), unit: 'hour'}}",
        "NumberLong(475016)",
    ),
    (
        "{$dateDiff: {startDate: Date(1730615400000), endDate: Date(1710055800000), unit: 'hour', timezone: 'America/New_York'}}",
        "NumberLong(-5711)",
    ),
    (
        "{$dateAdd: {startDate: Date(1730615400000), unit: 'hour', amount: 5, timezone: 'America/New_York'}}",
        "Date(1730633400000)",
    ),
    (
        "{$dateSubtract: {startDate: Date(1711843200000), unit: 'hour', amount: 1}}",
        "Date(1711839600000)",
    ),
    (
        "{$dateTrunc: {date: Date(1710055800000), unit: 'minute', timezone: 'America/New_York'}}",
        "Date(1710055800000)",
    ),
    ("{$dateTrunc: {date: Date(-1), unit: 'minute', binSize: 3}}", "Date(-180000)"),
    (
        "{$dateDiff: {startDate: Date(-1), endDate: Date(1710055800000), unit: 'minute'}}",
        "NumberLong(28500931)",
    ),
    (
        "{$dateDiff: {startDate: Date(1730615400000), endDate: Date(1710055800000), unit: 'minute', timezone: 'America/New_York'}}",
        "NumberLong(-342660)",
    ),
    (
        "{$dateAdd: {startDate: Date(1730615400000), unit: 'minute', amount: 5, timezone: 'America/New_York'}}",
        "Date(1730615700000)",
    ),
    (
        "{$dateSubtract: {startDate: Date(1711843200000), unit: 'minute', amount: 1}}",
        "Date(1711843140000)",
    ),
    (
        "{$dateTrunc: {date: Date(1710055800000), unit: 'second', timezone: 'America/New_York'}}",
        "Date(1710055800000)",
    ),
    ("{$dateTrunc: {date: Date(-1), unit: 'second', binSize: 3}}", "Date(-3000)"),
    (
        "{$dateDiff: {startDate: Date(-1), endDate: Date(1710055800000), unit: 'second'}}",
        "NumberLong(1710055801)",
    ),
    (
        "{$dateDiff: {startDate: Date(1730615400000), endDate: Date(1710055800000), unit: 'second', timezone: 'America/New_York'}}",
        "NumberLong(-20559600)",
    ),
    (
        "{$dateAdd: {startDate: Date(1730615400000), unit: 'second', amount: 5, timezone: 'America/New_York'}}",
        "Date(1730615405000)",
    ),
    (
        "{$dateSubtract: {startDate: Date(1711843200000), unit: 'second', amount: 1}}",
        "Date(1711843199000)",
    ),
    (
        "{$dateTrunc: {date: Date(1710055800000), unit: 'millisecond', timezone: 'America/New_York'}}",
        "Date(1710055800000)",
    ),
    ("{$dateTrunc: {date: Date(-1), unit: 'millisecond', binSize: 3}}", "Date(-3)"),
    (
        "{$dateDiff: {startDate: Date(-1), endDate: Date(1710055800000), unit: 'millisecond'}}",
        "NumberLong(1710055800001)",
    ),
    (
        "{$dateDiff: {startDate: Date(1730615400000), endDate: Date(1710055800000), unit: 'millisecond', timezone: 'America/New_York'}}",
        "NumberLong(-20559600000)",
    ),
    (
        "{$dateAdd: {startDate: Date(1730615400000), unit: 'millisecond', amount: 5, timezone: 'America/New_York'}}",
        "Date(1730615400005)",
    ),
    (
        "{$dateSubtract: {startDate: Date(1711843200000), unit: 'millisecond', amount: 1}}",
        "Date(1711843199999)",
    ),
    ("{$year: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "1970"),
    ("{$year: Date(1609632000000)}", "2021"),
    ("{$month: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "1"),
    ("{$month: Date(1609632000000)}", "1"),
    ("{$dayOfMonth: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "1"),
    ("{$dayOfMonth: Date(1609632000000)}", "3"),
    ("{$dayOfWeek: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "5"),
    ("{$dayOfWeek: Date(1609632000000)}", "1"),
    ("{$dayOfYear: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "1"),
    ("{$dayOfYear: Date(1609632000000)}", "3"),
    ("{$hour: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "5"),
    ("{$hour: Date(1609632000000)}", "0"),
    (
        "{$hour: [{date: Date(1730615400000)}]}",
        "error 16006: can't convert from BSON type object to Date",
    ),
    ("{$minute: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "29"),
    ("{$minute: Date(1609632000000)}", "0"),
    ("{$second: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "59"),
    ("{$second: Date(1609632000000)}", "0"),
    ("{$millisecond: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "999"),
    ("{$millisecond: Date(1609632000000)}", "0"),
    ("{$week: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "0"),
    ("{$week: Date(1609632000000)}", "1"),
    ("{$isoWeek: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "1"),
    ("{$isoWeek: Date(1609632000000)}", "53"),
    ("{$isoWeekYear: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "NumberLong(1970)"),
    ("{$isoWeekYear: Date(1609632000000)}", "NumberLong(2020)"),
    ("{$isoDayOfWeek: {date: Date(-1), timezone: 'Asia/Kolkata'}}", "4"),
    ("{$isoDayOfWeek: Date(1609632000000)}", "7"),
    (
        "{$dateFromParts: {year: 2024, month: 3, day: 10, hour: 2, minute: 30, timezone: 'America/New_York'}}",
        "Date(1710055800000)",
    ),
    (
        "{$dateFromParts: {year: 2024, month: 11, day: 3, hour: 1, minute: 30, timezone: 'America/New_York'}}",
        "Date(1730615400000)",
    ),
    (
        "{$dateToString: {date: Date(1710055800000), format: '%H:%M %z', timezone: 'America/New_York'}}",
        "'03:30 -0400'",
    ),
    (
        "{$dateToString: {date: Date(1710055800000), timezone: '+03:30', format: '%z %Z'}}",
        "'+0330 210'",
    ),
    (
        "{$dateFromString: {dateString: '2024-03-10T02:30:00', timezone: 'America/New_York'}}",
        "Date(1710055800000)",
    ),
    ("{$dateFromString: {dateString: '2024-01-01T10:00:00.5+05:30'}}", "Date(1704083400500)"),
    ("{$dateFromString: {dateString: '2024-1-5'}}", "Date(1704412800000)"),
    ("{$dateFromString: {dateString: '5 March 2024'}}", "Date(1709596800000)"),
    ("{$dateFromString: {dateString: 'Mar 5 2024 3pm'}}", "Date(1709650800000)"),
    ("{$dateFromString: {dateString: '2024/03/05'}}", "Date(1709596800000)"),
    ("{$dateFromString: {dateString: '2024-03-05T10:11:12 UTC'}}", "Date(1709633472000)"),
    ("{$dateFromString: {dateString: '20240305T101112Z'}}", "Date(1709633472000)"),
    (
        "{$dateFromString: {dateString: '2024-366'}}",
        "error 241: Error parsing date string '2024-366'; 8: The parsed date was invalid ' '",
    ),
    ("{$dateFromString: {dateString: '2024-066', format: '%Y-%j'}}", "Date(1709683200000)"),
    (
        "{$dateFromString: {dateString: '2024-03-05 10:11 -0500', format: '%Y-%m-%d %H:%M %z'}}",
        "Date(1709651460000)",
    ),
    ("{$dateFromString: {dateString: '5-3-2024', format: '%d-%m-%Y'}}", "Date(1709596800000)"),
    (
        "{$dateFromString: {dateString: '2024-13-01'}}",
        "error 241: Error parsing date string '2024-13-01'; 10: The parsed date was invalid ' '",
    ),
    (
        "{$dateFromString: {dateString: '2024-03-05T25:00:00'}}",
        "error 241: Error parsing date string '2024-03-05T25:00:00'; 19: The parsed time was invalid ' '",
    ),
    (
        "{$dateFromString: {dateString: ''}}",
        r#"error 241: an incomplete date/time string has been found, with elements missing: """#,
    ),
    ("{$dateFromString: {dateString: ' 2024-03-05 '}}", "Date(1709596800000)"),
    ("{$tsIncrement: null}", "null"),
];
