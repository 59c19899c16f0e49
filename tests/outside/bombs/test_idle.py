"""The memory of idle connections, and timeouts of replies that clients do not read."""

import os
import pathlib
import time

import pytest
from badinput.wire import command, msg
from badinput_nosql.wire import authorization, http_date, request
from lib import crowd
from lib.server import Server

from bombs import data, http2
from bombs.wires import DOCS, Held, op_msg

#: Number of concurrent connections, and limit of the resident memory of each in bytes.
MANY = int(os.environ.get("CONNECTIONS", "4000"))
PER_CONNECTION = 8 << 10
#: Seconds after which an idle connection has released its buffers.
REST = 4
PING = msg(command(("ping", 1), db="admin"))
GET = request("GET", "/dbs")
#: Seconds after which an unread reply is abandoned, and additional seconds that a test waits.
GIVEN_UP, GRACE = 60, 15

STATES = {
    "mongo, silent": ("address", b""),
    "mongo, after a request": ("address", PING),
    "nosql, silent": ("items", b""),
    "nosql, after a request": ("items", GET),
    "nosql, after a preface": ("items", http2.settings(window=65_535)),
}


@pytest.fixture
def server():
    """A new server for each test: memory that others released would hide that of connections."""
    with Server(data_dir=True, nosql=True) as server:
        data.settle(server)
        server.restart()
        yield server
        server.end()


def address(server, door):
    return server.address if door == "address" else server.items.address


@pytest.mark.parametrize("state", STATES)
def test_idle_connections_cost_little(server, state, torture):
    count = MANY if not torture else 4 * MANY
    door, first = STATES[state]
    with crowd.descriptors(count + 1000):
        crowd.raise_limit(server, count + 1000)
        with Held(address(server, door), 50) as warm:
            warm.send(first)
            time.sleep(0.2)
        before = server.rss()
        with Held(address(server, door), count) as held:
            held.send(first)
            for one in held.sockets if first else ():
                one.settimeout(10)
                assert one.recv(65536), "closed instead of an answer"
            time.sleep(REST)
            each = (server.rss() - before) / count
        assert each <= PER_CONNECTION, f"{each / 1024:.1f} KB for each of {count} connections"


def unread_document(held):
    held.send(op_msg({"find": "rows", "batchSize": 1_000_000}) * 10, 1.0)


def unread_page(held):
    held.send(request("GET", DOCS, None, {"x-ms-max-item-count": "1000"}) * 10, 1.0)


def unread_stream(held):
    date = http_date()
    signed = {
        "x-ms-date": date,
        "x-ms-version": "2020-07-15",
        "x-ms-max-item-count": "1000",
        "authorization": authorization("GET", DOCS, date),
    }
    held.send(
        http2.settings(window=0)
        + b"".join(http2.request(2 * i + 1, "GET", DOCS, signed) for i in range(20)),
        1.0,
    )


UNREAD = {
    "mongo": ("address", unread_document),
    "HTTP/1": ("items", unread_page),
    "HTTP/2": ("items", unread_stream),
}


@pytest.mark.real_clock
def test_unread_answers_come_to_an_end(server, torture):
    """After a minute without reading the connection is closed, on every listener (long run only:
    the ordinary one checks that the server waits)."""
    held = {name: Held(address(server, door), 1) for name, (door, _) in UNREAD.items()}
    for name, (_, ask) in UNREAD.items():
        ask(held[name])
    time.sleep(1)
    gone = sorted(held.keys() - kept(held))
    assert not gone, f"a reader who takes a second is not waited for: {gone}"
    if torture:
        until = time.monotonic() + GIVEN_UP + GRACE
        while kept(held) and time.monotonic() < until:
            time.sleep(0.5)
        assert not kept(held), f"kept for {GIVEN_UP + GRACE} s: {sorted(kept(held))}"
    for one in held.values():
        one.__exit__()
    assert server.items.container(data.DATABASE, "c").read("honest", "honest").status == 200


def kept(held):
    """Returns the connections whose other end is still open in the server: the kernel shows inode 0
    for a socket without an owner, even if it still delivers part of a reply."""
    owned = set()
    for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[9] != "0":
            owned.add(int(fields[2].split(":")[1], 16))
    return {name for name, one in held.items() if one.sockets[0].getsockname()[1] in owned}
