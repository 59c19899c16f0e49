"""`_ts` belongs to the server: never returned, never accepted, missing for every filter."""

import pytest
from pymongo import InsertOne
from pymongo.errors import OperationFailure


@pytest.fixture
def coll(db):
    db.coll.create_index("_ts", expireAfterSeconds=10)
    return db.coll


def test_it_is_never_returned(coll):
    coll.insert_one({"_id": 1, "a": 1})
    assert coll.find_one() == {"_id": 1, "a": 1}
    assert coll.find_one({}, {"_ts": 1}) == {"_id": 1}
    assert list(coll.aggregate([{"$project": {"t": "$_ts", "r": "$$ROOT"}}])) == [
        {"_id": 1, "r": {"_id": 1, "a": 1}}
    ]
    assert coll.distinct("_ts") == []


def test_filters_see_it_as_missing(coll):
    coll.insert_one({"_id": 1})
    assert coll.count_documents({"_ts": {"$exists": True}}) == 0
    assert coll.count_documents({"_ts": {"$exists": False}}) == 1
    assert coll.count_documents({"_ts": None}) == 1
    assert coll.count_documents({"_ts": {"$gt": 0}}) == 0
    assert [d["_id"] for d in coll.find().sort("_ts", -1)] == [1]


REFUSED = {
    "insert": lambda c: c.insert_one({"_id": 2, "_ts": 5}),
    "bulk insert": lambda c: c.insert_many([{"_id": 2, "_ts": 5}]),
    "bulk write": lambda c: c.bulk_write([InsertOne({"_id": 2, "_ts": 5})]),
    "set": lambda c: c.update_one({"_id": 1}, {"$set": {"_ts": 5}}),
    "inc": lambda c: c.update_one({"_id": 1}, {"$inc": {"_ts": 5}}),
    "rename": lambda c: c.update_one({"_id": 1}, {"$rename": {"a": "_ts"}}),
    "current date": lambda c: c.update_one({"_id": 1}, {"$currentDate": {"_ts": True}}),
    "set below": lambda c: c.update_one({"_id": 1}, {"$set": {"_ts.a": 5}}),
    "set on insert": lambda c: c.update_one({"_id": 9}, {"$setOnInsert": {"_ts": 5}}, upsert=True),
    "pipeline": lambda c: c.update_one({"_id": 1}, [{"$set": {"_ts": 5}}]),
    "replace": lambda c: c.replace_one({"_id": 1}, {"_ts": 5}),
    "find one and update": lambda c: c.find_one_and_update({"_id": 1}, {"$set": {"_ts": 5}}),
    "find one and replace": lambda c: c.find_one_and_replace({"_id": 1}, {"_ts": 5}),
}


@pytest.mark.parametrize("write", REFUSED)
def test_writing_it_is_refused_with_error_2(coll, write):
    coll.insert_one({"_id": 1, "a": 1})
    with pytest.raises(OperationFailure) as error:
        REFUSED[write](coll)
    details = error.value.details
    failure = details["writeErrors"][0] if "writeErrors" in details else details
    assert failure["code"] == 2
    assert "_ts" in failure["errmsg"]
    assert "reserved" in failure["errmsg"]
    assert list(coll.find()) == [{"_id": 1, "a": 1}]


def test_inside_a_sub_document_it_is_an_ordinary_field(coll):
    coll.insert_one({"_id": 1, "a": {"_ts": 5}})
    assert coll.find_one({"a._ts": 5}) == {"_id": 1, "a": {"_ts": 5}}
