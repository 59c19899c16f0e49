"""Hostile queries of the MongoDB API: growth (B12), filters (B13), stages (B14), regular
expressions (B16)."""

import array

import bson
from badinput.raw import Raw, document, embedded, framed, i32

from hostile.entry import KEPT, MARK, Kind, asks, computes, finds, runs

#: Options for queries that would take long: they must end at the time limit, if not before.
LIMITED = {"maxTimeMS": 500, "within": 10}
RANGE = {"$range": [0, 2**31 - 1]}


def reduced(step, start, times=1000):
    return {"$reduce": {"input": {"$range": [0, times]}, "initialValue": start, "in": step}}


def tower(levels, width):
    inner = "$$this"
    for _ in range(levels):
        inner = {"$map": {"input": {"$range": [0, width]}, "in": inner}}
    return inner


def facets(levels):
    stages = [{"$match": {}}]
    for _ in range(levels):
        stages = [{"$facet": {"a": stages}}]
    return stages


def union(pipeline):
    return {"$unionWith": {"coll": KEPT, "pipeline": pipeline}}


def lookup(pipeline):
    return {"$lookup": {"from": KEPT, "pipeline": pipeline, "as": "x"}}


def joined(levels, stage):
    """Returns a pipeline with this depth of nested pipelines on other collections."""
    stages = []
    for _ in range(levels):
        stages = [stage(stages)]
    return stages


def each(operator, levels, leaf=1):
    """Returns an expression with this many levels."""
    value = leaf
    for _ in range(levels):
        value = {operator: [value]}
    return value


B12 = Kind(
    "B12",
    "Expressions that build deep or huge documents",
    "CVE-2026-1849",
    [
        computes("$reduce that nests 1,000 documents", reduced({"a": "$$value"}, 1)),
        computes(
            "$reduce that nests 1,000,000 arrays",
            reduced(["$$value"], 1, 1_000_000),
            **LIMITED,
        ),
        computes(
            "$reduce that doubles an array 1,000 times",
            reduced({"$concatArrays": ["$$value", "$$value"]}, [1]),
            **LIMITED,
        ),
        computes(
            "$reduce that doubles a string 1,000 times",
            reduced({"$concat": ["$$value", "$$value"]}, MARK),
        ),
        computes(
            "$setField that nests 1,000 times",
            reduced({"$setField": {"field": "a", "input": {}, "value": "$$value"}}, 1),
        ),
        computes(
            "$mergeObjects of 1,000 doubles",
            reduced({"$mergeObjects": [{"a": "$$value"}, {"b": "$$value"}]}, {}),
            **LIMITED,
        ),
        computes("four $map of 1,000 each", tower(4, 1000)),
        computes("$range of 2^31-1", RANGE),
        computes("$filter over $range of 2^31-1", {"$filter": {"input": RANGE, "cond": False}}),
        computes(
            "$zip of 1,000,000 and two defaults",
            {"$zip": {"inputs": [{"$range": [0, 10**6]}, [1]], "useLongestLength": True}},
        ),
        computes("$add in 90 levels", each("$add", 90)),
        computes("$not in 80 levels", each("$not", 80)),
        computes(
            "$switch of 10,000 branches",
            {"$switch": {"branches": [{"case": False, "then": 1}] * 10_000, "default": 1}},
        ),
        computes("$pow of 10^308 thrice", {"$pow": [{"$pow": [1e308, 1e308]}, 1e308]}),
        computes(
            "$replaceAll that grows 10^6 times",
            {"$replaceAll": {"input": "a" * 1000, "find": "a", "replacement": "b" * 100_000}},
        ),
        runs("1,001 stages", [{"$match": {}}] * 1001),
        runs("10,000 stages", [{"$match": {}}] * 10_000),
        runs("$facet in $facet", facets(2)),
        runs("$facet in $facet, 40 levels", facets(40)),
        runs(
            "$facet of 10,000 pipelines",
            [{"$facet": {f"a{i}": [] for i in range(10_000)}}, {"$count": "n"}],
        ),
        runs(
            "$unwind that makes 10^9 documents",
            [
                {"$set": {x: {"$range": [0, 1000]} for x in "xyz"}},
                *({"$unwind": f"${x}"} for x in "xyz"),
                {"$count": "n"},
            ],
            **LIMITED,
        ),
        runs(
            "$push of 10^6 copies",
            [
                {"$set": {"x": {"$range": [0, 10**6]}, "pad": "p" * 1000}},
                {"$unwind": "$x"},
                {"$group": {"_id": 1, "all": {"$push": "$$ROOT"}}},
            ],
            **LIMITED,
        ),
        runs("$unionWith itself, 40 levels", joined(40, union)),
        asks(
            "an update that nests a document in itself",
            ("update", "made"),
            (
                "updates",
                [{"q": {}, "upsert": True, "u": [{"$set": {"v": reduced({"a": "$$value"}, 1)}}]}],
            ),
        ),
    ],
)


def deep(operator, levels):
    """Returns a filter with this many levels, built from the inside."""
    inner = document({"a": 1})
    head = operator.encode() + b"\0"
    parts = [inner]
    size = len(inner)
    for _ in range(levels):
        array = 4 + 3 + size + 1
        whole = 4 + 1 + len(head) + array + 1
        parts.append(i32(whole) + b"\x04" + head + i32(array) + b"\x030\0")
        size = whole
    return embedded(b"".join(reversed(parts)) + b"\0\0" * levels)


def million():
    """Returns an array of the numbers up to a million, whose names are empty."""
    numbers, items = array.array("I", range(1_000_000)).tobytes(), bytearray(6_000_000)
    items[0::6] = b"\x10" * 1_000_000
    for at in range(4):
        items[2 + at :: 6] = numbers[at::4]
    return Raw(4, framed(bytes(items)))


def branches(count):
    """Returns an array of equal documents, whose names are empty."""
    return Raw(4, framed((b"\x03\0" + document({"n": 1})) * count))


B13 = Kind(
    "B13",
    "Filters of a million items and a hundred thousand levels",
    "CVE-2026-8199, CVE-2026-82058",
    [
        asks(
            "$in of 1,000,000 numbers",
            ("find", KEPT),
            ("filter", lambda: {"n": {"$in": million()}}),
        ),
        asks(
            "$nin of 1,000,000 numbers",
            ("find", KEPT),
            ("filter", lambda: {"n": {"$nin": million()}}),
        ),
        *(
            asks(
                f"{operator} in {levels:,} levels",
                ("find", KEPT),
                ("filter", lambda o=operator, n=levels: deep(o, n)),
            )
            for operator in ("$or", "$and", "$nor")
            for levels in (99, 1000, 20_000)
        ),
        asks(
            "$or of 200,000 branches",
            ("find", KEPT),
            ("filter", lambda: {"$or": branches(200_000)}),
        ),
        *(
            finds(f"$bitsAllSet of {what}", {"n": {"$bitsAllSet": value}})
            for what, value in {
                "100,000 places": list(range(100_000)),
                "a place below zero": [-1],
                "the place 2^63-1": [bson.Int64(2**63 - 1)],
                "a place of text": [MARK],
                "an array of malformed names": Raw(4, b"\x0e\0\0\0\x10x\0\1\0\0\0\0"),
                "NaN": float("nan"),
                "1 MB of bits": bson.Binary(b"\xff" * (1 << 20)),
            }.items()
        ),
        *(
            finds(f"$jsonSchema {what}", {"$jsonSchema": value})
            for what, value in {
                "that refers to itself": {"$ref": "#"},
                "with allOf of 1,000": {"allOf": [{"minimum": i} for i in range(1000)]},
                "with a pattern of 10^8 states": {
                    "properties": {"s": {"pattern": "(a{999}){999}"}}
                },
                "that is an array": [],
            }.items()
        ),
        finds("$mod by zero", {"n": {"$mod": [0, 0]}}),
        finds("$mod by NaN", {"n": {"$mod": [float("nan"), 1]}}),
        finds("$size of 2^63-1", {"list": {"$size": bson.Int64(2**63 - 1)}}),
        finds("$type of 2^31-1", {"n": {"$type": 2**31 - 1}}),
    ],
)


def grouped(what, accumulator):
    return runs(what, [{"$group": {"_id": None, "x": accumulator}}])


def in_transaction(what, number, **more):
    session = {"id": bson.Binary(b"0123456789abcdef", 4)}
    return asks(
        what,
        ("update", "made"),
        ("updates", [{"q": {"_id": MARK}, "u": {"$set": {"a": 1}}, "upsert": True}]),
        ("lsid", session),
        ("txnNumber", bson.Int64(number)),
        *more.items(),
    )


B14 = Kind(
    "B14",
    "Accumulators, joins, sorts, transactions and time series out of shape",
    "CVE-2025-10061, CVE-2026-4358, CVE-2025-10060, CVE-2025-13507",
    [
        grouped("$sum and $avg in one field", {"$sum": 1, "$avg": 1}),
        grouped("an accumulator without a name", {}),
        grouped("$push with an unknown parameter", {"$push": {"input": 1, "$nonsense": 1}}),
        grouped("$topN of -1", {"$topN": {"n": -1, "sortBy": {"a": 1}, "output": "$a"}}),
        grouped(
            "$topN of 2^63-1",
            {"$topN": {"n": bson.Int64(2**63 - 1), "sortBy": {"a": 1}, "output": "$a"}},
        ),
        grouped(
            "$topN with an unknown parameter",
            {"$topN": {"n": 1, "sortBy": {"a": 1}, "output": "$a", "more": 1}},
        ),
        grouped(
            "$percentile of NaN",
            {"$percentile": {"input": "$n", "p": [float("nan")], "method": "approximate"}},
        ),
        grouped(
            "$accumulator of JavaScript",
            {
                "$accumulator": {
                    "init": "function() {}",
                    "accumulate": "x",
                    "merge": "x",
                    "lang": "js",
                }
            },
        ),
        grouped("$count with arguments", {"$count": {"a": 1}}),
        runs("$group without an id", [{"$group": {"x": {"$sum": 1}}}]),
        runs("$group of a field with a dot", [{"$group": {"_id": 1, "a.b": {"$sum": 1}}}]),
        runs(
            "$lookup with everything",
            [{"$lookup": {"from": KEPT, "localField": "a", "foreignField": "b", "as": "", "x": 1}}],
        ),
        runs("$lookup in $lookup, 30 levels", joined(30, lookup)),
        runs(
            "$graphLookup of depth -1",
            [
                {
                    "$graphLookup": {
                        "from": KEPT,
                        "startWith": "$n",
                        "connectFromField": "n",
                        "connectToField": "n",
                        "as": "x",
                        "maxDepth": -1,
                    }
                }
            ],
        ),
        runs("$sort by 33 fields", [{"$sort": {f"f{i}": 1 for i in range(33)}}]),
        runs("$sort by 0", [{"$sort": {"a": 0}}]),
        asks(
            "$sort of more than memory holds",
            ("aggregate", KEPT),
            (
                "pipeline",
                [
                    {"$set": {"x": {"$range": [0, 150_000]}, "p": "p" * 1000}},
                    {"$unwind": "$x"},
                    {"$sort": {"p": 1, "x": -1}},
                    {"$project": {"x": 1}},
                ],
            ),
            ("cursor", {}),
            ("allowDiskUse", False),
            **LIMITED,
        ),
        runs(
            "$bucket with boundaries that fall",
            [{"$bucket": {"groupBy": "$n", "boundaries": [5, 1]}}],
        ),
        runs(
            "$densify of 10^15 steps",
            [{"$densify": {"field": "n", "range": {"step": 1, "bounds": [0, bson.Int64(10**15)]}}}],
        ),
        runs(
            "$setWindowFields with bounds of 2^63-1",
            [
                {
                    "$setWindowFields": {
                        "sortBy": {"n": 1},
                        "output": {
                            "x": {
                                "$sum": "$n",
                                "window": {
                                    "documents": [bson.Int64(-(2**63)), bson.Int64(2**63 - 1)]
                                },
                            }
                        },
                    }
                }
            ],
        ),
        runs("$fill by nothing", [{"$fill": {"output": {}}}]),
        runs("$sample of 2^63-1", [{"$sample": {"size": bson.Int64(2**63 - 1)}}]),
        runs("$skip below zero", [{"$skip": -1}]),
        runs("$limit of NaN", [{"$limit": float("nan")}]),
        in_transaction("an upsert in a transaction", 1, startTransaction=True, autocommit=False),
        in_transaction("a write in a transaction that was never begun", 99, autocommit=False),
        in_transaction("a number of a transaction below zero", -5),
        asks("commitTransaction of nothing", ("commitTransaction", 1), db="admin"),
        asks("a time series", ("create", "made"), ("timeseries", {"timeField": ""})),
        asks(
            "a time series' buckets",
            ("insert", "system.buckets.made"),
            ("documents", [{"control": {"version": 99}, "data": {"t": {"x": MARK}}}]),
        ),
        asks("a capped collection of -1 bytes", ("create", "made"), ("capped", True), ("size", -1)),
        asks("a view of itself", ("create", "made"), ("viewOn", "made"), ("pipeline", [])),
        asks(
            "getMore of a cursor that is not there",
            ("getMore", bson.Int64(2**63 - 1)),
            ("collection", KEPT),
        ),
        asks("batchSize of -1", ("find", KEPT), ("batchSize", -1)),
        asks("maxTimeMS of 2^63-1", ("find", KEPT), ("maxTimeMS", bson.Int64(2**63 - 1))),
    ],
)


def matching(what, pattern, options=""):
    return finds(what, {"s": {"$regex": pattern, "$options": options}})


B16 = Kind(
    "B16",
    "Regular expressions",
    "denial of service by backtracking",
    [
        matching("(a+)+$", "(a+)+$"),
        matching("(a|aa)+$", "(a|aa)+$"),
        matching("(.*)*x twenty times", "(.*)*x" * 20),
        matching("a{1000} in {1000}", "(?:a{1000}){1000}"),
        matching("a{1000} in {1000} in {1000}", "((a{1000}){1000}){1000}"),
        matching("a{2^31}", "a{2147483648}"),
        matching("100,000 parentheses", "(" * 100_000 + "a" + ")" * 100_000),
        matching("parentheses that do not end", "(" * 1000),
        matching("a class that does not end", "[[:al"),
        matching("a back reference", r"(a)\1"),
        matching("a look-ahead", "(?=a)a"),
        matching("a recursion", "(?R)"),
        matching("an atomic group", "(?>a+)b"),
        matching("a callout", "(?C1)a"),
        matching("a verb", "(*COMMIT)a"),
        matching("1 MB", "a" * (1 << 20)),
        matching("1 MB of branches", "a|" * (1 << 19)),
        matching("50,000 classes of Unicode", r"\p{L}" * 50_000),
        matching("options that repeat", "a", options="i" * 10_000),
        computes(
            "$regexFindAll of an empty pattern over 10 KB",
            {"$size": {"$regexFindAll": {"input": "a" * 10_000, "regex": ""}}},
        ),
        computes(
            "$regexMatch of (a+)+$ over 100 KB",
            {"$regexMatch": {"input": "a" * 100_000 + "!", "regex": "(a+)+$"}},
        ),
        computes("$split by nothing", {"$split": [MARK, ""]}),
    ],
)
KINDS = [B12, B13, B14, B16]
