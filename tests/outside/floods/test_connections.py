"""Floods of connections: thousands that do nothing, handshakes of TLS that stop half-way, requests
that come byte by byte, clients that ask for much and never read. Sixteen honest clients are served
meanwhile nearly as before, memory is bounded, and afterwards everything is.

FLOOD_SECONDS says how long each goes on (default 1; 30 minutes with --torture), CONNECTIONS how
many do nothing (default 4,000).
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

#: Descriptors that are needed beside those connections.
BESIDE = 1_500
#: As many as were asked for, if this process may have so many.
IDLE = min(
    int(os.environ.get("CONNECTIONS", 20_000 if TORTURE else 4_000)),
    resource.getrlimit(resource.RLIMIT_NOFILE)[1] - BESIDE,
)
HALF_OPEN, DRIPPING, DEAF = 1_000, 200, 8
#: The beginning of a handshake, of a record of 512 bytes.
HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"r" * 32
PAGE = request("GET", DOCS, None, {"x-ms-max-item-count": "1000"})
BATCH = op_msg({"find": "rows", "batchSize": 1_000_000})
PING = op_msg({"ping": 1})


def opened(addresses, count):
    """So many connections, to these addresses in turn; what is not taken is left out."""
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
    """Half of them have never said anything, the others asked once."""
    sockets = opened(addresses, IDLE)
    send(sockets[: len(sockets) // 2], [PING, request("GET", "/dbs")])
    return sockets, None


def half_open(addresses):
    sockets = opened(addresses, HALF_OPEN)
    send(sockets, HELLO)
    return sockets, None


def dripping(addresses):
    """A byte a second or so of each."""
    sockets = opened(addresses, DRIPPING)
    pause, at = threading.Event(), 0
    texts = [PING, request("GET", "/dbs")]

    def drip():
        nonlocal at
        for number, one in enumerate(sockets):
            text = texts[number % 2]
            with contextlib.suppress(OSError):
                one.sendall(text[at : at + 1])
            # The flood is spread over a second.
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
