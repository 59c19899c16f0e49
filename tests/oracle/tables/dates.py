"""Dates: time zones, formats, parsing, adding, truncating, from parts."""

from both.case import Table
from bson import Int64, ObjectId, Timestamp
from bson.datetime_ms import DatetimeMS

from tables.rows import expression

ZONES = [
    "UTC",
    "GMT",
    "America/New_York",
    "Europe/Berlin",
    "Asia/Kolkata",
    "Australia/Lord_Howe",
    "Pacific/Apia",
    "+02",
    "+0530",
    "-05:45",
    "+00:00",
    "Z",
    "z",
    "",
    "Nope/Zone",
    "+2",
    "+25:00",
    "EST",
    "+14",
    "utc",
    "Etc/GMT+5",
    None,
    1,
    "+99:99",
    "America/Sao_Paulo",
    "Africa/Casablanca",
]
DATES = {
    "summer": DatetimeMS(1593604799999),
    "winter": DatetimeMS(1577836800000),
    "gap": DatetimeMS(1583650800000),
    "fold": DatetimeMS(1604210400000),
    "old": DatetimeMS(-2208988800001),
    "ancient": DatetimeMS(-30000000000000),
    "far": DatetimeMS(4102444800000),
    "leap": DatetimeMS(951868799000),
    "week53": DatetimeMS(1609459200000),
    "oid": ObjectId("5e5b9d7f0123456789abcdef"),
    "timestamp": Timestamp(1583020800, 7),
}
UNITS = ["year", "quarter", "month", "week", "day", "hour", "minute", "second", "millisecond"]
FORMATS = [
    "%Y-%m-%d",
    "%d/%m/%Y %H:%M:%S.%L",
    "%j %U %u %w %V %G",
    "%z",
    "%Z",
    "%%",
    "",
    "plain",
    "%",
    "%q",
    "%Y%",
    "%b %B",
    "%e",
    "é %Y",
    "%Y-%m-%dT%H:%M:%S.%L%z",
]
STRINGS = [
    "2020-02-29",
    "2020-02-29T10:20:30",
    "2020-02-29T10:20:30.5",
    "2020-02-29T10:20:30.123Z",
    "2020-02-29T10:20:30.123456Z",
    "2020-02-29T10:20:30+02:00",
    "2020-02-29T10:20:30-0530",
    "2020-02-29 10:20:30",
    "2020-02-29T10:20",
    "2020-02-30",
    "2020-13-01",
    "2020-2-9",
    "20200229",
    "20200229T102030Z",
    "2020-060",
    "2020-W09-6",
    "02/29/2020",
    "29.02.2020",
    "Feb 29 2020",
    "29 February 2020",
    "Sat, 29 Feb 2020 10:20:30 GMT",
    "",
    "x",
    "2020",
    "2020-02",
    "0001-01-01",
    "9999-12-31T23:59:59.999Z",
    "10000-01-01",
    "-0001-01-01",
    "2020-02-29T24:00:00",
    "2020-02-29T25:00:00Z",
    "2020-02-29T10:20:60Z",
    "2020-02-29T10:20:30 Europe/Berlin",
    "2020-02-29T10:20:30Z ",
    " 2020-02-29",
    "1583020800",
    "now",
    "today",
    "2020-02-29T10:20:30.Z",
    "2020-02-29t10:20:30z",
    "2020-02-29T10:20:30 +02:00",
    "12:30",
    "2020/02/29",
]
PARSED = [
    ("29/02/2020", "%d/%m/%Y"),
    ("2020-02-29 10:20", "%Y-%m-%d %H:%M"),
    ("2020-02-29", "%d/%m/%Y"),
    ("2020 060", "%Y %j"),
    ("2020-W09-6", "%G-W%V-%u"),
    ("29 Feb 2020", "%d %b %Y"),
    ("29 February 2020", "%d %B %Y"),
    ("10:20", "%H:%M"),
    ("2020", "%Y"),
    ("2020-02-29 +0530", "%Y-%m-%d %z"),
    ("2020-02-29 90", "%Y-%m-%d %Z"),
    ("2020-02-29x", "%Y-%m-%d"),
    ("2020-2-9", "%Y-%m-%d"),
    ("100% 2020", "100%% %Y"),
    ("2020-02-29.5", "%Y-%m-%d.%L"),
    ("2020-02-29", ""),
    ("2020-02-29", "%q"),
    ("2020-02-29", 1),
    ("2020-02-29", None),
]
PARTS = [
    {"year": 2020},
    {"year": 2020, "month": 13},
    {"year": 2020, "month": 0},
    {"year": 2020, "month": -5},
    {"year": 2020, "day": 0},
    {"year": 2020, "day": 400},
    {"year": 2020, "hour": 25, "minute": -1},
    {"year": 2020, "second": 3600.0},
    {"year": 2020, "month": 2.5},
    {"year": 2020, "month": "2"},
    {"year": 0},
    {"year": 10000},
    {"year": 1},
    {"year": None},
    {"month": 1},
    {"isoWeekYear": 2020, "isoWeek": 53, "isoDayOfWeek": 7},
    {"isoWeekYear": 2020, "isoWeek": 0},
    {"isoWeekYear": 2020, "isoDayOfWeek": 9},
    {"isoWeekYear": 2020, "month": 1},
    {"year": 2020, "isoWeek": 1},
    {"year": 2020, "x": 1},
    {"year": 2020, "month": 7, "timezone": "America/New_York"},
    {"year": 2020, "month": 3, "day": 8, "hour": 2, "minute": 30, "timezone": "America/New_York"},
    {"year": 2020, "month": 11, "day": 1, "hour": 1, "minute": 30, "timezone": "America/New_York"},
    {"year": 2020, "timezone": "Nope"},
    {"year": 2020, "timezone": None},
    {"year": 2020, "millisecond": Int64(10**10)},
    {"year": 2020, "day": 32768},
    {"isoWeekYear": 0},
    {"year": 2020, "timezone": "+05:30"},
    {"year": 2020, "month": "$missing"},
    {},
]


def tables():
    cases = []
    for name, value in DATES.items():
        doc = {"d": value}
        for zone in ZONES:
            cases.append(
                expression(
                    f"date/parts/{name} {zone}",
                    {"$dateToParts": {"date": "$d", "timezone": zone}},
                    doc,
                )
            )
            cases.append(
                expression(
                    f"date/iso parts/{name} {zone}",
                    {"$dateToParts": {"date": "$d", "timezone": zone, "iso8601": True}},
                    doc,
                )
            )
            cases.append(
                expression(
                    f"date/string/{name} {zone}",
                    {"$dateToString": {"date": "$d", "timezone": zone}},
                    doc,
                )
            )
            cases.append(
                expression(
                    f"date/hour/{name} {zone}", {"$hour": {"date": "$d", "timezone": zone}}, doc
                )
            )
        for zone in ("UTC", "America/New_York", "Australia/Lord_Howe", "+05:30"):
            cases.append(
                expression(
                    f"date/format/{name} {zone}",
                    {
                        "$dateToString": {
                            "date": "$d",
                            "timezone": zone,
                            "format": "%Y %m %d %H %M %S %L %j %U %u %w %V %G %z %Z",
                        }
                    },
                    doc,
                )
            )
            for unit in [*UNITS, "foo", 1, None]:
                for size in (1, 2, 5):
                    cases.append(
                        expression(
                            f"date/trunc {unit}/{name} {zone} {size}",
                            {
                                "$dateTrunc": {
                                    "date": "$d",
                                    "unit": unit,
                                    "timezone": zone,
                                    "binSize": size,
                                }
                            },
                            doc,
                        )
                    )
                for amount in (1, -1, 13, Int64(1000)):
                    cases.append(
                        expression(
                            f"date/add {unit}/{name} {zone} {amount}",
                            {
                                "$dateAdd": {
                                    "startDate": "$d",
                                    "unit": unit,
                                    "amount": amount,
                                    "timezone": zone,
                                }
                            },
                            doc,
                        )
                    )
                for end in ("winter", "summer", "old", "fold"):
                    cases.append(
                        expression(
                            f"date/diff {unit}/{name} {zone} {end}",
                            {
                                "$dateDiff": {
                                    "startDate": "$d",
                                    "endDate": DATES[end],
                                    "unit": unit,
                                    "timezone": zone,
                                }
                            },
                            doc,
                        )
                    )
        for day in ("sunday", "Mon", "friday", "x", 1, None):
            cases.append(
                expression(
                    f"date/trunc start/{name} {day}",
                    {"$dateTrunc": {"date": "$d", "unit": "week", "startOfWeek": day}},
                    doc,
                )
            )
            cases.append(
                expression(
                    f"date/diff start/{name} {day}",
                    {
                        "$dateDiff": {
                            "startDate": "$d",
                            "endDate": DATES["week53"],
                            "unit": "week",
                            "startOfWeek": day,
                        }
                    },
                    doc,
                )
            )
            cases.append(
                expression(
                    f"date/diff start day/{name} {day}",
                    {
                        "$dateDiff": {
                            "startDate": "$d",
                            "endDate": DATES["week53"],
                            "unit": "day",
                            "startOfWeek": day,
                        }
                    },
                    doc,
                )
            )
    for form in FORMATS:
        cases.append(
            expression(
                f"date/formats/{form!r}",
                {"$dateToString": {"date": DATES["summer"], "format": form}},
            )
        )
        cases.append(
            expression(
                f"date/formats field/{form!r}",
                {"$dateToString": {"date": "$d", "format": "$f", "onNull": "none"}},
                {"d": DATES["fold"], "f": form},
            )
        )
    for text in STRINGS:
        cases.append(
            expression(
                f"date/parse/{text!r}", {"$dateFromString": {"dateString": text, "onError": "bad"}}
            )
        )
        cases.append(
            expression(
                f"date/parse error/{text!r}", {"$dateFromString": {"dateString": "$s"}}, {"s": text}
            )
        )
        cases.append(
            expression(
                f"date/parse zone/{text!r}",
                {
                    "$dateFromString": {
                        "dateString": text,
                        "timezone": "America/New_York",
                        "onError": "bad",
                    }
                },
            )
        )
        cases.append(expression(f"date/toDate/{text!r}", {"$toDate": "$s"}, {"s": text}))
    for text, form in PARSED:
        cases.append(
            expression(
                f"date/parse as/{text!r} {form!r}",
                {"$dateFromString": {"dateString": text, "format": form}},
            )
        )
    cases += [
        expression(f"date/from parts/{at} {parts}", {"$dateFromParts": parts})
        for at, parts in enumerate(PARTS)
    ]
    yield Table("dates", cases)
