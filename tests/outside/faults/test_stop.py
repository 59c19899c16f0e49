"""SIGTERM always stops the server in time, with any behaviour of clients and disk: a partially sent
request does not delay it, an unread reply only for a short time, and if a sync takes seconds, the
next start replays the journal."""

import struct
import time

import pytest
from badinput_nosql.wire import A, request
from bombs import data, http2
from bombs.wires import DOCS, Held, op_msg
from lib.inject import Injection
from lib.server import Server

#: Limits in seconds: of any stop, and of one that only has to end idle or incomplete requests.
AT_MOST, AT_ONCE = 10.0, 3.0
HALF_BODY = request("POST", DOCS, None, {**A, "content-length": "1000"}) + b'{"id":'


def half_frame():
    whole = http2.request(1, "POST", DOCS, {"content-type": "application/json"}, b"x")
    return http2.settings(window=65_535) + whole[:-5]


#: By listener: beginnings of requests.
HALVES = {
    "mongo": [
        b"\x40\x00\x00",
        op_msg({"ping": 1})[:-3],
        struct.pack("<iiii", 40_000_000, 1, 0, 2013),
    ],
    "items": [
        b"GET /dbs",
        b"GET /dbs HTTP/1.1\r\nhost: x\r\n",
        HALF_BODY,
        b"\x16\x03\x01\x02\x00",
        http2.PREFACE[:10],
        http2.settings(window=65_535),
        half_frame(),
    ],
    "admin": [
        b"GET /",
        b"POST /_ebb/clock HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{",
    ],
}
UNREAD = {
    "mongo": [op_msg({"find": "rows", "batchSize": 1_000_000}) * 10],
    "items": [request("GET", DOCS, None, {"x-ms-max-item-count": "1000"}) * 10],
    "admin": [b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n" * 5_000],
}


def addresses(server):
    host, port = server.admin_url.removeprefix("http://").rsplit(":", 1)
    return {"mongo": server.address, "items": server.items.address, "admin": (host, int(port))}


@pytest.fixture
def server():
    with Server(data_dir=True, nosql=True) as server:
        data.settle(server)
        yield server


def ended(server):
    """Stops the server; returns the seconds that this took."""
    began = time.monotonic()
    code = server.stop(within=AT_MOST + 20)
    took = time.monotonic() - began
    assert code == 0, f"exit {code}"
    server.sound()
    return took


@pytest.mark.parametrize("listener", HALVES)
def test_half_sent_requests(server, listener):
    helds = []
    for part in HALVES[listener]:
        held = Held(addresses(server)[listener], 5)
        held.send(part)
        helds.append(held)
    time.sleep(0.3)
    took = ended(server)
    for held in helds:
        held.__exit__()
    assert took < AT_ONCE, f"{took:.1f} s beside requests that were sent by half"


@pytest.mark.parametrize("listener", UNREAD)
def test_answers_that_nobody_reads(server, listener):
    with Held(addresses(server)[listener], 5) as held:
        held.send(UNREAD[listener][0], 1.0)
        time.sleep(0.3)
        took = ended(server)
    assert took < AT_MOST, f"{took:.1f} s beside clients that do not read"


def test_a_disk_that_is_too_slow(server):
    rows = server.client["slow"]["rows"]
    rows.insert_many({"_id": n, "pad": "x" * 1000} for n in range(5_000))
    with Injection(server, "fsync,fdatasync", seconds=30):
        server.process.terminate()
        until = time.monotonic() + AT_MOST
        # strace holds an ended process until its delay has passed.
        while "the next start replays the journal" not in server.log.read_text():
            assert time.monotonic() < until, server.log.read_text()[-2000:]
            time.sleep(0.05)
    assert server.process.wait(10) == 0
    server.sound()
    server.start()
    assert server.client["slow"]["rows"].count_documents({}) == 5_000
    server.end()
