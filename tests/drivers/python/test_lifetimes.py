"""Writes and TTLs: writes that restart the countdown, and keys that expired documents release."""

import pytest
from pymongo import ReturnDocument
from pymongo.errors import DuplicateKeyError


@pytest.fixture
def coll(db):
    db.coll.create_index("_ts", expireAfterSeconds=10)
    return db.coll


WRITES = {
    "update one field": lambda c: c.update_one({"_id": 1}, {"$set": {"b": 2}}),
    "inc": lambda c: c.update_many({"_id": 1}, {"$inc": {"a": 1}}),
    "replace": lambda c: c.replace_one({"_id": 1}, {"a": 9}),
    "upsert": lambda c: c.update_one({"_id": 1}, {"$set": {"a": 5}}, upsert=True),
    "pipeline": lambda c: c.update_one({"_id": 1}, [{"$set": {"a": {"$add": ["$a", 1]}}}]),
    "find one and update": lambda c: c.find_one_and_update({"_id": 1}, {"$set": {"a": 3}}),
    "find one and replace": lambda c: c.find_one_and_replace({"_id": 1}, {"a": 4}),
}


@pytest.mark.parametrize("write", WRITES)
def test_any_write_restarts_the_countdown(coll, clock, write):
    coll.create_index("a")
    coll.insert_one({"_id": 1, "a": 1})
    clock.advance(9)
    WRITES[write](coll)
    clock.advance(9)
    assert coll.count_documents({"_id": 1}) == 1
    assert coll.count_documents({"a": {"$gt": 0}}) == 1, "through the index as well"
    clock.advance(1)
    assert coll.count_documents({}) == 0


def test_a_write_that_changes_nothing_does_not(coll, clock):
    coll.insert_one({"_id": 1, "a": 1})
    clock.advance(9)
    result = coll.update_one({"_id": 1}, {"$set": {"a": 1}})
    assert (result.matched_count, result.modified_count) == (1, 0)
    clock.advance(1)
    assert coll.find_one() is None


def test_reading_does_not(coll, clock):
    coll.insert_one({"_id": 1})
    clock.advance(9)
    assert coll.find_one() == {"_id": 1}
    clock.advance(1)
    assert coll.find_one() is None


def test_setting_ttl_changes_the_deadline_and_unset_returns_to_the_default(coll, clock):
    coll.insert_one({"_id": 1})
    coll.update_one({"_id": 1}, {"$set": {"ttl": 100}})
    clock.advance(99)
    assert coll.find_one() == {"_id": 1, "ttl": 100}
    coll.update_one({"_id": 1}, {"$set": {"ttl": -1}})
    clock.advance(1_000_000)
    assert coll.find_one() == {"_id": 1, "ttl": -1}
    coll.update_one({"_id": 1}, {"$unset": {"ttl": ""}})
    clock.advance(9)
    assert coll.find_one() == {"_id": 1}
    clock.advance(1)
    assert coll.find_one() is None


def test_replace_without_ttl_returns_to_the_default(coll, clock):
    coll.insert_one({"_id": 1, "ttl": 100})
    coll.replace_one({"_id": 1}, {"a": 1})
    clock.advance(9)
    assert coll.find_one() == {"_id": 1, "a": 1}
    clock.advance(1)
    assert coll.find_one() is None


def test_upsert_on_a_dead_id_inserts(coll, clock):
    coll.insert_one({"_id": 1, "old": True})
    clock.advance(10)
    result = coll.update_one({"_id": 1}, {"$set": {"a": 1}}, upsert=True)
    assert (result.matched_count, result.upserted_id) == (0, 1)
    assert list(coll.find()) == [{"_id": 1, "a": 1}]


def test_insert_on_a_dead_id_is_a_new_document(coll, clock):
    coll.insert_one({"_id": 1, "old": True})
    clock.advance(9)
    with pytest.raises(DuplicateKeyError):
        coll.insert_one({"_id": 1})
    clock.advance(1)
    coll.insert_one({"_id": 1, "new": True})
    assert list(coll.find()) == [{"_id": 1, "new": True}]
    assert coll.estimated_document_count() == 1


def test_a_unique_key_is_free_at_the_deadline(coll, clock):
    coll.create_index("mail", unique=True)
    coll.insert_one({"_id": 1, "mail": "a@example.org"})
    clock.advance(9)
    with pytest.raises(DuplicateKeyError):
        coll.insert_one({"_id": 2, "mail": "a@example.org"})
    clock.advance(1)
    coll.insert_one({"_id": 2, "mail": "a@example.org"})
    assert coll.find_one({"mail": "a@example.org"})["_id"] == 2


def test_writes_find_nothing_of_the_dead(coll, clock):
    coll.insert_one({"_id": 1, "a": 1})
    clock.advance(10)
    assert coll.find_one_and_update({"_id": 1}, {"$set": {"a": 2}}) is None
    assert coll.find_one_and_replace({"_id": 1}, {"a": 2}) is None
    assert coll.find_one_and_delete({"_id": 1}) is None
    assert coll.update_one({"_id": 1}, {"$set": {"a": 2}}).matched_count == 0
    assert coll.update_many({"a": 1}, {"$set": {"a": 2}}).matched_count == 0
    assert coll.replace_one({"_id": 1}, {"a": 2}).matched_count == 0
    assert coll.delete_one({"_id": 1}).deleted_count == 0
    assert coll.delete_many({}).deleted_count == 0
    assert coll.count_documents({}) == 0


def test_find_and_modify_with_upsert_starts_anew(coll, clock):
    coll.insert_one({"_id": 1, "n": 41})
    clock.advance(10)
    found = coll.find_one_and_update(
        {"_id": 1}, {"$inc": {"n": 1}}, upsert=True, return_document=ReturnDocument.AFTER
    )
    assert found == {"_id": 1, "n": 1}


def test_lookup_does_not_join_the_dead(coll, db, clock):
    db.orders.insert_one({"_id": "o", "session": 1})
    coll.insert_one({"_id": 1})
    join = [
        {"$lookup": {"from": "coll", "localField": "session", "foreignField": "_id", "as": "s"}}
    ]
    clock.advance(9)
    assert next(db.orders.aggregate(join))["s"] == [{"_id": 1}]
    clock.advance(1)
    assert next(db.orders.aggregate(join))["s"] == []


def test_an_open_cursor_stops_at_the_deadline(coll, clock):
    coll.insert_many({"_id": n} for n in range(10))
    cursor = coll.find().sort("_id", 1).batch_size(3)
    assert [next(cursor)["_id"] for _ in range(3)] == [0, 1, 2]
    clock.advance(10)
    assert list(cursor) == []
