"""Every comparison and test of filters with every value, on scalars, in arrays and objects."""

from both.case import Case, Table
from bson import Decimal128, Int64, Regex
from values import ALL, INFINITY, SOME

PATHS = ["a", "a.b", "a.0", "a.0.b", "a.b.c", "a.a"]
OPERATORS = ["eq", "ne", "gt", "gte", "lt", "lte"]
LISTS = ["in", "nin", "all"]
FIXED = {
    "exists": {"$exists": True},
    "exists not": {"$exists": False},
    "exists null": {"$exists": None},
    "size 0": {"$size": 0},
    "size 2": {"$size": 2},
    "size -1": {"$size": -1},
    "size 1.5": {"$size": 1.5},
    "size long": {"$size": Int64(3)},
    "size text": {"$size": "1"},
    "size decimal": {"$size": Decimal128("1")},
    "mod": {"$mod": [2, 1]},
    "mod -": {"$mod": [-3, -1]},
    "mod 0": {"$mod": [0, 1]},
    "mod short": {"$mod": [2]},
    "mod long": {"$mod": [2, 1, 0]},
    "mod double": {"$mod": [2.9, 1.2]},
    "mod nan": {"$mod": [float("nan"), 1]},
    "mod text": {"$mod": ["a", 1]},
    "mod big": {"$mod": [Int64(2**40), 1]},
    "mod decimal": {"$mod": [Decimal128("2.5"), 1]},
    "mod inf": {"$mod": [INFINITY, 0]},
    "mod null": {"$mod": [2, None]},
    "regex": {"$regex": "a"},
    "regex i": {"$regex": "A", "$options": "i"},
    "regex object": {"$regex": Regex("^a$", "m")},
    "regex both": {"$regex": Regex("a", "i"), "$options": "m"},
    "regex x": {"$regex": " a # c", "$options": "x"},
    "regex s": {"$regex": "a.b", "$options": "s"},
    "regex no": {"$not": Regex("a")},
    "regex in": {"$in": [Regex("^a"), None]},
    "regex bad": {"$regex": "("},
    "regex options bad": {"$regex": "a", "$options": "q"},
    "options": {"$options": "i"},
    "regex null": {"$regex": None},
    "regex empty": {"$regex": ""},
    "regex eq": {"$eq": Regex("^a", "i")},
    "regex ne": {"$ne": Regex("^a")},
    "regex gt": {"$gt": Regex("a")},
    "regex wide": {"$regex": "^.𝄞.$"},
    "elemMatch {}": {"$elemMatch": {}},
    "elemMatch gt": {"$elemMatch": {"$gt": 1}},
    "elemMatch a": {"$elemMatch": {"a": 1}},
    "elemMatch null": {"$elemMatch": {"b": None}},
    "elemMatch not": {"$elemMatch": {"$not": {"$gt": 1}}},
    "elemMatch in": {"$elemMatch": {"$in": [1, "a"]}},
    "elemMatch nested": {"$elemMatch": {"$elemMatch": {"$gt": 0}}},
    "elemMatch 0": {"$elemMatch": {"0": {"$gt": 0}}},
    "elemMatch or": {"$elemMatch": {"$or": [{"a": 1}, {"b": 1}]}},
    "elemMatch text": {"$elemMatch": 1},
    "elemMatch exists": {"$elemMatch": {"$exists": True}},
    "elemMatch ne": {"$elemMatch": {"$ne": 1}},
    "elemMatch size": {"$elemMatch": {"$size": 2}},
    "elemMatch type": {"$elemMatch": {"$type": "null"}},
    "all []": {"$all": []},
    "all nested": {"$all": [[1, 2]]},
    "all elem": {"$all": [{"$elemMatch": {"a": 1}}, {"$elemMatch": {"a": 2}}]},
    "all elem mixed": {"$all": [{"$elemMatch": {"a": 1}}, 2]},
    "all regex": {"$all": [Regex("a"), "b"]},
    "all bad": {"$all": [{"$gt": 1}]},
    "all null": {"$all": [None]},
    "all text": {"$all": "a"},
    "in []": {"$in": []},
    "nin []": {"$nin": []},
    "in nested": {"$in": [[1, 2], []]},
    "in bad": {"$in": [{"$gt": 1}]},
    "in text": {"$in": 1},
    "not": {"$not": {"$gt": 1}},
    "not {}": {"$not": {}},
    "not 1": {"$not": 1},
    "not eq": {"$not": {"$eq": None}},
    "not not": {"$not": {"$not": {"$lt": 5}}},
    "not elem": {"$not": {"$elemMatch": {"$gt": 1}}},
    "not size": {"$not": {"$size": 3}},
    "not regex text": {"$not": {"$regex": "a"}},
    "range": {"$gt": 0, "$lt": 3},
    "range null": {"$gte": None, "$lte": None},
    "range types": {"$gt": "a", "$lt": 5},
    "eq and": {"$eq": 1, "$ne": 2},
    "unknown": {"$foo": 1},
    "mixed": {"$gt": 1, "x": 2},
    "mixed 2": {"x": 2, "$gt": 1},
    "ref": {"$ref": "x", "$id": 1},
    "empty key": {"": 1},
    "comment": {"$comment": "x"},
    "expr inside": {"$expr": True},
    "bits mask": {"$bitsAllSet": 5},
    "bits any": {"$bitsAnySet": [0, 2]},
    "bits clear": {"$bitsAllClear": 2},
    "bits any clear": {"$bitsAnyClear": [1, 63]},
    "bits bin": {"$bitsAllSet": b"\x01"},
    "bits far": {"$bitsAnyClear": [200]},
    "bits -": {"$bitsAllSet": -1},
    "bits text": {"$bitsAllSet": "a"},
    "bits double": {"$bitsAllSet": 1.0},
    "bits frac": {"$bitsAllSet": 1.5},
    "bits -1": {"$bitsAllSet": [-1]},
    "bits []": {"$bitsAnySet": []},
    "bits long": {"$bitsAllSet": Int64(2**33)},
    "type []": {"$type": []},
    "type many": {"$type": ["string", 16]},
    "type bad": {"$type": "foo"},
    "type 0": {"$type": 0},
    "type -2": {"$type": -2},
    "type double": {"$type": 2.0},
    "type frac": {"$type": 2.5},
    "type null": {"$type": None},
    "type number": {"$type": "number"},
    "type Number": {"$type": "Number"},
    "type missing": {"$type": "missing"},
}
TYPES = [
    "double",
    "string",
    "object",
    "array",
    "binData",
    "undefined",
    "objectId",
    "bool",
    "date",
    "null",
    "regex",
    "dbPointer",
    "javascript",
    "symbol",
    "javascriptWithScope",
    "int",
    "timestamp",
    "long",
    "decimal",
    "minKey",
    "maxKey",
]


def tables():
    docs, _at = [{"_id": "missing"}, {"_id": "b", "b": 1}], 0
    shapes = {
        "": lambda v: v,
        "[]": lambda v: [v],
        "{b}": lambda v: {"b": v},
        "[{b}]": lambda v: [{"b": v}, {"b": 1}],
        "[[]]": lambda v: [[v], v],
        "{b:[]}": lambda v: {"b": [v, 2]},
    }
    for name, value in ALL.items():
        for shape, make in shapes.items():
            if shape in ("", "[]") or name in SOME:
                docs.append({"_id": f"{name} {shape}".strip(), "a": make(value)})
    docs.sort(key=lambda doc: doc["_id"].encode())
    cases = []
    for path in PATHS:
        operands = ALL if path in ("a", "a.b") else SOME
        for op in OPERATORS:
            cases += [
                (f"{op}/{path}/{name}", {path: {f"${op}": value}})
                for name, value in operands.items()
            ]
        for op in LISTS:
            cases += [
                (f"{op}/{path}/{name}", {path: {f"${op}": [value]}}) for name, value in SOME.items()
            ]
            cases += [
                (f"{op} two/{path}/{name}", {path: {f"${op}": [value, 1]}})
                for name, value in SOME.items()
            ]
        cases += [
            (f"elem/{path}/{name}", {path: {"$elemMatch": {"$eq": value}}})
            for name, value in SOME.items()
        ]
        cases += [
            (f"elem ne/{path}/{name}", {path: {"$elemMatch": {"$ne": value}}})
            for name, value in SOME.items()
        ]
        cases += [
            (f"not/{path}/{name}", {path: {"$not": {"$gte": value}}})
            for name, value in SOME.items()
        ]
        cases += [(f"plain/{path}/{name}", {path: value}) for name, value in SOME.items()]
        cases += [(f"fixed/{path}/{name}", {path: test}) for name, test in FIXED.items()]
        cases += [(f"type/{path}/{name}", {path: {"$type": name}}) for name in TYPES]
        for op in ["eq", "gt", "lte"]:
            cases += [
                (
                    f"expr {op}/{path}/{name}",
                    {"$expr": {f"${op}": [f"${path}", {"$literal": value}]}},
                )
                for name, value in SOME.items()
            ]
    yield Table(
        "filter",
        [
            Case(
                f"filter/{id}",
                [{"find": "filters", "filter": where, "projection": {"_id": 1}, "batchSize": 2000}],
            )
            for id, where in cases
        ],
        [{"insert": "filters", "documents": docs}],
        fast=True,
    )
    yield Table(
        "indexed",
        [
            Case(
                f"indexed/{id}",
                [{"find": "indexed", "filter": where, "projection": {"_id": 1}, "batchSize": 2000}],
                loose=frozenset(["rows"]),
            )
            for id, where in cases
        ],
        [{"insert": "indexed", "documents": docs}],
        fast=True,
        ours_first=[
            {
                "createIndexes": "indexed",
                "indexes": [{"key": {key: 1}, "name": key} for key in ("a", "a.b", "a.0")],
            }
        ],
    )
    yield Table("sorts", sorts(), fast=True)
    yield Table(
        "distinct",
        [Case(f"distinct/{path}", [{"distinct": "filters", "key": path}]) for path in PATHS],
        fast=True,
    )


def sorts():
    keys = [{path: way} for path in PATHS for way in (1, -1)] + [
        {"a": 1, "b": -1},
        {"a.b": -1, "a.a": 1},
        {"b": 1, "a": -1},
        {"a": 1.0},
        {"a": Int64(-1)},
        {"a": 0},
        {"a": 2},
        {"a": "x"},
        {"a": None},
        {"a": True},
        {"": 1},
        {"a.": 1},
        {".a": 1},
        {"$a": 1},
        {"a": {"$meta": "x"}},
        {"a": 1.5},
        {"a": -0.5},
    ]
    out = []
    for at, key in enumerate(keys):
        whole = {**key, "_id": 1}
        out.append(
            Case(
                f"sort/find/{at} {key}",
                [{"find": "filters", "sort": whole, "projection": {"_id": 1}, "batchSize": 2000}],
            )
        )
        out.append(
            Case(
                f"sort/indexed/{at} {key}",
                [{"find": "indexed", "sort": whole, "projection": {"_id": 1}, "batchSize": 2000}],
            )
        )
        out.append(
            Case(
                f"sort/limit/{at} {key}",
                [
                    {
                        "find": "filters",
                        "sort": whole,
                        "limit": 30,
                        "skip": 20,
                        "projection": {"_id": 1},
                    }
                ],
            )
        )
        out.append(
            Case(
                f"sort/group/{at} {key}",
                [
                    {
                        "aggregate": "filters",
                        "cursor": {"batchSize": 2000},
                        "pipeline": [
                            {"$sort": whole},
                            {"$group": {"_id": None, "ids": {"$push": "$_id"}}},
                        ],
                    }
                ],
            )
        )
        out.append(
            Case(
                f"sort/array/{at} {key}",
                [
                    {
                        "aggregate": "filters",
                        "cursor": {},
                        "pipeline": [
                            {"$sort": {"_id": 1}},
                            {"$group": {"_id": None, "all": {"$push": "$$ROOT"}}},
                            {
                                "$project": {
                                    "_id": 0,
                                    "r": {
                                        "$map": {
                                            "input": {
                                                "$sortArray": {"input": "$all", "sortBy": whole}
                                            },
                                            "in": "$$this._id",
                                        }
                                    },
                                }
                            },
                        ],
                    }
                ],
            )
        )
    return out
