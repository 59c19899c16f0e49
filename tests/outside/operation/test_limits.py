"""Limits that an operator sets: how long a read may take that does not say so itself, how many
connections and cursors there are at once. Each has the error that clients know."""

import pymongo
import pytest
from lib.server import Server
from lib.wire import Wire
from pymongo.errors import ExecutionTimeout, OperationFailure, PyMongoError

#: A pipeline that takes far longer than any limit here.
LONG = [
    {"$documents": [{"n": n} for n in range(200)]},
    {"$project": {"all": {"$range": [0, 1_000]}}},
    {"$unwind": "$all"},
    {"$group": {"_id": None, "sum": {"$sum": {"$sin": "$all"}}}},
]


@pytest.fixture(scope="module")
def server():
    flags = ["--max-time-ms", "10", "--max-cursors", "3"]
    with Server(flags=flags, nosql=True) as server:
        yield server


def test_a_read_that_says_nothing_ends_in_time(server):
    admin = server.client.admin
    with pytest.raises(ExecutionTimeout) as failed:
        list(admin.aggregate(LONG))
    assert failed.value.code == 50
    # Who says so itself has the time that it asks for.
    assert len(list(admin.aggregate(LONG, maxTimeMS=60_000))) == 1


def test_a_write_is_not_bounded(server):
    collection = server.client.d.long
    collection.insert_many([{"_id": n, "a": n} for n in range(3_000)])
    changed = collection.update_many({}, [{"$set": {"b": {"$sum": {"$range": [0, 300]}}}}])
    assert changed.modified_count == 3_000


def test_cursors_beyond_are_refused(server):
    collection = server.client.d.many
    collection.insert_many([{"_id": n} for n in range(10)])
    cursors = [collection.find(batch_size=2) for _ in range(3)]
    for cursor in cursors:
        cursor.next()
    with pytest.raises(OperationFailure) as failed:
        collection.find(batch_size=2).next()
    assert failed.value.code == 146
    cursors.pop().close()
    cursors.append(collection.find(batch_size=2))
    assert cursors[-1].next() == {"_id": 0}
    for cursor in cursors:
        cursor.close()


def test_connections_beyond_are_closed():
    with Server(flags=["--max-connections", "4"], nosql=True) as server:
        # A client keeps some: what is left is taken here.
        server.client.close()
        held = [Wire(server.address) for _ in range(4)]
        alone = {"serverSelectionTimeoutMS": 500, "directConnection": True}
        with pytest.raises(PyMongoError), pymongo.MongoClient(*server.address, **alone) as client:
            client.admin.command("ping")
        # The admin address has places of its own.
        assert server.ready()[0] == 200
        for wire in held:
            wire.close()
        with pymongo.MongoClient(*server.address, directConnection=True) as client:
            assert client.admin.command("ping")["ok"] == 1
