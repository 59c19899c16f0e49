"""The bombs that are texts: every construct that makes a large value from a small one, in every
position in which a query may have it. A new construct or position is one row, and is combined with
all of the others.
"""

import bson

from bombs.data import NUMBERS

#: Number of references to a value of 1.9 MB.
MANY = NUMBERS


def listed(*names):
    return ", ".join(names)


# The query language of the NoSQL API. `c.s` is a text of 1.9 MB, `c.t` a shorter one, `c.a` has
# MANY numbers.

SQL_VALUES = {
    "literal array": f"[{listed(*['c.s'] * MANY)}]",
    "literal array of arrays": f"[{listed(*['c.a'] * 20_000)}]",
    "literal object": "{" + listed(*(f'"f{i}": c.s' for i in range(MANY))) + "}",
    "objects in objects": "{"
    + listed(*(f'"f{i}": {{"g": [c.s, c.s]}}' for i in range(1_000)))
    + "}",
    "ARRAY": "ARRAY(SELECT VALUE c.s FROM x IN c.a)",
    "ARRAY of objects": "ARRAY(SELECT c.s AS s, x FROM x IN c.a)",
    "ARRAY of all": "ARRAY(SELECT * FROM x IN c.a JOIN y IN c.a)",
    "ARRAY in ARRAY": "ARRAY(SELECT VALUE ARRAY(SELECT VALUE c.t FROM y IN c.a) FROM x IN c.a)",
    "distinct ARRAY": "ARRAY(SELECT DISTINCT VALUE CONCAT(c.s, TOSTRING(x)) FROM x IN c.a)",
    "MAKELIST": "(SELECT VALUE MAKELIST(c.s) FROM x IN c.a)",
    "MAKESET": "(SELECT VALUE MAKESET(CONCAT(c.s, TOSTRING(x))) FROM x IN c.a)",
    "CONCAT": f"CONCAT({listed(*['c.s'] * MANY)})",
    "ARRAY_CONCAT": f"ARRAY_CONCAT({listed(*['[c.s]'] * MANY)})",
    "REPLICATE": "REPLICATE(c.s, 10000)",
    "REPLICATE of REPLICATE": "REPLICATE(REPLICATE(c.t, 10000), 10000)",
    "StringJoin": "STRINGJOIN(ARRAY(SELECT VALUE c.s FROM x IN c.a), c.s)",
    "REPLACE": "REPLACE(c.s, 'x', c.t)",
    "StringSplit": "STRINGSPLIT(c.s, '')",
    "SetUnion": "SETUNION(ARRAY(SELECT VALUE [c.s, x] FROM x IN c.a), c.a)",
    "ToString": f"TOSTRING([{listed(*['c.s'] * MANY)}])",
    "ObjectToArray": "OBJECTTOARRAY({" + listed(*(f'"f{i}": c.s' for i in range(MANY))) + "})",
    "StringToArray": "STRINGTOARRAY(CONCAT('[', REPLICATE('0,', 4000000), '0]'))",
    "IIF": f"IIF(true, [{listed(*['c.s'] * MANY)}], [])",
    "RegexExtractAll": "REGEXEXTRACTALL(c.s, '.')",
    "UPPER of much": "UPPER(REPLICATE(c.s, 40))",
}

SQL_PLACES = {
    "result": "SELECT VALUE {} FROM c",
    "property": "SELECT {} AS p, {} AS q FROM c",
    "WHERE": "SELECT VALUE 1 FROM c WHERE IS_DEFINED({})",
    "compared": "SELECT VALUE 1 FROM c WHERE {} = {}",
    "GROUP BY": "SELECT VALUE COUNT(1) FROM c GROUP BY {}",
    "DISTINCT": "SELECT DISTINCT VALUE {} FROM c",
    "FROM": "SELECT VALUE COUNT(1) FROM c JOIN y IN {}",
    "aggregate": "SELECT VALUE MAX({}) FROM c",
}

#: Whole queries: state held over rows, and programs that are large themselves.
SQL_QUERIES = {
    "many properties": f"SELECT {listed(*(f'c.s AS f{i}' for i in range(MANY)))} FROM c",
    "many groups": "SELECT x, y, c.t, COUNT(1) AS n FROM c JOIN x IN c.a JOIN y IN c.a GROUP BY x, y, c.t",
    "groups of made keys": "SELECT VALUE COUNT(1) FROM c JOIN x IN c.a GROUP BY CONCAT(c.s, TOSTRING(x))",
    "distinct rows": "SELECT DISTINCT VALUE CONCAT(c.t, TOSTRING(x), '-', TOSTRING(y)) "
    "FROM c JOIN x IN c.a JOIN y IN c.a",
    "distinct objects": "SELECT DISTINCT c.t, x, y FROM c JOIN x IN c.a JOIN y IN c.a",
    "ordered rows": "SELECT VALUE CONCAT(c.t, TOSTRING(x)) FROM c JOIN x IN c.a JOIN y IN c.a ORDER BY c.n",
    "crossed rows": "SELECT x, y, c.s FROM c JOIN x IN c.a JOIN y IN c.a",
    "MAKELIST of rows": "SELECT VALUE MAKELIST(c.s) FROM c JOIN x IN c.a JOIN y IN c.a",
    "MAKELIST by group": "SELECT x, MAKELIST(c.t) AS l FROM c JOIN x IN c.a JOIN y IN c.a GROUP BY x",
    "MAX of made texts": "SELECT VALUE MAX(CONCAT(c.s, TOSTRING(x))) FROM c JOIN x IN c.a",
    "LIKEs": "SELECT VALUE 1 FROM c WHERE "
    + " OR ".join(f"c.t LIKE '%{i}%_{'_' * 50}%z'" for i in range(1_500)),
    "regexes": "SELECT VALUE 1 FROM c WHERE "
    + " OR ".join(f"REGEXMATCH(c.t, '(a{{1,100}}b{{1,100}}){{1,4}}{i}')" for i in range(1_500)),
    "IN of many": f"SELECT VALUE 1 FROM c WHERE c.n IN ({listed(*map(str, range(60_000)))})",
    "long conditions": "SELECT VALUE 1 FROM c WHERE "
    + " OR ".join(f"c.n = {i}" for i in range(15_000)),
    "names": "SELECT " + listed(*(f"c.n AS a{i}" for i in range(20_000))) + " FROM c",
}


# Expressions of the MongoDB API. `$s` is a text of 1.9 MB, `$t` a shorter one, `$a` MANY numbers.


def reduce(initial, inner, steps=60):
    return {"$reduce": {"input": {"$range": [0, steps]}, "initialValue": initial, "in": inner}}


def mapped(inner, source="$a"):
    return {"$map": {"input": source, "in": inner}}


MONGO_VALUES = {
    "literal array": ["$s"] * MANY,
    "literal array of arrays": ["$a"] * 50_000,
    "literal object": {f"f{i}": "$s" for i in range(MANY)},
    "objects in objects": {f"f{i}": {"g": ["$s", "$s"]} for i in range(1_000)},
    "$concatArrays": {"$concatArrays": [["$s"]] * MANY},
    "$concatArrays of arrays": {"$concatArrays": ["$a"] * 50_000},
    "$concat": {"$concat": ["$s"] * MANY},
    "$map": mapped("$s"),
    "$map of objects": mapped({"s": "$s", "x": "$$this"}),
    "$map in $map": mapped(mapped("$t")),
    "$reduce of arrays": reduce(["$s"], {"$concatArrays": ["$$value", "$$value"]}),
    "$reduce of texts": reduce("$s", {"$concat": ["$$value", "$$value"]}),
    "$reduce of objects": reduce({}, {"a": "$$value", "b": "$$value", "c": "$s"}),
    "$range": mapped({"$range": [0, 100_000]}),
    "$zip": {"$zip": {"inputs": [mapped("$s")] * 20, "useLongestLength": True}},
    "$filter": {
        "$filter": {"input": mapped({"$concat": ["$s", {"$toString": "$$this"}]}), "cond": True}
    },
    "$mergeObjects": {"$mergeObjects": [{f"f{i}": "$s"} for i in range(MANY)]},
    "$arrayToObject": {"$arrayToObject": [mapped({"k": {"$toString": "$$this"}, "v": "$s"})]},
    "$objectToArray": {"$objectToArray": {f"f{i}": "$s" for i in range(MANY)}},
    "$setUnion": {"$setUnion": [mapped(["$s", "$$this"]), "$a"]},
    "$replaceAll": {"$replaceAll": {"input": "$s", "find": "x", "replacement": "$t"}},
    "$split": {"$split": [{"$concat": ["$s"] * 8}, "x"]},
    "$regexFindAll": {"$regexFindAll": {"input": "$s", "regex": "."}},
    "$setField": reduce(
        "$$ROOT",
        {"$setField": {"field": {"$literal": "f"}, "input": "$$value", "value": "$$value"}},
    ),
    "$sortArray": {
        "$sortArray": {"input": mapped({"$concat": ["$s", {"$toString": "$$this"}]}), "sortBy": -1}
    },
    "$reverseArray": {"$reverseArray": mapped(["$s", "$s"])},
    "$let": {"$let": {"vars": {"x": mapped("$s")}, "in": ["$$x", "$$x"]}},
    "$switch": {"$switch": {"branches": [{"case": True, "then": ["$s"] * MANY}]}},
    "$toUpper": {"$toUpper": {"$concat": ["$s"] * 40}},
}

#: Pipelines around an expression.
MONGO_PLACES = {
    "$project": lambda value: [{"$project": {"p": value}}],
    "size of it": lambda value: [{"$project": {"p": {"$type": [value]}}}],
    "$match": lambda value: [{"$match": {"$expr": {"$eq": [value, 1]}}}],
    "$group": lambda value: [{"$group": {"_id": value}}],
    "$push": lambda value: [{"$unwind": "$a"}, {"$group": {"_id": None, "p": {"$push": value}}}],
    "$addToSet": lambda value: [{"$group": {"_id": None, "p": {"$addToSet": value}}}],
    "$bucketAuto": lambda value: [{"$bucketAuto": {"groupBy": value, "buckets": 5}}],
    "$facet": lambda value: [
        {"$facet": {f"f{i}": [{"$project": {"p": value}}] for i in range(10)}}
    ],
    "$lookup": lambda value: [
        {
            "$lookup": {
                "from": "rows",
                "let": {"v": value},
                "pipeline": [{"$project": {"p": "$$v"}}],
                "as": "p",
            }
        }
    ],
    "$unwind": lambda value: [{"$addFields": {"p": value}}, {"$unwind": "$p"}, {"$sort": {"p": 1}}],
    "$sort": lambda value: [{"$unwind": "$a"}, {"$addFields": {"p": value}}, {"$sort": {"p": 1}}],
}

#: A hundred KB for each of MANY rows, which blocking stages hold.
FLOOD = [{"$unwind": "$a"}, {"$project": {"a": 1, "p": {"$concat": ["$t", {"$toString": "$a"}]}}}]
HELD = [*FLOOD, {"$sort": {"a": -1}}]


def accumulated(accumulator):
    return [*FLOOD, {"$group": {"_id": None, "x": accumulator}}]


MONGO_PIPELINES = {
    "$sort": HELD,
    "$sort of wide rows": [{"$unwind": "$a"}, {"$sort": {"a": -1}}],
    "$group by a wide key": [*FLOOD, {"$group": {"_id": "$p", "n": {"$sum": 1}}}],
    "$push": accumulated({"$push": "$p"}),
    "$addToSet": accumulated({"$addToSet": "$p"}),
    "$push of rows": accumulated({"$push": "$$ROOT"}),
    "$firstN": accumulated({"$firstN": {"input": "$p", "n": 1_000_000}}),
    "$maxN": accumulated({"$maxN": {"input": "$p", "n": 1_000_000}}),
    "$topN": accumulated({"$topN": {"sortBy": {"a": 1}, "output": "$p", "n": 1_000_000}}),
    "$mergeObjects": accumulated(
        {"$mergeObjects": {"$arrayToObject": [[{"k": {"$toString": "$a"}, "v": "$p"}]]}}
    ),
    "$concatArrays": accumulated({"$concatArrays": ["$p", "$p"]}),
    "$setUnion": accumulated({"$setUnion": ["$p", "$p"]}),
    "$percentile": [
        {"$unwind": "$a"},
        {"$lookup": {"from": "rows", "pipeline": [], "as": "r"}},
        {"$unwind": "$r"},
        {
            "$group": {
                "_id": None,
                "x": {"$percentile": {"input": "$a", "p": [0.5], "method": "approximate"}},
            }
        },
    ],
    "$facet of sorts": [{"$facet": {f"f{i}": [*HELD, {"$count": "n"}] for i in range(30)}}],
    "$facet of rows": [{"$facet": {f"f{i}": FLOOD for i in range(30)}}],
    "$bucketAuto": [
        *FLOOD,
        {"$bucketAuto": {"groupBy": "$a", "buckets": 5, "output": {"x": {"$push": "$p"}}}},
    ],
    "$sortByCount": [*FLOOD, {"$sortByCount": "$p"}],
    "$lookup": [{"$lookup": {"from": "wide", "pipeline": FLOOD, "as": "x"}}],
    "$lookup by rows": [
        *FLOOD,
        {"$lookup": {"from": "rows", "pipeline": [], "as": "x"}},
        {"$sort": {"a": -1}},
    ],
    "$graphLookup": [
        {
            "$graphLookup": {
                "from": "rows",
                "startWith": 0,
                "connectFromField": "next",
                "connectToField": "_id",
                "as": "x",
            }
        },
        {"$unwind": "$a"},
        {"$sort": {"a": -1}},
    ],
    "$unionWith": [
        stage for _ in range(40) for stage in [{"$unionWith": {"coll": "wide", "pipeline": FLOOD}}]
    ]
    + [{"$sort": {"a": -1}}],
    "$setWindowFields": [
        *FLOOD,
        {
            "$setWindowFields": {
                "sortBy": {"a": 1},
                "output": {
                    "x": {"$push": "$p", "window": {"documents": ["unbounded", "unbounded"]}}
                },
            }
        },
    ],
    "$densify": [{"$densify": {"field": "n", "range": {"step": 1, "bounds": [0, 2**40]}}}],
    "$documents": [{"$documents": mapped({"x": {"$range": [0, 10_000]}}, {"$range": [0, 10_000]})}],
    "$redact": [{"$redact": {"$cond": [mapped("$s"), "$$KEEP", "$$PRUNE"]}}],
    "$replaceRoot": [{"$replaceRoot": {"newRoot": {f"f{i}": "$s" for i in range(MANY)}}}],
    "many stages": [{"$addFields": {f"f{i}": "$s"}} for i in range(900)],
    "$sample": [*FLOOD, {"$sample": {"size": 1_000_000}}],
}


def regexes(count, about="(a{1,100}b{1,100}){1,4}"):
    return [bson.Regex(f"{about}{i}") for i in range(count)]


#: Commands: programs that are large once parsed.
MONGO_COMMANDS = {
    "regexes in $in": lambda: {"find": "rows", "filter": {"s": {"$in": regexes(3_000)}}},
    "regexes in $or": lambda: {
        "find": "rows",
        "filter": {"$or": [{"s": it} for it in regexes(3_000)]},
    },
    "regexes in $all": lambda: {"find": "rows", "filter": {"s": {"$all": regexes(3_000)}}},
    "regexes in $switch": lambda: {
        "aggregate": "rows",
        "cursor": {},
        "pipeline": [
            {
                "$project": {
                    "x": [{"$regexMatch": {"input": "$t", "regex": it}} for it in regexes(3_000)]
                }
            }
        ],
    },
    "regexes of classes": lambda: {
        "find": "rows",
        "filter": {"s": {"$in": regexes(1_000, r"\p{L}{1,300}")}},
    },
    "$or of many": lambda: {"find": "rows", "filter": {"$or": [{"n": 1}] * 400_000}},
    "$and in $and": lambda: {
        "find": "rows",
        "filter": {"$and": [{"$and": [{"n": 1}] * 300}] * 1_000},
    },
    "$in of many": lambda: {"find": "rows", "filter": {"n": {"$in": list(range(800_000))}}},
    "$in of many texts": lambda: {
        "find": "rows",
        "filter": {"n": {"$in": [str(i) for i in range(500_000)]}},
    },
    "many projected": lambda: {"find": "rows", "projection": {f"f{i}": 1 for i in range(300_000)}},
    "many computed": lambda: {"find": "wide", "projection": {f"f{i}": "$s" for i in range(MANY)}},
    "many sorted": lambda: {
        "find": "rows",
        "sort": {f"f{i}": 1 for i in range(30)},
        "batchSize": 1,
    },
    "many updates": lambda: {
        "update": "none",
        "updates": [{"q": {"_id": i}, "u": {"$set": {"a": i}}} for i in range(90_000)],
    },
    "a wide update": lambda: {
        "update": "none",
        "updates": [{"q": {"_id": 1}, "u": {"$set": {f"f{i}": i for i in range(200_000)}}}],
    },
    "an update by pipeline": lambda: {
        "update": "changed",
        "updates": [{"q": {}, "u": [{"$set": {"p": ["$s"] * MANY}}]}],
    },
    "findAndModify by pipeline": lambda: {
        "findAndModify": "changed",
        "update": [{"$set": {"p": {"$concat": ["$s"] * MANY}}}],
    },
    "array filters": lambda: {
        "update": "changed",
        "updates": [
            {
                "q": {},
                "u": {"$set": {f"b.$[x{i}]": i for i in range(20_000)}},
                "arrayFilters": [{f"x{i}": i} for i in range(20_000)],
            }
        ],
    },
    "$push of many": lambda: {
        "update": "changed",
        "updates": [{"q": {}, "u": {"$push": {"a": {"$each": [0] * 900_000, "$sort": 1}}}}],
    },
    "distinct": lambda: {"distinct": "rows", "key": "t"},
    "a large batch": lambda: {"find": "rows", "batchSize": 1_000_000},
    "let": lambda: {
        "aggregate": "wide",
        "cursor": {},
        "let": {f"v{i}": {"$range": [0, 100_000]} for i in range(500)},
        "pipeline": [],
    },
}
