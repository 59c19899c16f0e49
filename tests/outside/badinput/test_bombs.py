"""Queries with unbounded growth (B12, B13, B14) and patterns with unbounded time (B16): each is
executed or refused, and other clients are served at the same time."""

import re

import bson
import pytest
from lib.wire import WITHIN

from badinput.attacked import ok_or_error, refused
from badinput.raw import Pairs, Raw, embedded, framed
from badinput.wire import LARGEST_DOCUMENT, command, msg, timeless

#: Limit in seconds of an evaluation, during which others are served.
HEAVY = 10.0 * WITHIN


@pytest.fixture(scope="module")
def rows(attacked):
    """A hundred rows, a long text and an array."""
    documents = [
        {"_id": i, "n": i, "g": i % 5, "a": list(range(20)), "s": "a" * 50} for i in range(100)
    ]
    attacked.witness.run(("insert", "rows"), db="bombs", documents=documents)
    attacked.witness.run(
        ("insert", "text"), db="bombs", documents=[{"_id": 1, "s": "a" * 100_000 + "!"}]
    )


def aggregate(attacked, pipeline):
    pipeline = Raw(4, bson.encode({str(i): stage for i, stage in enumerate(pipeline)}))
    fields = [("pipeline", pipeline), ("cursor", {}), ("maxTimeMS", 2_000)]
    return ask(attacked, command(("aggregate", "rows"), *fields, db="bombs"))


def ask(attacked, body):
    """Runs a heavy command and checks that other clients are served during it; returns the
    reply."""
    message = msg(body)
    with attacked.wire() as wire, attacked.undisturbed():
        return wire.ask(message, within=HEAVY)


def one(expression):
    return [{"$limit": 1}, {"$project": {"x": expression}}]


def reduce(steps, initial, inner):
    return {"$reduce": {"input": {"$range": [0, steps]}, "initialValue": initial, "in": inner}}


def tower(levels, wrap, inner):
    for _ in range(levels):
        inner = wrap(inner)
    return inner


DOUBLING = {"$concatArrays": ["$$value", "$$value"]}
GROWING = {
    "arrays doubled": reduce(60, [1], DOUBLING),
    "text doubled": reduce(60, "aaaaaaaa", {"$concat": ["$$value", "$$value"]}),
    "nested arrays": reduce(100_000, [], ["$$value"]),
    "nested documents": reduce(100_000, {}, {"a": "$$value"}),
    "nested by $setField": reduce(
        10_000, {}, {"$setField": {"field": "a", "input": {}, "value": "$$value"}}
    ),
    "nested by $mergeObjects": reduce(100_000, {}, {"$mergeObjects": [{"a": "$$value"}]}),
    "nested by $arrayToObject": reduce(10_000, 1, {"$arrayToObject": [[["a", "$$value"]]]}),
    "wide by $setField": reduce(
        20_000,
        {},
        {
            "$mergeObjects": [
                "$$value",
                {"$arrayToObject": [[[{"$toString": "$$this"}, "x" * 2_000]]]},
            ]
        },
    ),
    "long range": {"$range": [0, 2**31 - 1]},
    "range of ranges": {
        "$map": {"input": {"$range": [0, 100_000]}, "in": {"$range": [0, 100_000]}}
    },
    "tower of $map": tower(
        8, lambda inner: {"$map": {"input": {"$range": [0, 100]}, "in": inner}}, "x"
    ),
    "tower of $reduce": tower(6, lambda inner: reduce(1_000, 0, {"$add": ["$$value", inner]}), 1),
    "zip": {"$zip": {"inputs": [{"$range": [0, 1_000_000]}] * 20, "useLongestLength": True}},
    "replaceAll": {
        "$replaceAll": {
            "input": reduce(20, "aaaaaaaa", {"$concat": ["$$value", "$$value"]}),
            "find": "a",
            "replacement": "b" * 1000,
        }
    },
    "split": {"$split": [reduce(20, "aaaaaaaa", {"$concat": ["$$value", "$$value"]}), "a"]},
    "power": {"$pow": [bson.Decimal128("9E6144"), bson.Decimal128("9E6144")]},
    "steps of a sort": {"$sortArray": {"input": {"$range": [0, 2_000_000]}, "sortBy": -1}},
    "sets": {"$setUnion": [{"$range": [0, 1_000_000]}, {"$range": [500_000, 1_500_000]}]},
}


@pytest.mark.parametrize("name", GROWING)
def test_expressions_that_grow(attacked, rows, name):
    """Depth and size are counted during construction: no result exceeds a document, no error is 1
    or 8."""
    code = ok_or_error(aggregate(attacked, one(GROWING[name])))
    if name in (
        "arrays doubled",
        "text doubled",
        "nested arrays",
        "nested documents",
        "range of ranges",
        "long range",
    ):
        assert code != 0, "an answer that no document can hold"


PIPELINES = {
    "10,000 stages": [{"$match": {"n": 1}}] * 10_000,
    "1,000 projections": [{"$addFields": {"x": {"$add": ["$n", 1]}}}] * 1_000,
    "100 groups": [{"$group": {"_id": "$_id", "n": {"$first": "$n"}}}] * 100,
    "facet in facet": [{"$facet": {"a": [{"$facet": {"b": []}}]}}],
    "1,000 facets": [{"$facet": {f"f{i}": [] for i in range(1_000)}}],
    "facets that keep all": [{"$facet": {f"f{i}": [{"$match": {}}] for i in range(100)}}],
    "lookups nested": tower(
        30,
        lambda inner: [{"$lookup": {"from": "rows", "pipeline": inner, "as": "x"}}],
        [{"$limit": 1}],
    ),
    "unions nested": tower(
        30, lambda inner: [{"$unionWith": {"coll": "rows", "pipeline": inner}}], [{"$limit": 1}]
    ),
    "product of lookups": [
        {"$lookup": {"from": "rows", "pipeline": [], "as": "x"}},
        {"$unwind": "$x"},
        {"$lookup": {"from": "rows", "pipeline": [], "as": "y"}},
        {"$unwind": "$y"},
        {"$count": "n"},
    ],
    "unwinds": [
        {"$unwind": "$a"},
        {"$addFields": {"b": {"$range": [0, 200]}}},
        {"$unwind": "$b"},
        {"$count": "n"},
    ],
    "graph to itself": [
        {
            "$graphLookup": {
                "from": "rows",
                "startWith": "$g",
                "connectFromField": "g",
                "connectToField": "g",
                "as": "x",
            }
        }
    ],
    "push of all": [
        {"$addFields": {"b": {"$range": [0, 10_000]}}},
        {"$unwind": "$b"},
        {"$group": {"_id": None, "x": {"$push": "$$ROOT"}}},
    ],
    "a sort of much": [
        {"$addFields": {"b": {"$range": [0, 20_000]}}},
        {"$sort": {"n": -1}},
        {"$limit": 1},
    ],
    "buckets": [{"$bucket": {"groupBy": "$n", "boundaries": list(range(100_000))}}],
    "sample": [{"$sample": {"size": 2**62}}],
    "limit 0": [{"$limit": 0}],
    "limit -1": [{"$limit": -1}],
    "skip": [{"$skip": bson.Int64(2**63 - 1)}],
    "documents": [{"$limit": 1}, {"$documents": [{"a": 1}]}],
}


@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines_that_grow(attacked, rows, name):
    ok_or_error(aggregate(attacked, PIPELINES[name]))


def in_many():
    numbers = b"".join(b"\x10%d\0" % i + i.to_bytes(4, "little") for i in range(1_000_000))
    return {"n": {"$in": Raw(4, framed(numbers))}}


FILTERS = {
    "$in of 10^6": in_many,
    "$nin of 10^5 texts": lambda: {"s": {"$nin": [str(i) for i in range(100_000)]}},
    "$or of 10^5": lambda: {"$or": [{"n": i} for i in range(100_000)]},
    "$and of 10^5": lambda: {"$and": [{"n": {"$ne": i + 1000}} for i in range(100_000)]},
    "$all of 10^5": lambda: {"a": {"$all": list(range(100_000))}},
    "10^5 fields": lambda: {f"f{i}": None for i in range(100_000)},
    "$in of regexes": lambda: {"s": {"$in": [re.compile(f"x{i}") for i in range(5_000)]}},
    "$elemMatch many": lambda: {"a": {"$elemMatch": {"$in": list(range(100_000))}}},
    "long path": lambda: {".".join(["a"] * 50_000): 1},
    "$jsonSchema": lambda: {
        "$jsonSchema": tower(80, lambda inner: {"properties": {"a": inner}}, {})
    },
    "$where": lambda: {"$where": "while(true){}"},
    "$function": lambda: {"$expr": {"$function": {"body": "while(1);", "args": [], "lang": "js"}}},
}


@pytest.mark.parametrize("name", FILTERS)
def test_filters_that_grow(attacked, rows, name):
    filter_ = FILTERS[name]()
    if filter_.keys() != {"n"}:
        filter_ = embedded(bson.encode(filter_))
    ok_or_error(
        ask(
            attacked,
            command(("find", "rows"), ("filter", filter_), ("maxTimeMS", 2_000), db="bombs"),
        )
    )


@pytest.mark.parametrize("parts", [180, 181, 500_000])
def test_upserts_of_long_paths(attacked, parts):
    """A document made from a filter's path is nested as deeply as the path is long."""
    query = {".".join(["a"] * parts): 1, "_id": parts}
    with attacked.wire() as wire:
        for update in ({"$set": {"b": 1}}, [{"$set": {"b": 1}}]):
            made = wire.run(
                ("update", "long"), db="bombs", updates=[{"q": query, "u": update, "upsert": True}]
            )
            refused = [error["code"] for error in made.get("writeErrors", [])]
            assert refused == ([] if parts <= 180 else [15]), made
            wire.run(("delete", "long"), db="bombs", deletes=[{"q": {}, "limit": 0}])


@pytest.mark.parametrize("name", ["$trim", "$ltrim", "$rtrim"])
def test_characters_that_are_trimmed(attacked, rows, name):
    """Trims millions of characters with a set of millions of characters."""
    chars = "b" * 2_000_000 + "a"
    stage = {"$project": {"x": {name: {"input": "a" * 2_000_000, "chars": chars}}}}
    with attacked.undisturbed(), attacked.wire() as wire:
        found = wire.run(("aggregate", "text"), db="bombs", pipeline=[stage], cursor={})
        assert found["cursor"]["firstBatch"] == [{"_id": 1, "x": ""}]


@pytest.mark.parametrize("name", ["$bitsAllSet", "$bitsAnySet", "$bitsAllClear", "$bitsAnyClear"])
def test_bits(wire, rows, name):
    for value in (
        list(range(100_000)),
        [-1],
        [2**31 - 1],
        [bson.Int64(2**63 - 1)],
        ["x"],
        [1.5],
        [None],
        -1,
        1.5,
        "x",
        None,
        float("nan"),
        bson.Int64(-(2**63)),
        bson.Binary(b""),
        bson.Binary(b"\xff" * 100_000),
        {},
        bson.Decimal128("1E3"),
    ):
        ok_or_error(wire.run(("find", "rows"), db="bombs", filter={"n": {name: value}}))


GROUPS = [
    {},
    {"_id": None, "x": {}},
    {"_id": None, "x": {"$sum": 1, "$avg": 1}},
    {"_id": None, "x": 5},
    {"x": {"$sum": 1}},
    {"_id": None, "x": {"$sum": [1, "$n", "x"]}},
    {"_id": None, "x.y": {"$sum": 1}},
    {"_id": None, "$x": {"$sum": 1}},
    {"_id": None, "x": {"$topN": {"n": -1, "sortBy": {"n": 1}, "output": "$n"}}},
    {
        "_id": None,
        "x": {
            "$topN": {"n": bson.Int64(2**63 - 1), "sortBy": {"n": 1}, "output": "$n", "extra": 1}
        },
    },
    {"_id": None, "x": {"$firstN": {"n": "$n", "input": "$n"}}},
    {"_id": None, "x": {"$firstN": {}}},
    {"_id": None, "x": {"$percentile": {"input": "$n", "p": [2, "x"], "method": "approximate"}}},
    {"_id": None, "x": {"$percentile": {"input": "$n", "p": [], "method": 5}}},
    {"_id": None, "x": {"$median": {}}},
    {"_id": None, "x": {"$accumulator": {"init": "x"}}},
    {"_id": None, "x": {"$nonsense": 1}},
    {"_id": {"$nonsense": 1}},
    {"_id": None, "x": {"$mergeObjects": "$n"}},
    {"_id": None, "x": {"$concatArrays": "$n"}},
    {"_id": None, "x": {"$stdDevPop": [[]]}},
    {"_id": None, "x": {"$count": 5}},
    {"_id": None, "_id2": 1},
    "x",
    5,
    None,
    [],
]


@pytest.mark.parametrize("at", range(len(GROUPS)))
def test_groups_with_other_parameters(wire, rows, at):
    ok_or_error(
        wire.run(("aggregate", "rows"), db="bombs", pipeline=[{"$group": GROUPS[at]}], cursor={})
    )


def test_a_group_and_a_sort_larger_than_memory(attacked, rows):
    """100 rows of 8 MB each are more than a stage may hold: the error names the stage."""
    big = {
        "b": {
            "$reduce": {
                "input": {"$range": [0, 17]},
                "initialValue": "a" * 64,
                "in": {"$concat": ["$$value", "$$value"]},
            }
        }
    }
    for stage in ({"$sort": {"b": 1, "n": -1}}, {"$group": {"_id": "$b", "x": {"$push": "$b"}}}):
        ok_or_error(aggregate(attacked, [{"$addFields": big}, stage, {"$count": "n"}]))


def test_upserts_that_meet_in_a_unique_index(wire):
    """Several statements of one command that insert the same unique value."""
    wire.run(
        ("createIndexes", "unique"),
        db="bombs",
        indexes=[{"key": {"u": 1}, "name": "u", "unique": True}],
    )
    updates = [{"q": {"_id": i}, "u": {"$set": {"u": 1}}, "upsert": True} for i in range(3)]
    reply = wire.run(("update", "unique"), db="bombs", updates=updates, ordered=False)
    assert reply["n"] == 1
    assert [error["code"] for error in reply["writeErrors"]] == [11000, 11000]
    refused(
        wire.run(
            ("find", "unique"),
            db="bombs",
            txnNumber=bson.Int64(1),
            autocommit=False,
            startTransaction=True,
        ),
        72,
    )


TIME_SERIES = [
    {"timeField": "t"},
    {},
    {"timeField": "a.b"},
    {"timeField": "t", "metaField": "t"},
    {"nonsense": 1},
]


@pytest.mark.parametrize("options", TIME_SERIES)
def test_time_series_are_refused_by_name(wire, options):
    refused(wire.run(("create", "series"), db="bombs", timeseries=options), 115, 72, 40414)
    assert (
        wire.run(("listCollections", 1), db="bombs", filter={"name": "series"})["cursor"][
            "firstBatch"
        ]
        == []
    )


PATTERNS = {
    "nested plus": "(a+)+$",
    "nested star": "(a*)*b",
    "alternatives": "(a|a)*$",
    "overlapping": "(a|aa)+$",
    "long chain": "a*a*a*a*a*a*a*a*a*a*a*b",
    "counted": "(a{1,1000}){1,1000}$",
    "huge count": "a{1000000000}",
    "counts nested": "((((a{100}){100}){100}){100}){100}",
    "1 MB": "a" * 1_000_000,
    "1 MB of classes": "[a-z]" * 200_000,
    "1 MB of alternatives": "|".join(str(i) for i in range(100_000)),
    "deep groups": "(" * 5_000 + ")" * 5_000,
    "deeper groups": "(" * 200_000 + ")" * 200_000,
    "open": "(",
    "class open": "[",
    "bad count": "a{2,1}",
    "bad escape": "\\",
    "Unicode classes counted": "\\p{L}{1000}{100}",
    "back reference": "(a)\\1",
    "look ahead": "(?=a)b",
    "look behind": "(?<=a)b",
    "recursion": "(?R)",
    "atomic": "(?>a+)b",
    "possessive": "a++b",
    "exponential with a back reference": "(a+)+\\1b",
    "exponential with a look behind": "(a|aa)+(?<=c)b",
    "atomic groups nested": "(?>" * 240 + "a" + ")" * 240,
    "long look behind": "(?<=a{255})b",
    "look behind without end": "(?<=a+)b",
    "conditional": "(a)?(?(1)b|c)",
    "callout": "(?C1)a",
    "verbs": "(*COMMIT)a",
    "options in front": "(*UTF8)(*LIMIT_MATCH=9999999)a",
    "inline": "(?imsxU)A",
    "empty": "",
    "null": "\\0",
    "last code point": "\\x{10FFFF}",
    "beyond": "\\x{110000}",
    "surrogate": "\\x{D800}",
}


@pytest.mark.parametrize("name", PATTERNS)
def test_patterns(attacked, rows, name):
    """Patterns run within their limits or are refused, in every position."""
    pattern = PATTERNS[name]
    raw = Raw(11, pattern.encode() + b"\0\0")
    with attacked.wire() as wire, attacked.undisturbed():
        for value in (
            raw,
            Pairs([("$regex", pattern)]),
            Pairs([("$not", raw)]),
            Pairs([("$in", [raw])]),
        ):
            body = command(("find", "text"), ("filter", Pairs([("s", value)])), db="bombs")
            ok_or_error(wire.ask(msg(body), within=HEAVY))
        for operator in ("$regexMatch", "$regexFind", "$regexFindAll"):
            stage = {"$project": {"x": {operator: {"input": "$s", "regex": pattern}}}}
            body = command(("aggregate", "text"), ("pipeline", [stage]), ("cursor", {}), db="bombs")
            ok_or_error(wire.ask(msg(body), within=HEAVY))


@pytest.mark.parametrize(
    "options", ["imsx", "z", "ii", "i" * 100_000, "u", "g", " ", "I", "\u00e9"]
)
def test_pattern_options(wire, rows, options):
    raw = Raw(11, b"a\0" + options.encode() + b"\0")
    for value in (raw, Pairs([("$regex", "a"), ("$options", options)])):
        ok_or_error(
            wire.ask(msg(command(("find", "text"), ("filter", Pairs([("s", value)])), db="bombs")))
        )


def test_patterns_that_are_not_text(wire, rows):
    for value in (5, None, ["a"], {}, bson.Binary(b"a"), bson.Code("a"), True):
        refused(wire.run(("find", "text"), db="bombs", filter={"s": {"$regex": value}}), 2)
        refused(
            wire.run(
                ("find", "text"), db="bombs", filter={"s": {"$regex": "a", "$options": value}}
            ),
            2,
        )
    refused(wire.run(("find", "text"), db="bombs", filter={"s": {"$options": "i"}}), 2)


def test_updates_that_grow(attacked, rows):
    """An update that makes a document exceed its limits is refused and changes nothing."""
    with attacked.wire() as wire:
        grow = [{"$set": {"x": one(GROWING["text doubled"])[1]["$project"]["x"]}}]
        for update in (
            grow,
            {"$push": {"a": {"$each": [0] * 10, "$position": 2**31 - 1}}},
            {"$set": {"a.2000000000": 1}},
            {"$set": {"z.100000000": 1}},
            {"$set": {"a": {"0": "x" * (LARGEST_DOCUMENT - 400)}, "b": "y" * 400}},
            {"$set": {".".join(["d"] * 150): 1}},
            {"$set": {".".join(["d"] * 20_000): 1}},
            {"$bit": {"n": {"and": 1.5}}},
            {"$inc": {"n": bson.Int64(2**63 - 1)}},
            {"$mul": {"n": float("inf")}},
        ):
            ok_or_error(
                wire.run(
                    ("update", "rows"),
                    db="bombs",
                    updates=[{"q": {"_id": 50}, "u": update}],
                    within=HEAVY,
                )
            )
        wire.send(msg(command(("find", "rows"), ("filter", {"_id": 50}), db="bombs")))
        assert len(timeless(wire.reply_bytes())) <= LARGEST_DOCUMENT + 200
