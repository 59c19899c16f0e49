"""MongoDB's own TTL index on a date, exact to the millisecond."""

from datetime import timedelta

import pytest


@pytest.fixture
def coll(db):
    db.coll.create_index("at", expireAfterSeconds=5)
    return db.coll


def change(coll, seconds):
    return coll.database.command(
        "collMod", coll.name, index={"keyPattern": {"at": 1}, "expireAfterSeconds": seconds}
    )


def test_it_is_listed(coll):
    assert coll.index_information()["at_1"] == {"v": 2, "key": [("at", 1)], "expireAfterSeconds": 5}


def test_a_document_dies_to_the_millisecond(coll, clock):
    coll.insert_one({"_id": 1, "at": clock.now() + timedelta(milliseconds=250)})
    clock.advance(5.249)
    assert coll.count_documents({}) == coll.estimated_document_count() == 1
    clock.advance(0.001)
    assert coll.count_documents({}) == coll.estimated_document_count() == 0
    assert coll.find_one({"_id": 1}) is None


def test_writing_the_date_moves_the_deadline(coll, clock):
    coll.insert_one({"_id": 1, "at": clock.now()})
    clock.advance(4)
    coll.update_one({"_id": 1}, {"$set": {"at": clock.now()}})
    clock.advance(4.999)
    assert coll.count_documents({}) == 1
    clock.advance(0.001)
    assert coll.count_documents({}) == 0


def test_coll_mod_changes_it_and_nothing_comes_back(coll, clock):
    coll.insert_many(
        [{"_id": 1, "at": clock.now()}, {"_id": 2, "at": clock.now() + timedelta(seconds=2)}]
    )
    clock.advance(5)
    assert coll.distinct("_id") == [2]
    reply = change(coll, 60)
    assert (reply["expireAfterSeconds_old"], reply["expireAfterSeconds_new"]) == (5, 60)
    assert coll.distinct("_id") == [2]
    clock.advance(56.999)
    assert coll.distinct("_id") == [2]
    clock.advance(0.001)
    assert coll.distinct("_id") == []

    coll.insert_one({"_id": 3, "at": clock.now() - timedelta(seconds=59)})
    assert coll.distinct("_id") == [3], "an old date under a longer time is alive"
    coll.drop_index("at_1")
    assert coll.distinct("_id") == [3]


def test_an_array_counts_by_its_earliest_date(coll, clock):
    now = clock.now()
    coll.insert_one({"_id": 1, "at": [now + timedelta(hours=1), True, now, "x"]})
    clock.advance(4.999)
    assert coll.count_documents({}) == 1
    clock.advance(0.001)
    assert coll.count_documents({}) == 0


def test_without_a_date_a_document_lives(coll, clock):
    coll.insert_many(
        [{"_id": 1}, {"_id": 2, "at": "2020-01-01"}, {"_id": 3, "at": 5}, {"_id": 4, "at": None}]
    )
    clock.advance(1_000_000)
    assert coll.count_documents({}) == 4


def test_a_plain_index_is_converted(db, clock):
    db.coll.create_index("at")
    db.coll.insert_many(
        [{"_id": 1, "at": clock.now()}, {"_id": 2, "at": clock.now() + timedelta(hours=1)}]
    )
    clock.advance(5)
    assert db.coll.count_documents({}) == 2
    reply = change(db.coll, 5)
    assert "expireAfterSeconds_old" not in reply
    assert reply["expireAfterSeconds_new"] == 5
    assert db.coll.distinct("_id") == [2]


def test_a_partial_index_expires_only_what_it_contains(db, clock):
    db.coll.create_index("at", expireAfterSeconds=5, partialFilterExpression={"kind": "session"})
    db.coll.insert_many([{"_id": k, "kind": k, "at": clock.now()} for k in ("session", "order")])
    clock.advance(5)
    assert db.coll.distinct("_id") == ["order"]


def test_dead_on_arrival(coll, clock):
    assert coll.insert_one({"_id": 1, "at": clock.now() - timedelta(seconds=5)}).acknowledged
    assert coll.find_one() is None
