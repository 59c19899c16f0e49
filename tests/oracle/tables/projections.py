"""Projections of find and of $project: inclusion, exclusion, arrays, positional, computed."""

from bson import Decimal128, Int64

from both.case import Table
from tables.rows import find, pipeline

DOCS = [
    {"_id": 1, "a": 1, "b": {"c": 1, "d": [1, 2, 3]}, "e": [{"f": 1, "g": 2}, {"f": 3}, 5, [{"f": 7}]]},
    {"_id": 2, "a": None, "b": 5, "e": []},
    {"_id": 3, "b": [], "e": {"f": [1, 2]}},
    {"_id": 4, "a": [1, 5, 9, 2], "b": [{"c": [{"x": 1}, {"y": 2}]}, {"c": 2}], "e": [[1, 2], [3]]},
    {"_id": 5, "": 1, "a": {}, "b": {"c": {"d": {"e": 1}}}, "x": "$a"},
]
SPECS = [
    {}, {"a": 1}, {"a": 0}, {"_id": 0}, {"_id": 1}, {"_id": 0, "a": 1}, {"a": 1, "b": 0}, {"a": 0, "b": 1}, {"_id": 1, "a": 0},
    {"b.c": 1}, {"b.c": 0}, {"b": {"c": 1}}, {"b": {"c": 0}}, {"b.c": 1, "b.d": 1}, {"b.c": 1, "b": 1}, {"b": 1, "b.c": 1},
    {"b": {"c": 1, "d": 0}}, {"e.f": 1}, {"e.f": 0}, {"e.0": 1}, {"e.0.f": 1}, {"e": {"f": 1}}, {"b.d": 1, "_id": 0}, {"b.c.d": 1}, {"b.c.d.e": 0},
    {"a": True}, {"a": False}, {"a": 1.5}, {"a": -1}, {"a": 0.0}, {"a": Decimal128("0")}, {"a": Int64(0)}, {"a": None}, {"a": "x"}, {"a": ""}, {"a": []}, {"a": [1]}, {"a": {}},
    {"a": "$b"}, {"a": "$b.c"}, {"a": "$missing"}, {"z": "$e.f"}, {"z": "$a"}, {"z": {"$add": [1, 2]}}, {"z": {"$literal": 1}}, {"z": {"w": "$a"}}, {"z": ["$a", "$b"]}, {"z.w": "$a"}, {"b.z": "$a"}, {"e.z": "$a"}, {"e.f": "$a"},
    {"a": 0, "z": "$b"}, {"a": 0, "z": {"$literal": 1}}, {"a": 1, "z": "$$ROOT._id"}, {"_id": "$a"}, {"_id": 0, "z": "x"}, {"a": "$$REMOVE"}, {"_id": {"x": "$a"}}, {"_id.x": 1}, {"_id.x": 0, "a": 0},
    {"a": {"$slice": 1}}, {"a": {"$slice": -2}}, {"a": {"$slice": [1, 2]}}, {"a": {"$slice": [-3, 2]}}, {"a": {"$slice": [10, 2]}}, {"a": {"$slice": 0}}, {"a": {"$slice": [1, 0]}}, {"a": {"$slice": [1, -1]}}, {"a": {"$slice": "x"}}, {"a": {"$slice": [1]}}, {"a": {"$slice": [1, 2, 3]}}, {"a": {"$slice": 1.5}}, {"a": {"$slice": None}},
    {"b.d": {"$slice": 1}}, {"b.d": {"$slice": 1}, "a": 1}, {"b.d": {"$slice": 1}, "a": 0}, {"e": {"$slice": 1}, "e.f": 1}, {"e.f": {"$slice": 1}}, {"a": {"$slice": 1}, "b": {"$slice": 1}}, {"_id": 0, "a": {"$slice": 1}},
    {"e": {"$elemMatch": {"f": 3}}}, {"e": {"$elemMatch": {"f": {"$gt": 0}}}}, {"e": {"$elemMatch": {"$gt": 2}}}, {"a": {"$elemMatch": {"$gt": 2}}}, {"a": {"$elemMatch": {"$gt": 100}}}, {"e": {"$elemMatch": {"f": 1}}, "a": 1}, {"e": {"$elemMatch": {"f": 1}}, "a": 0}, {"e": {"$elemMatch": 1}}, {"e": {"$elemMatch": {}}}, {"e.f": {"$elemMatch": {"$gt": 1}}}, {"_id": 0, "e": {"$elemMatch": {"f": 1}}},
    {"a.$": 1}, {"e.$": 1}, {"a.$": 0}, {"e.$.f": 1}, {"a.$": 1, "b": 1}, {"a.$": 1, "e.$": 1}, {"a.$": 1, "e": {"$elemMatch": {"f": 1}}}, {"a.$.b": 1}, {"$": 1}, {"a.$": 1, "b": 0}, {"b.d.$": 1},
    {"a": {"$meta": "textScore"}}, {"a": {"$meta": "x"}}, {"a": {"$foo": 1}}, {"$foo": 1}, {"a": {"$gt": 1}}, {"": 1}, {"a.": 1}, {".a": 1}, {"a..b": 1}, {"$a": 1}, {"a.$b": 1}, {"a": {"$add": 1, "b": 1}}, {"a": {"b": {"$add": [1, 1]}}}, {"a": 1, "a.b": 1},
    {"a": {"": 1}}, {"a": {"b.c": 1}}, {"a": {"$literal": {"$x": 1}}}, {"z": "$$NOPE"}, {"z": "$"}, {"z": "$$"}, {"z": "$a."}, {"z": "$.a"}, {"z": "$$CURRENT.a"}, {"z": {"$cond": [{"$gt": ["$a", 1]}, "$a", "$$REMOVE"]}},
]
QUERIES = [
    ({"a": 5}, {"a.$": 1}), ({"a": {"$gt": 1}}, {"a.$": 1}), ({"e.f": 3}, {"e.$": 1}), ({"e": {"$elemMatch": {"f": 3}}}, {"e.$": 1}),
    ({"e.f": {"$gte": 1}}, {"e.$": 1, "a": 1}), ({"a": 1, "e.f": 3}, {"e.$": 1}), ({"a": {"$in": [9, 2]}}, {"a.$": 1}), ({"$or": [{"a": 9}, {"a": 5}]}, {"a.$": 1}),
    ({"a": {"$all": [5, 9]}}, {"a.$": 1}), ({"a": {"$not": {"$gt": 100}}, "_id": 4}, {"a.$": 1}), ({"_id": 4}, {"a.$": 1}), ({"a": {"$size": 4}}, {"a.$": 1}),
    ({"b.c": 2}, {"b.$": 1}), ({"b.c.y": 2}, {"b.$": 1}), ({"b.c.y": 2}, {"b.c.$": 1}), ({"b.d": 2}, {"b.d.$": 1}), ({"a": {"$exists": True}, "e": 5}, {"e.$": 1}), ({"a": {"$ne": 1}, "_id": 4}, {"a.$": 1}), ({"e": [1, 2]}, {"e.$": 1}),
    ({"a": 5}, {"a.$": 1, "z": "$a"}), ({"a": 5}, {"e": 0, "a.$": 1}), ({"a": {"$elemMatch": {"$gt": 4, "$lt": 9}}}, {"a.$": 1, "_id": 0}),
]
STAGES = [
    {"$unset": "b.c"}, {"$unset": ["a", "b.c"]}, {"$unset": []}, {"$unset": ""}, {"$unset": 1}, {"$unset": ["a", "a.b"]}, {"$unset": "$a"},
    {"$addFields": {"b.c": 9}}, {"$addFields": {"e.f": 9}}, {"$addFields": {"e": {"f": 9}}}, {"$addFields": {"a.b": "$a"}}, {"$addFields": {"z": {}}}, {"$addFields": {}}, {"$addFields": {"z": {"y": {"x": "$_id"}}}}, {"$addFields": {"z": []}},
    {"$addFields": {"a": 1, "a.b": 2}}, {"$addFields": {"b": "$$REMOVE"}}, {"$addFields": {"b.c": "$$REMOVE"}}, {"$addFields": {"$a": 1}}, {"$addFields": {"a.$b": 1}}, {"$addFields": {"": 1}}, {"$addFields": 1}, {"$addFields": {"e.0": 9}}, {"$set": {"_id": "$a"}}, {"$set": {"b": {"c": "$b.d"}}}, {"$set": {"b": {"$literal": {"c": 1}}}}, {"$set": {"x.y.z": [1, "$_id"]}},
    {"$replaceRoot": {"newRoot": "$b"}}, {"$replaceRoot": {"newRoot": {"x": "$a"}}}, {"$replaceRoot": {"newRoot": {"$ifNull": ["$nope", {"d": 1}]}}}, {"$replaceRoot": {}}, {"$replaceRoot": {"newRoot": 1}}, {"$replaceRoot": {"x": 1}}, {"$replaceWith": "$$ROOT"}, {"$replaceWith": {"$mergeObjects": ["$b", {"z": 1}]}}, {"$replaceWith": {"_id": "$b"}}, {"$replaceWith": {}},
    {"$project": {}}, {"$project": 1}, {"$project": {"a": 1, "b": 0}}, {"$project": {"a": {"$slice": ["$a", 1]}}},
]


def tables():
    cases = [find(f"project/find/{at} {spec}", DOCS, projection=spec) for at, spec in enumerate(SPECS)]
    cases += [pipeline(f"project/stage/{at} {spec}", DOCS, {"$project": spec}) for at, spec in enumerate(SPECS)]
    cases += [find(f"project/positional/{at} {q}", DOCS, filter=q, projection=p) for at, (q, p) in enumerate(QUERIES)]
    cases += [pipeline(f"project/other/{at} {stage}", DOCS, stage) for at, stage in enumerate(STAGES)]
    yield Table("projections", cases)
