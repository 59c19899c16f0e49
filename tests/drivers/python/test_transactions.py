"""Transactions of several statements, and documents that expire while one is open."""

import pytest
from pymongo.errors import DuplicateKeyError, OperationFailure
from pymongo.read_concern import ReadConcern

TRANSIENT = "TransientTransactionError"


@pytest.fixture
def session(client):
    with client.start_session() as session:
        yield session


def test_a_commit_shows_all_writes_at_once(client, db, coll, session):
    other = client["python2"]["coll"]
    other.drop()
    coll.insert_one({"_id": 1, "n": 1})
    with session.start_transaction(read_concern=ReadConcern("snapshot")):
        coll.update_one({"_id": 1}, {"$inc": {"n": 1}}, session=session)
        other.insert_many([{"_id": n} for n in range(3)], session=session)
        assert coll.find_one({"_id": 1}, session=session) == {"_id": 1, "n": 2}
        assert other.count_documents({}, session=session) == 3
        assert (coll.find_one({"_id": 1}), other.count_documents({})) == ({"_id": 1, "n": 1}, 0)
    session.commit_transaction()
    assert (coll.find_one({"_id": 1}), other.count_documents({})) == ({"_id": 1, "n": 2}, 3)


def test_an_abort_leaves_nothing(coll, session):
    coll.insert_one({"_id": 1})
    session.start_transaction()
    coll.delete_one({"_id": 1}, session=session)
    coll.insert_one({"_id": 2}, session=session)
    session.abort_transaction()
    assert list(coll.find()) == [{"_id": 1}]
    session.start_transaction()
    with pytest.raises(DuplicateKeyError):
        coll.insert_one({"_id": 1}, session=session)
    with pytest.raises(OperationFailure) as failed:
        coll.find_one({}, session=session)
    assert failed.value.code == 251 and failed.value.has_error_label(TRANSIENT)
    session.abort_transaction()


def test_writers_of_one_document_conflict_at_once(client, coll, session):
    coll.insert_one({"_id": 1, "n": 0})
    session.start_transaction()
    coll.update_one({"_id": 1}, {"$set": {"n": 1}}, session=session)
    with client.start_session() as second:
        second.start_transaction()
        with pytest.raises(OperationFailure) as failed:
            coll.update_one({"_id": 1}, {"$set": {"n": 2}}, session=second)
        assert failed.value.code == 112 and failed.value.has_error_label(TRANSIENT)
        second.abort_transaction()
    session.commit_transaction()
    assert coll.find_one({"_id": 1})["n"] == 1


def test_the_helper_repeats_after_a_conflict(coll, session):
    coll.insert_one({"_id": 1, "n": 0})
    attempts = []

    def increment(session):
        n = coll.find_one({"_id": 1}, session=session)["n"]
        attempts.append(n)
        if len(attempts) <= 3:
            # Another writer is first.
            coll.update_one({"_id": 1}, {"$inc": {"n": 10}})
        coll.update_one({"_id": 1}, {"$set": {"n": n + 1}}, session=session)
        return n

    assert session.with_transaction(increment) == 30
    assert attempts == [0, 10, 20, 30]
    assert coll.find_one({"_id": 1})["n"] == 31


def test_a_cursor_reads_the_snapshot(coll, session):
    coll.insert_many([{"_id": n} for n in range(10)])
    with session.start_transaction():
        cursor = coll.find(batch_size=2, session=session)
        first = next(cursor)
        coll.delete_many({"_id": {"$gte": 5}})
        assert [first, *cursor] == [{"_id": n} for n in range(10)]
    assert coll.count_documents({}) == 5


def test_lifetimes_begin_with_the_commit(coll, clock, session):
    coll.create_index("_ts", expireAfterSeconds=10)
    clock.to_whole_second()
    with session.start_transaction():
        coll.insert_many([{"_id": 1}, {"_id": 2, "ttl": 3}], session=session)
        clock.advance(30)
        assert coll.count_documents({}, session=session) == 2
    clock.advance(2)
    assert coll.count_documents({}) == 2
    clock.advance(1)
    assert list(coll.find()) == [{"_id": 1}]
    clock.advance(7)
    assert coll.count_documents({}) == 0


def test_what_a_write_has_matched_must_live_until_the_commit(coll, clock, session):
    coll.create_index("_ts", expireAfterSeconds=10)
    clock.to_whole_second()
    coll.insert_one({"_id": 1, "n": 0})
    attempts = []

    def prolong(session):
        matched = coll.update_one({"_id": 1}, {"$inc": {"n": 1}}, session=session).matched_count
        attempts.append(matched)
        if len(attempts) == 1:
            clock.advance(10)

    session.with_transaction(prolong)
    assert attempts == [1, 0]
    assert coll.count_documents({}) == 0


def test_no_statement_shows_an_expired_document(coll, clock, session):
    coll.create_index("_ts", expireAfterSeconds=10)
    clock.to_whole_second()
    coll.insert_many([{"_id": 1, "ttl": 5}, {"_id": 2, "ttl": -1}])
    session.start_transaction()
    assert coll.find_one({"_id": 2}, session=session) == {"_id": 2, "ttl": -1}
    clock.advance(5)
    assert [it["_id"] for it in coll.find(session=session)] == [2]
    session.commit_transaction()
    coll.insert_one({"_id": 3, "ttl": 5})
    session.start_transaction()
    assert coll.find_one({"_id": 3}, session=session)
    clock.advance(5)
    with pytest.raises(OperationFailure) as failed:
        coll.find_one({"_id": 3}, session=session)
    assert failed.value.code == 112 and failed.value.has_error_label(TRANSIENT)
    session.abort_transaction()


def test_what_cannot_run_inside_is_refused(db, coll, session):
    coll.insert_one({"_id": 1})
    session.start_transaction()
    coll.find_one({}, session=session)
    for command in [{"count": "coll"}, {"drop": "coll"}, {"collStats": "coll"}]:
        with pytest.raises(OperationFailure) as failed:
            db.command(command, session=session)
        assert failed.value.code == 263
    session.commit_transaction()
