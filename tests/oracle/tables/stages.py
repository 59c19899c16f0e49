"""Stages: $unwind, $lookup both forms, $facet, $graphLookup, $unionWith, $redact, $sample, order of errors."""

from bson import Int64

from both.case import Table
from tables.rows import pipeline, send

DOCS = [
    {"_id": 1, "k": "a", "v": [1, 2], "o": {"p": [{"x": 1}, {"x": 2}]}, "n": None},
    {"_id": 2, "k": "b", "v": [], "o": {"p": []}, "n": 5},
    {"_id": 3, "k": ["a", "b"], "v": 7, "o": {"p": 3}},
    {"_id": 4, "v": None, "o": None, "n": [None]},
    {"_id": 5, "k": "c", "v": [[1], None, "x"], "o": [{"p": [1, 2]}], "n": [5, None]},
]
OTHER = [
    {"_id": 10, "k": "a", "q": 1}, {"_id": 11, "k": ["a", "c"], "q": 2}, {"_id": 12, "k": None, "q": 3},
    {"_id": 13, "q": 4}, {"_id": 14, "k": "b", "q": 5, "s": {"k": "a"}}, {"_id": 15, "k": [], "q": 6}, {"_id": 16, "k": 5, "q": 7, "s": [{"k": "b"}, {"k": 5}]}, {"_id": 17, "k": {"$numberInt": "1"}, "q": 8}, {"_id": 18, "k": [[1], 5]},
]
UNWIND = [
    "$v", "$o.p", "$n", "$missing", "$o", "$k", "v", "", "$", 1, {"path": "$v"}, {"path": "$v", "preserveNullAndEmptyArrays": True}, {"path": "$v", "includeArrayIndex": "i"},
    {"path": "$o.p", "includeArrayIndex": "o.i"}, {"path": "$v", "includeArrayIndex": "v"}, {"path": "$v", "includeArrayIndex": "v.i"}, {"path": "$n", "preserveNullAndEmptyArrays": True, "includeArrayIndex": "i"}, {"path": "$missing", "preserveNullAndEmptyArrays": True, "includeArrayIndex": "i"},
    {"path": "$o.p", "preserveNullAndEmptyArrays": True}, {"path": "$v", "preserveNullAndEmptyArrays": 1}, {"path": "$v", "includeArrayIndex": 1}, {"path": "$v", "includeArrayIndex": "$i"}, {"path": "$v", "includeArrayIndex": ""}, {"path": "$v", "x": 1}, {}, {"path": "v"}, {"path": "$$ROOT"}, {"path": "$o.p.x", "preserveNullAndEmptyArrays": True}, {"path": "$v", "includeArrayIndex": "_id"}, None, {"path": "$v", "includeArrayIndex": "a.b.c"},
]
LOOKUP = [
    {"from": "d", "localField": "k", "foreignField": "k", "as": "r"}, {"from": "d", "localField": "n", "foreignField": "k", "as": "r"}, {"from": "d", "localField": "v", "foreignField": "q", "as": "r"}, {"from": "d", "localField": "missing", "foreignField": "k", "as": "r"},
    {"from": "d", "localField": "k", "foreignField": "s.k", "as": "r"}, {"from": "d", "localField": "o.p.x", "foreignField": "q", "as": "r"}, {"from": "d", "localField": "o.p", "foreignField": "q", "as": "o.r"}, {"from": "d", "localField": "k", "foreignField": "missing", "as": "r"}, {"from": "d", "localField": "_id", "foreignField": "q", "as": "_id"},
    {"from": "nope", "localField": "k", "foreignField": "k", "as": "r"}, {"from": "d", "localField": "k", "foreignField": "k", "as": "k"}, {"from": "d", "localField": "k", "foreignField": "k", "as": "a.b"}, {"from": "d", "localField": "v.0", "foreignField": "q", "as": "r"}, {"from": "d", "localField": "k", "foreignField": "k.0", "as": "r"},
    {"from": "d", "pipeline": [{"$match": {"q": {"$lt": 3}}}], "as": "r"}, {"from": "d", "let": {"x": "$k"}, "pipeline": [{"$match": {"$expr": {"$eq": ["$k", "$$x"]}}}], "as": "r"}, {"from": "d", "let": {"x": "$k"}, "pipeline": [{"$match": {"k": "$$x"}}], "as": "r"}, {"from": "d", "let": {"x": "$_id"}, "pipeline": [{"$project": {"_id": 0, "s": {"$add": ["$q", "$$x"]}}}, {"$limit": 2}], "as": "r"},
    {"from": "d", "localField": "k", "foreignField": "k", "pipeline": [{"$project": {"q": 1}}], "as": "r"}, {"from": "d", "localField": "k", "foreignField": "k", "let": {"i": "$_id"}, "pipeline": [{"$match": {"$expr": {"$gt": ["$q", "$$i"]}}}], "as": "r"}, {"from": "d", "pipeline": [], "as": "r"}, {"from": "d", "pipeline": [{"$group": {"_id": None, "n": {"$sum": 1}}}], "as": "r"},
    {"from": "d", "pipeline": [{"$lookup": {"from": "c", "localField": "q", "foreignField": "_id", "as": "in"}}, {"$limit": 1}], "as": "r"}, {"pipeline": [{"$documents": [{"x": 1}]}], "as": "r"}, {"from": "d", "let": {"x": "$nope"}, "pipeline": [{"$project": {"t": {"$type": "$$x"}}}, {"$limit": 1}], "as": "r"},
    {"from": "d", "as": "r"}, {"from": "d", "localField": "k", "as": "r"}, {"localField": "k", "foreignField": "k", "as": "r"}, {"from": "d", "localField": "k", "foreignField": "k"}, {"from": "d", "localField": "$k", "foreignField": "k", "as": "r"}, {"from": "d", "localField": "k", "foreignField": "k", "as": "$r"}, {"from": 1, "localField": "k", "foreignField": "k", "as": "r"}, {"from": "d", "localField": "k", "foreignField": "k", "as": "r", "x": 1}, {"from": "d", "let": 1, "pipeline": [], "as": "r"}, {"from": "d", "let": {"X": 1}, "pipeline": [], "as": "r"}, {"from": "d", "pipeline": [{"$out": "z"}], "as": "r"}, {"from": "d", "pipeline": 1, "as": "r"}, {"from": "d", "pipeline": [{"$foo": 1}], "as": "r"}, 1, {"from": "d", "let": {"x": 1}, "localField": "k", "foreignField": "k", "as": "r"}, {"from": "d", "pipeline": [{"$match": {"$expr": {"$eq": ["$k", "$$nope"]}}}], "as": "r"}, {"from": "", "localField": "k", "foreignField": "k", "as": "r"}, {"from": "d", "localField": "", "foreignField": "k", "as": "r"},
]
STAGES = {
    "facet": [{"a": [{"$match": {"_id": {"$lt": 3}}}], "b": [{"$count": "n"}], "c": []}, {}, {"a": []}, {"a": 1}, {"a": [{"$facet": {"b": []}}]}, {"a": [{"$out": "x"}]}, {"a.b": []}, {"$a": []}, {"": []}, {"a": [1]}, {"a": [{"$foo": 1}]}, 1, {"a": [{"$unwind": "$v"}, {"$sortByCount": "$v"}, {"$project": {"count": 1, "_id": 0}}], "b": [{"$sort": {"_id": -1}}, {"$skip": 1}, {"$limit": 2}]}],
    "limit": [0, 1, -1, 1.0, 1.5, "1", Int64(2), None, 2**40, 1e30], "skip": [0, 2, -1, 2.0, 1.5, "1", Int64(9), None, 1e30],
    "count": ["n", "", "a.b", "$n", 1, "_id", "n\0x", None], "sortByCount": ["k", 1, {}, {"a": "$k"}, None, "$missing"],
    "sample": [{"size": 0}, {"size": -1}, {"size": "x"}, {}, 1, {"size": 1, "x": 1}], "sort": [{}, 1, {"_id": -1}, {"_id": "x"}, {"_id": 0}, {"_id": 1.0}, {"v": 1, "_id": 1}, {"o.p": -1, "_id": 1}, {"$a": 1}, None, {"_id": True}],
    "match": [{}, 1, None, {"_id": {"$gt": 2}}, {"$where": "1"}, {"$expr": {"$gt": ["$_id", 3]}}, {"$expr": "$v"}, {"$expr": {"$foo": 1}}, {"$and": []}, {"$or": [{}]}, {"$nor": [{"_id": 1}]}, {"$or": 1}, {"$foo": 1}, {"$comment": 1}, {"$alwaysTrue": 1}, {"$alwaysFalse": 1}, {"$alwaysTrue": 0}, {"$and": [1]}, {"$text": {"$search": "a"}}, {"$near": 1}, {"": 1}, {"a.": 1}],
    "redact": ["$$KEEP", "$$PRUNE", "$$DESCEND", {"$cond": [{"$eq": ["$x", 1]}, "$$PRUNE", "$$DESCEND"]}, {"$cond": [{"$gt": ["$_id", 2]}, "$$KEEP", "$$PRUNE"]}, "x", 1, {"$cond": [{"$isArray": "$p"}, "$$PRUNE", "$$DESCEND"]}],
    "unionWith": ["d", {"coll": "d"}, {"coll": "d", "pipeline": [{"$match": {"q": 1}}]}, "nope", 1, {}, {"coll": 1}, {"coll": "d", "x": 1}, {"pipeline": []}, {"coll": "d", "pipeline": [{"$out": "x"}]}, {"coll": "d", "pipeline": 1}, {"coll": "d", "pipeline": [{"$foo": 1}]}, {"pipeline": [{"$documents": [{"x": 1}]}]}],
    "graphLookup": [
        {"from": "d", "startWith": "$k", "connectFromField": "s.k", "connectToField": "k", "as": "r"}, {"from": "d", "startWith": "$k", "connectFromField": "q", "connectToField": "k", "as": "r", "maxDepth": 0}, {"from": "d", "startWith": 1, "connectFromField": "q", "connectToField": "q", "as": "r", "depthField": "dep"}, {"from": "d", "startWith": "$v", "connectFromField": "s.k", "connectToField": "k", "as": "r", "restrictSearchWithMatch": {"q": {"$gt": 2}}},
        {"from": "d"}, {"from": "d", "startWith": 1, "connectFromField": "q", "connectToField": "q", "as": "r", "maxDepth": -1}, {"from": "d", "startWith": 1, "connectFromField": "q", "connectToField": "q", "as": "r", "maxDepth": 1.5}, {"from": "d", "startWith": 1, "connectFromField": "$q", "connectToField": "q", "as": "r"}, {"from": "d", "startWith": 1, "connectFromField": "q", "connectToField": "q", "as": "r", "x": 1}, {"from": "nope", "startWith": 1, "connectFromField": "q", "connectToField": "q", "as": "r"}, {"from": "d", "startWith": None, "connectFromField": "q", "connectToField": "k", "as": "r"}, {"from": "d", "startWith": ["a", 5], "connectFromField": "s.k", "connectToField": "k", "as": "r.x", "depthField": "a.b"}, 1,
    ],
    "foo": [1], "documents": [[{"x": 1}], 1, [], [1], "$x", {"$literal": [{"a": 1}]}], "out": [1, {"db": 1}], "indexStats": [1], "collStats": [1, {"x": 1}], "currentOp": [{}],
}
COMMANDS = [
    {"aggregate": "c", "pipeline": []}, {"aggregate": "c", "cursor": {}}, {"aggregate": "c", "pipeline": {}, "cursor": {}}, {"aggregate": "c", "pipeline": [1], "cursor": {}}, {"aggregate": "c", "pipeline": [{}], "cursor": {}}, {"aggregate": "c", "pipeline": [{"$match": {}, "$limit": 1}], "cursor": {}}, {"aggregate": "c", "pipeline": [{"match": {}}], "cursor": {}}, {"aggregate": 1, "pipeline": [], "cursor": {}}, {"aggregate": 1, "pipeline": [{"$match": {}}], "cursor": {}}, {"aggregate": 1, "pipeline": [{"$documents": [{"x": 1}, {"y": {"$add": [1, 1]}}]}], "cursor": {}}, {"aggregate": 2, "pipeline": [], "cursor": {}}, {"aggregate": "", "pipeline": [], "cursor": {}}, {"aggregate": "c", "pipeline": [], "cursor": 1}, {"aggregate": "c", "pipeline": [], "cursor": {"batchSize": -1}}, {"aggregate": "c", "pipeline": [], "cursor": {"batchSize": 0}}, {"aggregate": "c", "pipeline": [], "cursor": {"batchSize": 2}}, {"aggregate": "c", "pipeline": [], "cursor": {"batchSize": "x"}}, {"aggregate": "c", "pipeline": [], "cursor": {"x": 1}}, {"aggregate": "c", "pipeline": [], "cursor": {}, "x": 1}, {"aggregate": "c", "pipeline": [], "cursor": {}, "let": {"x": 3}}, {"aggregate": "c", "pipeline": [{"$match": {"$expr": {"$eq": ["$_id", "$$x"]}}}], "cursor": {}, "let": {"x": {"$add": [1, 2]}}}, {"aggregate": "c", "pipeline": [], "cursor": {}, "let": {"X": 3}}, {"aggregate": "c", "pipeline": [], "cursor": {}, "let": 1}, {"aggregate": "c", "pipeline": [], "cursor": {}, "hint": "_id_"}, {"aggregate": "c", "pipeline": [], "cursor": {}, "hint": "nope"}, {"aggregate": "c", "pipeline": [], "cursor": {}, "allowDiskUse": 1}, {"aggregate": "c", "pipeline": [], "cursor": {}, "maxTimeMS": -1}, {"aggregate": "c", "pipeline": [], "cursor": {}, "comment": {"a": 1}, "collation": {"locale": "simple"}}, {"aggregate": "nope", "pipeline": [{"$count": "n"}], "cursor": {}}, {"aggregate": "nope", "pipeline": [{"$group": {"_id": None, "n": {"$sum": 1}}}], "cursor": {}}, {"aggregate": "c", "pipeline": [], "explain": 1}, {"aggregate": "c", "pipeline": [{"$limit": 2}, {"$documents": []}], "cursor": {}}, {"aggregate": "c", "pipeline": [{"$match": {"v": 1}}, {"$unwind": "$v"}, {"$match": {"v": 1}}], "cursor": {}},
]


def tables():
    cases = [pipeline(f"unwind/{at} {spec}", DOCS, {"$unwind": spec}) for at, spec in enumerate(UNWIND)]
    cases += [send(f"command/aggregate/{at} {spec}", DOCS, spec) for at, spec in enumerate(COMMANDS)]
    for name, specs in STAGES.items():
        cases += [pipeline(f"{name}/{at} {spec}", DOCS, {f"${name}": spec}, loose=("arrays",) if name == "graphLookup" else ()) for at, spec in enumerate(specs)]
    for at, spec in enumerate(LOOKUP):
        cases.append(pipeline(f"lookup/{at} {spec}", DOCS, {"$lookup": spec}))
        cases.append(pipeline(f"lookup unwind/{at} {spec}", DOCS, {"$lookup": spec}, {"$unwind": "$r"}))
        cases.append(pipeline(f"lookup keep/{at} {spec}", DOCS, {"$lookup": spec}, {"$unwind": {"path": "$r", "preserveNullAndEmptyArrays": True, "includeArrayIndex": "i"}}, {"$match": {"r.q": {"$ne": 2}}}))
    yield Table("stages", cases, [{"insert": "d", "documents": OTHER}])
