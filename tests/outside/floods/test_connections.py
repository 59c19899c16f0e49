"""Floods of connections: thousands of idle ones, incomplete TLS handshakes, requests sent byte by
byte, clients that request much and never read. Sixteen honest clients are served at the same time
with little delay, memory is bounded, and afterwards service is normal.

FLOOD_SECONDS is the duration of each (default 1; 30 minutes with --torture), CONNECTIONS the number
of idle ones (default 4,000).
"""

import contextlib
import os
import resource
import socket
import threading

import pytest
from badinput_nosql.wire import request
from bombs.wires import DOCS, op_msg
from lib import crowd
from lib.seed import TORTURE

from floods.field import SECONDS, Field

#: Descriptors needed besides those connections.
BESIDE = 1_500
#: The requested number, or as many as this process may open.
IDLE = min(
    int(os.environ.get("CONNECTIONS", 20_000 if TORTURE else 4_000)),
    resource.getrlimit(resource.RLIMIT_NOFILE)[1] - BESIDE,
)
HALF_OPEN, DRIPPING, DEAF = 1_000, 200, 8
#: The start of a TLS handshake, of a record of 512 bytes.
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"r" * 32
PAGE = request("GET", DOCS, None, {"x-ms-max-item-count": "1000"})
BATCH = op_msg({"find": "rows", "batchSize": 1_000_000})
PING = op_msg({"ping": 1})


def opened(addresses, count):
    """Opens connections to these addresses in turn; returns the accepted ones."""
    found = []
    for number in range(count):
        with contextlib.suppress(OSError):
            found.append(socket.create_connection(addresses[number % len(addresses)], 5))
    return found


def send(sockets, data):
    for number, one in enumerate(sockets):
        with contextlib.suppress(OSError):
            one.sendall(data if isinstance(data, bytes) else data[number % len(data)])


def idle(addresses):
    """Half of them have never sent anything, the others one request."""
    sockets = opened(addresses, IDLE)
    send(sockets[: len(sockets) // 2], [PING, request("GET", "/dbs")])
    return sockets, None


def half_open(addresses):
    sockets = opened(addresses, HALF_OPEN)
    send(sockets, HELLO)
    return sockets, None


def dripping(addresses):
    """Each connection sends about a byte per second."""
    sockets = opened(addresses, DRIPPING)
    pause, at = threading.Event(), 0
    texts = [PING, request("GET", "/dbs")]

    def drip():
        nonlocal at
        for number, one in enumerate(sockets):
            text = texts[number % 2]
            with contextlib.suppress(OSError):
                one.sendall(text[at : at + 1])
            # The sends are spread over a second.
            if number % 20 == 0:
                pause.wait(0.1)
        at = min(at + 1, len(text) - 2)

    return sockets, drip


def deaf(addresses):
    sockets = opened(addresses, DEAF)
    for one in sockets:
        one.settimeout(0.5)
    send(sockets, [BATCH * 10, PAGE * 10])
    return sockets, None


FLOODS = {
    "connections that do nothing": idle,
    "handshakes of TLS that stop": half_open,
    "requests that come byte by byte": dripping,
    "clients that never read": deaf,
}


@pytest.mark.parametrize("name", FLOODS)
def test_connections(name, report):
    with crowd.descriptors(IDLE + BESIDE), Field() as field:
        addresses = [field.server.address, field.server.items.address]
        sockets, work = FLOODS[name](addresses)
        field.hold(work)
        wrong = field.wrong()
        for one in sockets:
            one.close()
        field.recovers()
    report("F15", len(sockets), f"{name}, {SECONDS:.0f} s", **field.figures())
    assert wrong == [], wrong
