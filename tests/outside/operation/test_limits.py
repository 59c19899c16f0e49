"""Limits that an operator sets: the default time limit of reads, the number of connections and
cursors, the size of messages and bodies. Each has the error that clients know."""

import subprocess
import time
import zlib

import pymongo
import pytest
from badinput.wire import Wire as BadWire, command, compressed, msg
from lib.server import EBB_BIN, Server
from pymongo.errors import (
    AutoReconnect,
    DocumentTooLarge,
    ExecutionTimeout,
    OperationFailure,
    PyMongoError,
    WriteError,
)

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
    # A read with its own time limit gets that time.
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
        server.client.close()
        held = [answering_connection(server.address) for _ in range(4)]
        alone = {"serverSelectionTimeoutMS": 500, "directConnection": True}
        with pytest.raises(PyMongoError), pymongo.MongoClient(*server.address, **alone) as client:
            client.admin.command("ping")
        # The admin address has its own limit.
        assert server.ready()[0] == 200
        for wire in held:
            wire.close()
        # A slot is free once the server has noticed that its connection was closed.
        until = time.monotonic() + 20
        with pymongo.MongoClient(*server.address, directConnection=True) as client:
            while not answers(client):
                assert time.monotonic() < until, "the places are not given back"


def answering_connection(address):
    """Returns a connection that has a slot. Those of a closed client are freed with delay."""
    until = time.monotonic() + 20
    while True:
        wire = BadWire(address)
        reply = wire.ask(msg(command(("ping", 1))), within=2)
        if reply is not None:
            assert reply["ok"] == 1
            return wire
        wire.close()
        assert time.monotonic() < until, "the slots of a closed client are not freed"


def answers(client):
    try:
        return client.admin.command("ping")["ok"] == 1
    except AutoReconnect:
        return False


@pytest.fixture(scope="module")
def small():
    with Server(flags=["--max-message", "128k", "--max-body", "64k"], nosql=True) as server:
        yield server


def test_drivers_are_told_of_the_largest_message(small):
    hello = small.client.admin.command("hello")
    assert hello["maxMessageSizeBytes"] == 128 * 1024
    assert hello["maxBsonObjectSize"] == 112 * 1024
    assert small.client.admin.command("buildInfo")["maxBsonObjectSize"] == 112 * 1024
    collection = small.client.d.small
    # The driver splits batches that exceed a message.
    collection.insert_many([{"_id": n, "text": "x" * 50_000} for n in range(10)])
    assert collection.count_documents({}) == 10
    # It sends slightly larger documents, which the server then refuses, but no larger ones.
    with pytest.raises(WriteError) as failed:
        collection.insert_one({"_id": 10, "text": "x" * 115_000})
    assert failed.value.code == 10334
    with pytest.raises(DocumentTooLarge):
        collection.insert_one({"_id": 10, "text": "x" * 140_000})
    assert collection.count_documents({}) == 10


@pytest.mark.parametrize("packed", [False, True])
def test_a_larger_message_ends_its_connection(small, packed):
    document = {"_id": "large", "text": "x" * 140_000}
    message = msg(command(("insert", "small"), db="d", documents=[document]))
    if packed:
        message = compressed(message, 2, zlib.compress(message[16:]))
    with BadWire(small.address) as wire:
        assert wire.run(("ping", 1))["ok"] == 1
        assert wire.ask(message) is None
    assert small.client.d.small.find_one({"_id": "large"}) is None


def test_a_larger_body_is_413(small):
    small.items.create_database("small")
    container = small.items.container("small", "c")
    assert container.define().status == 201
    assert container.create({"id": "fits", "pk": "a", "text": "x" * 60_000}).status == 201
    assert container.create({"id": "large", "pk": "a", "text": "x" * 66_000}).status == 413
    assert container.read("large", "a").status == 404


@pytest.mark.parametrize(
    ("flag", "value", "says"),
    [
        ("--max-message", "63k", "it is not between 65536 and 48000000 bytes"),
        ("--max-body", "3m", "it is not between 65536 and 2228224 bytes"),
        ("--otlp-endpoint", "http://127.0.0.1:1", "build it with --features otlp"),
        ("--otlp-endpoint", "localhost:4318", "it is not http(s)://HOST[:PORT][/PATH]"),
    ],
)
def test_settings_that_cannot_be_are_refused(flag, value, says):
    started = [EBB_BIN, "serve", "--in-memory", "--mongo-addr", "127.0.0.1:0", flag, value]
    ended = subprocess.run(started, capture_output=True, text=True, timeout=20, check=False)
    assert ended.returncode == 2
    assert says in ended.stderr
