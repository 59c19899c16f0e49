"""Clients that are slow, leave in the middle, never read, or connect by the hundred."""

import os
import threading
import time

import pytest
from lib import crowd
from lib.wire import WITHIN

from badinput_nosql.attacked import ONE
from badinput_nosql.wire import A, query, request

DOCS = "/dbs/data/colls/c/docs"
GET = request("GET", f"{DOCS}/1", None, A)
POST = request("POST", DOCS, {"id": "1", "pk": "a"}, A)
MANY = int(os.environ.get("CONNECTIONS", "500"))
#: Limit of resident memory per idle connection, in bytes.
PER_CONNECTION = 96 << 10


@pytest.mark.parametrize(("data", "status"), [(GET, 200), (POST, 409)], ids=["GET", "POST"])
def test_drip_fed(attacked, data, status):
    """Head and body sent byte by byte; others are not delayed."""
    with attacked.wire() as wire, attacked.undisturbed():
        for at in range(len(data)):
            wire.send(data[at : at + 1])
            time.sleep(0.0005)
        assert wire.reply(3).status == status


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "TLS"])
def test_many_drip_fed_at_once(attacked, tls):
    step = 37
    wires = [attacked.wire(tls=tls) for _ in range(60)]
    with attacked.undisturbed():
        for at in range(0, len(POST), step):
            for wire in wires:
                wire.send(POST[at : at + step])
    for wire in wires:
        assert wire.reply(3).status == 409
        wire.close()


@pytest.fixture
def many_descriptors():
    """Raises the limits of descriptors so that hundreds of sockets are possible."""
    with crowd.descriptors(MANY + 1000):
        yield


STATES = {
    "silent": b"",
    "after a request": GET,
    "in a line": b"GET /dbs",
    "in a head": GET[:-10],
    "in a body": POST[:-1],
    "in a hello of TLS": b"\x16\x03\x01\x02\x00",
    "in a chunk": (
        request("POST", DOCS, None, {**A, "content-length": None, "transfer-encoding": "chunked"})
        + b"ff\r\n{"
    ),
}


@pytest.mark.parametrize("state", STATES)
def test_hundreds_of_connections(attacked, many_descriptors, state):
    """Many connections use little memory each, and the clients that continue are served."""
    crowd.raise_limit(attacked.server, MANY + 1000)
    before, wires = attacked.server.rss(), []
    with attacked.undisturbed():
        for _ in range(MANY):
            wire = attacked.wire()
            wire.send(STATES[state])
            wires.append(wire)
        if state == "after a request":
            for wire in wires:
                assert wire.reply(5).status == 200
    attacked.health()
    grown = attacked.server.rss() - before
    assert grown < MANY * PER_CONNECTION, f"{grown // MANY} bytes for each of {MANY} connections"
    rest = {
        "silent": (GET, 200),
        "after a request": (GET, 200),
        "in a head": (GET[-10:], 200),
        "in a body": (POST[-1:], 409),
    }.get(state)
    if rest:
        for wire in wires[:: max(1, MANY // 50)]:
            wire.send(rest[0])
            assert wire.reply(3).status == rest[1]
    for i, wire in enumerate(wires):
        wire.leave(i)


def test_hundreds_of_requests_at_once(attacked, many_descriptors):
    """Each of many concurrent requests gets its own reply."""
    wires = [attacked.wire() for _ in range(MANY)]
    for i, wire in enumerate(wires):
        wire.send(
            [
                GET,
                POST,
                request("GET", f"{DOCS}/none", None, A),
                query("SELECT VALUE 1 FROM c"),
                request("GET", "/dbs"),
            ][i % 5]
        )
    for i, wire in enumerate(wires):
        assert wire.reply(10).status == [200, 409, 404, 200, 200][i % 5]
        wire.close()


def test_clients_that_leave_before_their_answer(attacked):
    for i in range(200):
        wire = attacked.wire()
        wire.send(GET * 5)
        wire.leave(i)


def test_writers_that_leave_before_their_answer(attacked):
    """A complete request is executed or not, never in part, and does no harm."""
    attacked.make("/dbs/data/colls", {"id": "left", "partitionKey": ONE})
    for i in range(100):
        wire = attacked.wire()
        wire.send(
            request(
                "POST", "/dbs/data/colls/left/docs", {"id": str(i), "pk": "a", "whole": [i] * 10}, A
            )
        )
        wire.leave(i)
    rows = attacked.run(
        "GET", "/dbs/data/colls/left/docs", None, {"x-ms-max-item-count": "1000"}
    ).json["Documents"]
    assert all(row["whole"] == [int(row["id"])] * 10 for row in rows)
    attacked.remove("/dbs/data/colls/left")
    attacked.held = attacked.state()


def test_a_client_that_never_reads(attacked):
    """Large replies wait for their reader: the server stops reading further requests."""
    attacked.make("/dbs/data/colls", {"id": "large", "partitionKey": ONE})
    for i in range(4):
        attacked.make(
            "/dbs/data/colls/large/docs", {"id": str(i), "pk": "a", "x": "x" * 900_000}, A
        )
    crowd.deaf(attacked, request("GET", "/dbs/data/colls/large/docs"), most=48 << 20)
    attacked.remove("/dbs/data/colls/large")
    attacked.held = attacked.state()


def test_a_client_that_sends_large_requests_and_never_reads(attacked):
    data = request("POST", DOCS, b'{"id":"1","x":"' + b"x" * (2 << 20) + b'"', A)
    crowd.deaf_to_refusals(
        attacked, data, 200 << 20, (TimeoutError, ConnectionResetError, BrokenPipeError)
    )


def test_many_large_bodies_at_once(attacked):
    """Memory is bounded by the requests that may be in progress, not by the claimed sizes."""
    before = attacked.server.rss()
    wires = [attacked.wire() for _ in range(40)]
    body = b'{"id":"1","pk":"a","x":"' + b"x" * (2 << 20)
    with attacked.undisturbed():
        for wire in wires:
            wire.send(
                request("POST", DOCS, None, {**A, "content-length": str(2 << 20)})
                + body[: 2 << 20][:-10]
            )
    grown = attacked.server.rss() - before
    assert grown < 40 * (6 << 20), f"{grown >> 20} MiB for 40 bodies"
    for wire in wires:
        wire.reset()


def test_out_of_descriptors(attacked):
    crowd.more_than_descriptors(attacked, GET, lambda reply: reply.status == 200)


def test_a_flood_of_bad_requests_is_no_flood_of_lines(attacked):
    bad = [
        b"\xff" * 16,
        b"\x16" + b"\xff" * 16,
        request("GET", "/x"),
        request("POST", DOCS, "{", A),
        request("GET", "/dbs", None, {"authorization": "x"}),
        b"GET / HTTP/9\r\n\r\n",
    ]
    crowd.vandals(attacked, (bad[i % len(bad)] for i in range(1500)))


def test_writers_and_vandals(attacked):
    """While bad input comes from four clients, valid requests are executed, and no others."""
    attacked.make("/dbs/data/colls", {"id": "work", "partitionKey": ONE})
    docs, over, problems = "/dbs/data/colls/work/docs", threading.Event(), []

    def vandal(number):
        bad = [
            request("POST", docs, "{", A),
            request("POST", docs, {"id": f"w{number}", "pk": "b"}, A),
            request("POST", docs, {"pk": "a"}, A),
            query("SELEC", path=docs),
            request(
                "POST",
                docs,
                [
                    {"operationType": "Create", "resourceBody": {"id": "half", "pk": "a"}},
                    {"operationType": "Read", "id": "none"},
                ],
                {**A, "x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True"},
            ),
            b"\xff" * 100,
        ]
        while not over.is_set():
            try:
                with attacked.wire() as wire:
                    wire.ask(bad[number % len(bad)], 10)
            except OSError as problem:
                problems.append(problem)
            number += 1

    vandals = [threading.Thread(target=vandal, args=(i,), daemon=True) for i in range(4)]
    for it in vandals:
        it.start()
    with attacked.wire() as wire:
        for i in range(100):
            assert (
                wire.ask(request("POST", docs, {"id": str(i), "pk": "a"}, A), 10 * WITHIN).status
                == 201
            )
    over.set()
    for it in vandals:
        it.join(20)
    rows = attacked.run("GET", docs, None, {"x-ms-max-item-count": "1000"}).json["Documents"]
    assert not problems
    assert sorted(int(row["id"]) for row in rows) == list(range(100))
    attacked.remove("/dbs/data/colls/work")
    attacked.held = attacked.state()


@pytest.mark.real_clock
def test_requests_have_a_deadline(attacked, torture):
    """A request that has begun must be completed within about a minute, or its connection is closed
    (long run only: the ordinary one checks only that the server waits)."""
    starts = [b"", b"G", GET[:-2], POST[:-1], b"\x16\x03\x01"]

    def ended(wire, left):
        reply = wire.reply(left)
        return reply is None or reply.status == 408

    crowd.slow(attacked, starts, 80 if torture else None, ended)
    if torture:
        # The witness was idle for as long, and may have been disconnected too.
        attacked.witness.close()
        attacked.witness = attacked.wire()
