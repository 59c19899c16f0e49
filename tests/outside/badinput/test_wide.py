"""Requests with as many elements as a message may have: every list and document gets tens of
thousands of different ones. A linear search for each of them would be far too slow."""

import functools

import bson
import pytest
from lib.wire import WITHIN

from badinput.attacked import ok_or_error
from badinput.wire import command, msg

WIDTH = 50_000
NUMBERS = range(WIDTH)


def numbered(value):
    """Returns a document with many fields; a function computes each value from its number."""
    return {f"f{i}": value(i) if callable(value) else value for i in NUMBERS}


def find(**more):
    return command(("find", "wide"), *more.items())


def aggregate(*stages):
    return command(("aggregate", "wide"), ("pipeline", list(stages)), ("cursor", {}))


def project(expression):
    return aggregate({"$project": {"x": expression}})


def update(change, **more):
    one = {"q": {"_id": 1}, "u": change, **more}
    return command(("update", "wide"), ("updates", [one]))


def read_fields(**more):
    """A filter on many fields, each of which is looked up in the document."""
    return find(filter={f"d.f{i}": 1 for i in NUMBERS}, maxTimeMS=500, **more)


def chain(expression):
    """An expression over the many fields of the document `d`, so that it is not constant."""
    return project({"$let": {"vars": {"all": {"$objectToArray": "$d"}}, "in": expression}})


PLACES = {
    "constants": lambda: find(let=numbered(1)),
    "constants that are read": lambda: command(
        ("find", "wide"),
        ("let", numbered(1)),
        ("filter", {"$expr": {"$in": [0, [f"$$f{i}" for i in NUMBERS]]}}),
    ),
    "a filter of fields": lambda: find(filter=numbered(None)),
    "a filter of fields that are there": read_fields,
    "a filter of fields that are not there": lambda: find(filter=numbered({"$exists": False})),
    "$or": lambda: find(filter={"$or": [{f"f{i}": 1} for i in NUMBERS]}),
    "$nor": lambda: find(filter={"$nor": [{f"f{i}": 1} for i in NUMBERS]}),
    "$in": lambda: find(filter={"a": {"$in": [f"x{i}" for i in NUMBERS]}}),
    "$in of patterns": lambda: find(
        filter={"s": {"$in": [bson.Regex(f"^x{i}$") for i in range(10_000)]}}
    ),
    "$all": lambda: find(filter={"a": {"$all": [*NUMBERS]}}),
    "$all of documents": lambda: find(
        filter={"a": {"$all": [{"$elemMatch": {"$gt": i}} for i in NUMBERS]}}
    ),
    "a path of documents": lambda: find(filter={"d": numbered(1)}),
    "a projection": lambda: find(projection=numbered(1)),
    "a projection that leaves out": lambda: find(projection=numbered(0)),
    "a projection of the document's fields": lambda: find(
        projection={f"d.f{i}": 1 for i in NUMBERS}
    ),
    "a projection that leaves out the document's fields": lambda: find(
        projection={f"d.f{i}": 0 for i in NUMBERS}
    ),
    "a projection of slices": lambda: find(projection=numbered({"$slice": 1})),
    "a sort": lambda: find(sort=numbered(1)),
    "a hint": lambda: find(hint=numbered(1)),
    "bounds": lambda: find(min=numbered(1), hint={"_id": 1}),
    "$project": lambda: aggregate({"$project": numbered(1)}),
    "$project of the document's fields": lambda: aggregate(
        {"$project": {f"d.f{i}": 1 for i in NUMBERS}}
    ),
    "$project of values": lambda: aggregate({"$project": numbered(lambda i: {"$literal": i})}),
    "$addFields": lambda: aggregate({"$addFields": numbered(1)}),
    "$addFields below a field": lambda: aggregate({"$addFields": {f"d.g{i}": 1 for i in NUMBERS}}),
    "$addFields over fields": lambda: aggregate({"$addFields": {f"d.f{i}": 1 for i in NUMBERS}}),
    "$unset": lambda: aggregate({"$unset": [f"d.f{i}" for i in NUMBERS]}),
    "$group by many fields": lambda: aggregate({"$group": {"_id": numbered("$a")}}),
    "$group with accumulators": lambda: aggregate({"$group": {"_id": 1, **numbered({"$sum": 1})}}),
    "$bucket": lambda: aggregate(
        {"$bucket": {"groupBy": "$n", "boundaries": [*NUMBERS], "default": "x"}}
    ),
    "$bucket with outputs": lambda: aggregate(
        {"$bucket": {"groupBy": "$_id", "boundaries": [0, 10], "output": numbered({"$sum": 1})}}
    ),
    "$bucketAuto with outputs": lambda: aggregate(
        {"$bucketAuto": {"groupBy": "$_id", "buckets": 3, "output": numbered({"$sum": 1})}}
    ),
    "$sortByCount": lambda: aggregate({"$sortByCount": {"$mergeObjects": ["$d", numbered(2)]}}),
    "$facet": lambda: aggregate({"$facet": {f"f{i}": [{"$limit": 1}] for i in range(20_000)}}),
    "$lookup with variables": lambda: aggregate(
        {"$lookup": {"from": "wide", "let": numbered("$_id"), "pipeline": [], "as": "x"}}
    ),
    "$documents": lambda: command(
        ("aggregate", 1),
        ("pipeline", [{"$documents": [{"i": i} for i in NUMBERS]}]),
        ("cursor", {}),
    ),
    "$setWindowFields": lambda: aggregate(
        {"$setWindowFields": {"sortBy": {"_id": 1}, "output": numbered({"$sum": 1})}}
    ),
    "$fill": lambda: aggregate({"$fill": {"output": numbered({"value": 1})}}),
    "$densify": lambda: aggregate(
        {
            "$densify": {
                "field": "n",
                "partitionByFields": [f"f{i}" for i in NUMBERS],
                "range": {"step": 1, "bounds": "full"},
            }
        }
    ),
    "$replaceRoot": lambda: aggregate({"$replaceRoot": {"newRoot": numbered(1)}}),
    "$merge": lambda: aggregate({"$merge": {"into": "merged", "on": [f"f{i}" for i in NUMBERS]}}),
    "$merge with variables": lambda: aggregate(
        {"$merge": {"into": "merged", "let": numbered("$_id"), "whenMatched": []}}
    ),
    "$let": lambda: project({"$let": {"vars": numbered("$a"), "in": "$$f49999"}}),
    "$let and all of them": lambda: project(
        {"$let": {"vars": numbered("$a"), "in": [f"$$f{i}" for i in range(30_000)]}}
    ),
    "$switch": lambda: project(
        {
            "$switch": {
                "branches": [{"case": {"$eq": ["$n", i]}, "then": i} for i in NUMBERS],
                "default": 0,
            }
        }
    ),
    "$mergeObjects": lambda: project({"$mergeObjects": [{f"f{i}": "$a"} for i in NUMBERS]}),
    "$mergeObjects of two": lambda: project({"$mergeObjects": ["$d", numbered(2)]}),
    "$arrayToObject": lambda: chain({"$arrayToObject": "$$all"}),
    "$arrayToObject of pairs": lambda: project(
        {
            "$arrayToObject": {
                "$map": {"input": {"$range": [0, WIDTH]}, "in": [{"$toString": "$$this"}, 1]}
            }
        }
    ),
    "$setField": lambda: project({"$setField": {"field": "x", "input": "$d", "value": 1}}),
    "$setUnion": lambda: chain({"$setUnion": ["$$all", "$$all"]}),
    "$setIntersection": lambda: chain({"$setIntersection": ["$$all", "$$all"]}),
    "$setDifference": lambda: chain({"$setDifference": ["$$all", "$$all"]}),
    "$setEquals": lambda: chain({"$setEquals": ["$$all", "$$all"]}),
    "$setIsSubset": lambda: chain({"$setIsSubset": ["$$all", "$$all"]}),
    "$sortArray": lambda: chain({"$sortArray": {"input": "$$all", "sortBy": numbered(1)}}),
    "$zip": lambda: chain({"$zip": {"inputs": ["$$all", "$$all"], "useLongestLength": True}}),
    "$zip of many": lambda: project({"$zip": {"inputs": [["$a"] for _ in NUMBERS]}}),
    "$concat": lambda: project({"$concat": ["$s"] * WIDTH}),
    "$concatArrays": lambda: project({"$concatArrays": [["$_id"]] * WIDTH}),
    "$and of expressions": lambda: project({"$and": [{"$eq": ["$_id", 1]}] * WIDTH}),
    "$in of expressions": lambda: project({"$in": ["$s", [f"x{i}" for i in NUMBERS]]}),
    "$split": lambda: project({"$split": [{"$literal": "x," * WIDTH}, ","]}),
    "$replaceAll": lambda: project(
        {"$replaceAll": {"input": {"$literal": "x," * WIDTH}, "find": ",", "replacement": ";"}}
    ),
    "an object of expressions": lambda: project(numbered("$a")),
    "$set": lambda: update({"$set": numbered(1)}),
    "$set below a field": lambda: update({"$set": {f"e.f{i}": 1 for i in NUMBERS}}),
    "$set of deeper fields": lambda: update({"$set": {f"f{i}.x.y": 1 for i in NUMBERS}}),
    "$set of elements": lambda: update({"$set": {f"list.{i}": 1 for i in NUMBERS}}),
    "$inc": lambda: update({"$inc": numbered(1)}),
    "$unset of fields": lambda: update({"$unset": {f"d.f{i}": "" for i in NUMBERS}}),
    "$rename": lambda: update({"$rename": {f"d.f{i}": f"g{i}" for i in NUMBERS}}),
    "$rename below a field": lambda: update({"$rename": {f"d.f{i}": f"d.g{i}" for i in NUMBERS}}),
    "$unset and $rename": lambda: update(
        {
            "$unset": {f"d.f{i}": "" for i in range(0, WIDTH, 2)},
            "$rename": {f"d.f{i}": f"d.g{i}" for i in range(1, WIDTH, 2)},
        }
    ),
    "$setOnInsert": lambda: update({"$setOnInsert": numbered(1)}, upsert=True),
    "$push": lambda: update({"$push": numbered(1)}),
    "$push $each": lambda: update({"$push": {"many": {"$each": [*NUMBERS], "$sort": -1}}}),
    "$addToSet": lambda: update({"$addToSet": {"set": {"$each": [*NUMBERS]}}}),
    "$addToSet of documents": lambda: update(
        {"$addToSet": {"set2": {"$each": [{"i": i} for i in NUMBERS]}}}
    ),
    "$pullAll": lambda: update({"$pullAll": {"set": [*NUMBERS]}}),
    "$pull": lambda: update({"$pull": {"set": {"$in": [*NUMBERS]}}}),
    "array filters": lambda: update(
        {"$set": {f"a.$[f{i}]": 1 for i in range(20_000)}},
        arrayFilters=[{f"f{i}": i} for i in range(20_000)],
    ),
    "an update by a pipeline": lambda: update([{"$set": numbered(1)}]),
    "a pipeline that leaves out": lambda: update([{"$unset": [f"d.f{i}" for i in NUMBERS]}]),
    "a replacement": lambda: update(numbered(1)),
    "an upsert by equalities": lambda: update(
        {"$set": {"x": 1}}, upsert=True, q={"_id": "new", **numbered(1)}
    ),
    "an upsert by $and": lambda: update(
        {"$set": {"x": 1}},
        upsert=True,
        q={"_id": "newer", "$and": [{f"f{i}": i} for i in NUMBERS]},
    ),
    "a document": lambda: command(("insert", "wide"), ("documents", [{"_id": 2, **numbered(1)}])),
    "documents": lambda: command(("insert", "many"), ("documents", [{"_id": i} for i in NUMBERS])),
    "updates": lambda: command(
        ("update", "many"),
        ("updates", [{"q": {"_id": -i}, "u": {"$set": {"x": 1}}} for i in range(20_000)]),
    ),
    "deletes": lambda: command(
        ("delete", "many"), ("deletes", [{"q": {"_id": -i - 1}, "limit": 1} for i in range(20_000)])
    ),
    "an index": lambda: command(
        ("createIndexes", "wide"), ("indexes", [{"key": numbered(1), "name": "wide"}])
    ),
    "indexes": lambda: command(
        ("createIndexes", "wide"),
        ("indexes", [{"key": {f"f{i}": 1}, "name": f"f{i}"} for i in NUMBERS]),
    ),
    "a partial index": lambda: command(
        ("createIndexes", "wide"),
        (
            "indexes",
            [
                {
                    "key": {"q": 1},
                    "name": "q",
                    "partialFilterExpression": numbered({"$exists": True}),
                }
            ],
        ),
        ("maxTimeMS", 500),
    ),
    "a projection of a wildcard index": lambda: command(
        ("createIndexes", "wide"),
        ("indexes", [{"key": {"$**": 1}, "name": "w", "wildcardProjection": numbered(1)}]),
    ),
    "indexes to drop": lambda: command(
        ("dropIndexes", "wide"), ("index", [f"f{i}" for i in NUMBERS])
    ),
    "a schema": lambda: find(
        filter={
            "$jsonSchema": {
                "properties": {
                    "d": {
                        "properties": numbered({"bsonType": "int"}),
                        "required": [f"f{i}" for i in NUMBERS],
                        "dependencies": {"f0": [f"f{i}" for i in NUMBERS]},
                    }
                }
            }
        }
    ),
    "a schema of dotted names": lambda: find(
        filter={"$jsonSchema": {"required": [f"d.f{i}" for i in NUMBERS]}}
    ),
    "a validator": lambda: command(("create", "validated"), ("validator", numbered(1))),
    "distinct": lambda: command(("distinct", "many"), ("key", "_id")),
    "sessions": lambda: command(
        ("endSessions", [{"id": bson.Binary(i.to_bytes(16, "big"), 4)} for i in NUMBERS])
    ),
    "operations": lambda: command(
        ("bulkWrite", 1),
        ("ops", [{"insert": i, "document": {"_id": i}} for i in range(60)]),
        ("nsInfo", [{"ns": f"test.bulk{i}"} for i in range(60)]),
        db="admin",
    ),
    "explained": lambda: command(
        ("explain", {"find": "wide", "filter": numbered(1)}), ("maxTimeMS", 500)
    ),
    "a comment": lambda: find(comment=numbered(1)),
    "users' roles": lambda: command(
        ("createUser", "u"),
        ("pwd", "p"),
        ("roles", [{"role": f"r{i}", "db": "x"} for i in NUMBERS]),
    ),
}


@pytest.fixture(scope="module")
def wide(attacked):
    """A collection of small documents."""
    with attacked.wire() as wire:
        wire.run(("insert", "wide"), documents=[{"_id": i} for i in range(3, 13)])


@functools.cache
def first_document():
    """Returns the message that restores the collection's first, wide document."""
    first = {"a": [1, 2, 3], "s": "x", "n": 1, "d": numbered(1)}
    return msg(update(first, upsert=True))


@pytest.mark.parametrize("place", PLACES)
def test_answered_in_time(wire, attacked, wide, place):
    assert wire.ask(first_document(), 10)["n"] == 1
    message = msg(PLACES[place]())
    with attacked.undisturbed():
        ok_or_error(wire.ask(message, 2 * WITHIN))
