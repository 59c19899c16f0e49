"""Expired documents are never exported, and imported ones expire according to their own fields and
the collection's settings."""

import datetime
import json

from lib.server import date

from export.tools import exported, imported, mongo, nosql, printed


def ids(place, *flags):
    return [json.loads(line)["_id"] for line in printed(place, "--relaxed", *flags).splitlines()]


def test_only_what_lives_is_exported(server, database, tmp_path):
    collection = database["c"]
    collection.create_index("_ts", expireAfterSeconds=100)
    collection.insert_many({"_id": n} for n in range(5))
    collection.insert_many({"_id": 10 + n, "ttl": 200 + n} for n in range(5))
    place = mongo(server, "c")
    server.advance(99_999)
    assert ids(place) == [*range(5), *range(10, 15)]
    server.advance(1)
    assert ids(place) == list(range(10, 15))
    file = tmp_path / "c"
    exported(place, file)
    server.advance(102_000)
    assert ids(place) == [13, 14]
    # An imported document starts a new life, with its own TTL.
    database["copy"].create_index("_ts", expireAfterSeconds=-1)
    said = imported(mongo(server, "copy"), file)
    assert (said["inserted"], said["expired_on_arrival"]) == (5, 0)
    server.advance(202_999)
    assert ids(mongo(server, "copy")) == [13, 14]
    server.advance(1_000)
    assert ids(mongo(server, "copy")) == [14]


def test_what_is_dead_on_arrival_is_counted(server, database, tmp_path):
    database["c"].create_index("at", expireAfterSeconds=60)
    past, future = server.now_ms() - 60_000, server.now_ms() + 1_000
    file = tmp_path / "in"
    lines = [
        json.dumps({"_id": n, "at": {"$date": {"$numberLong": str(past if n < 7 else future)}}})
        for n in range(20)
    ]
    file.write_text("\n".join(lines))
    for mode in ("insert", "upsert"):
        database["c"].delete_many({})
        said = imported(mongo(server, "c"), file, "--mode", mode)
        assert (said["read"], said["inserted"], said["expired_on_arrival"]) == (20, 20, 7), mode
        assert ids(mongo(server, "c")) == list(range(7, 20))


def test_items_keep_their_lifetimes(server, tmp_path):
    container = server.items.container("i", "mortal")
    assert container.define(defaultTtl=50).status == 201
    for n in range(6):
        more = {"ttl": 100} if n % 2 else {}
        assert container.create({"id": f"{n}", "pk": "a", **more}).status == 201
    server.advance(50_000)
    file = tmp_path / "items"
    exported(nosql(server, "mortal"), file)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(row["id"], row["ttl"]) for row in rows] == [("1", 100), ("3", 100), ("5", 100)]
    copy = server.items.container("i", "mortal2")
    assert copy.define(defaultTtl=-1).status == 201
    imported(nosql(server, "mortal2"), file)
    now = server.now_ms() // 1_000
    assert all(row["_ts"] == now for row in copy.rows())
    server.advance(99_000)
    assert len(copy.rows()) == 3
    server.advance(1_000)
    assert copy.rows() == [] and container.rows() == []


def test_a_document_that_expires_between_two_runs_is_not_exported(server, database, tmp_path):
    """The state of an export that stopped at its limit is simulated here."""
    collection = database["c"]
    collection.create_index("at", expireAfterSeconds=0)
    soon = date(server.now_ms() + 1_000)
    collection.insert_many({"_id": n, "at": soon + datetime.timedelta(seconds=n)} for n in range(9))
    assert ids(mongo(server, "c")) == list(range(9))
    server.advance(5_000)
    assert ids(mongo(server, "c")) == list(range(5, 9))
