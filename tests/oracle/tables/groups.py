"""$group with every accumulator over columns of edge values, $bucket and related stages, and
windows of $sort."""

from both.case import Table
from bson import Decimal128, Int64
from bson.datetime_ms import DatetimeMS
from values import INFINITY, SOME

from tables.rows import pipeline

NAN = float("nan")
COLUMNS = {
    "empty": [],
    "ints": [1, 2, 3],
    "overflow": [2**31 - 1, 1],
    "long overflow": [Int64(2**63 - 1), 1],
    "long back": [Int64(2**63 - 1), 1, -1],
    "doubles": [0.1, 0.2, 0.3],
    "mixed": [1, Int64(2), 3.5],
    "decimals": [Decimal128("0.1"), 1, 0.5],
    "nan": [1, NAN, 2],
    "inf": [1, INFINITY, -INFINITY],
    "nulls": [None, 1, None],
    "missing": [..., 1, ...],
    "only missing": [..., ...],
    "only null": [None],
    "text": ["b", "a", "B"],
    "text and number": ["1", 1, None],
    "arrays": [[1, 2], [3], []],
    "array and number": [[5], 4],
    "objects": [{"a": 1}, {"b": 2}, {"a": 3}],
    "objects null": [{"a": 1}, None, {"c": 1}],
    "object and number": [{"a": 1}, 5],
    "bools": [True, False],
    "dates": [DatetimeMS(5), DatetimeMS(-5)],
    "equal types": [1, 1.0, Int64(1), Decimal128("1")],
    "zeros": [0.0, -0.0, 0],
    "cancel": [1e300, 1.0, -1e300],
    "small": [Int64(2**53 + 1), 1.0],
    "array of text": [["a"], ["b", "a"]],
    "one": [5],
    "big doubles": [1e308, 1e308],
}
ACCUMULATORS = {
    name: {f"${name}": "$v"}
    for name in [
        "sum",
        "avg",
        "min",
        "max",
        "first",
        "last",
        "push",
        "addToSet",
        "stdDevPop",
        "stdDevSamp",
        "mergeObjects",
    ]
} | {
    "count": {"$count": {}},
    "count bad": {"$count": 1},
    "sum 1": {"$sum": 1},
    "sum text": {"$sum": "x"},
    "sum list": {"$sum": ["$v"]},
    "sum two": {"$sum": ["$v", 1]},
    "max list": {"$max": ["$v", 2]},
    "push object": {"$push": {"x": "$v", "y": "$i"}},
    "first path": {"$first": "$v.a"},
    "top": {"$top": {"sortBy": {"v": 1}, "output": "$i"}},
    "bottom": {"$bottom": {"sortBy": {"v": 1}, "output": ["$i", "$v"]}},
    "topN": {"$topN": {"n": 2, "sortBy": {"v": -1, "i": 1}, "output": "$v"}},
    "bottomN": {"$bottomN": {"n": 2, "sortBy": {"v": -1, "i": 1}, "output": "$i"}},
    "firstN": {"$firstN": {"n": 2, "input": "$v"}},
    "lastN": {"$lastN": {"n": 2, "input": "$v"}},
    "maxN": {"$maxN": {"n": 2, "input": "$v"}},
    "minN": {"$minN": {"n": 2, "input": "$v"}},
    "n 0": {"$firstN": {"n": 0, "input": "$v"}},
    "n text": {"$firstN": {"n": "x", "input": "$v"}},
    "n 1.5": {"$lastN": {"n": 1.5, "input": "$v"}},
    "n missing": {"$firstN": {"input": "$v"}},
    "n expr": {"$firstN": {"n": {"$add": [1, 1]}, "input": "$v"}},
    "n field": {"$firstN": {"n": "$i", "input": "$v"}},
    "n null": {"$maxN": {"n": None, "input": "$v"}},
    "top none": {"$top": {"output": "$i"}},
    "top extra": {"$top": {"sortBy": {"v": 1}, "output": "$i", "x": 1}},
    "top {}": {"$top": {"sortBy": {}, "output": "$i"}},
    "unknown": {"$foo": "$v"},
    "two": {"$sum": 1, "$avg": 1},
    "plain": "$v",
    "plain 1": 1,
    "object": {"x": {"$sum": 1}},
    "empty": {},
    "avg bad": {"$avg": {"$divide": ["$v", 2]}},
}
KEYS = [
    None,
    "$k",
    {"a": "$k"},
    {"a": "$k", "b": "$nope"},
    "$nope",
    ["$k"],
    {"$type": "$k"},
    {"$add": ["$i", 0.0]},
    "k",
    5,
    {},
    {"$literal": "$k"},
    "$$ROOT",
    {"a.b": 1},
    {"$toLower": "$i"},
]
BUCKETS = [
    {"groupBy": "$v", "boundaries": [0, 2, 4]},
    {"groupBy": "$v", "boundaries": [0, 2, 4], "default": "other"},
    {"groupBy": "$v", "boundaries": [0, 2], "default": 1},
    {"groupBy": "$v", "boundaries": [2, 0], "default": 9},
    {"groupBy": "$v", "boundaries": [0, "a"], "default": 9},
    {"groupBy": "$v", "boundaries": [0], "default": 9},
    {
        "groupBy": "$v",
        "boundaries": [0, 1.5, Int64(3)],
        "default": -1,
        "output": {"n": {"$sum": 1}, "v": {"$push": "$v"}},
    },
    {"groupBy": "v", "boundaries": [0, 1]},
    {"boundaries": [0, 1]},
    {"groupBy": "$v"},
    {"groupBy": "$v", "boundaries": [0, 0, 1], "default": 9},
    {"groupBy": "$v", "boundaries": [0, 1], "x": 1},
    {"groupBy": {"$abs": "$i"}, "boundaries": [0, 2, 9]},
    {"groupBy": "$v", "boundaries": [0, 5], "default": 0},
    {"groupBy": "$v", "boundaries": [0, 5], "default": None},
    {"groupBy": "$v", "boundaries": "x"},
    {"groupBy": "$v", "boundaries": [0, 100], "default": 100},
]
AUTO = [
    {"groupBy": "$v", "buckets": 2},
    {"groupBy": "$v", "buckets": 1},
    {"groupBy": "$v", "buckets": 10},
    {"groupBy": "$v", "buckets": 0},
    {"groupBy": "$v", "buckets": "x"},
    {"groupBy": "$v", "buckets": 1.5},
    {"groupBy": "$v", "buckets": 2, "output": {"n": {"$sum": 1}, "i": {"$push": "$i"}}},
    {"buckets": 2},
    {"groupBy": "$v"},
    {"groupBy": "v", "buckets": 2},
    {"groupBy": "$v", "buckets": 2, "x": 1},
    {"groupBy": "$v", "buckets": Int64(3)},
]


def column(values):
    return [{"_id": at, "i": at, **({} if v is ... else {"v": v})} for at, v in enumerate(values)]


def tables():
    cases = []
    for name, values in COLUMNS.items():
        for accumulator, spec in ACCUMULATORS.items():
            loose = ("arrays",) if "addToSet" in accumulator else ()
            cases.append(
                pipeline(
                    f"group/{accumulator}/{name}",
                    column(values),
                    {"$group": {"_id": None, "r": spec}},
                    loose=loose,
                )
            )
        cases.append(
            pipeline(
                f"group/key/{name}",
                column(values),
                {"$group": {"_id": "$v", "n": {"$sum": 1}, "i": {"$push": "$i"}}},
                loose=("rows",),
            )
        )
        cases.append(
            pipeline(
                f"group/sortByCount/{name}",
                column(values),
                {"$sortByCount": "$v"},
                {"$group": {"_id": None, "c": {"$push": "$count"}}},
            )
        )
        for at, spec in enumerate(BUCKETS):
            cases.append(pipeline(f"bucket/{at}/{name}", column(values), {"$bucket": spec}))
        for at, spec in enumerate(AUTO):
            cases.append(pipeline(f"bucketAuto/{at}/{name}", column(values), {"$bucketAuto": spec}))
    docs = [{"_id": at, "i": at, "k": value} for at, value in enumerate(SOME.values())] + [
        {"_id": 99, "i": 99}
    ]
    for at, key in enumerate(KEYS):
        cases.append(
            pipeline(
                f"group/id/{at} {key}",
                docs,
                {"$group": {"_id": key, "n": {"$sum": 1}, "i": {"$push": "$i"}}},
                loose=("rows",),
            )
        )
    bad = [
        {},
        {"_id": 1, "a.b": {"$sum": 1}},
        {"_id": 1, "": {"$sum": 1}},
        {"_id": 1, "$a": {"$sum": 1}},
        {"n": {"$sum": 1}},
        1,
        {"_id": "$$NOPE"},
        {"_id": {"$foo": 1}},
        {"_id": 1, "a": {"$sum": 1, "b": 1}},
        {"_id": {"a": {"$sum": "$k"}}},
        {"_id": None, "_id2": {"$first": "$_id"}},
    ]
    cases += [
        pipeline(f"group/bad/{at} {spec}", docs, {"$group": spec}, loose=("rows",))
        for at, spec in enumerate(bad)
    ]
    yield Table("groups", cases)
