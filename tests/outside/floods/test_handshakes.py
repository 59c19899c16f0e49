"""Clients that have not logged in and send handshakes without end: plain ones, and ones that wait
for changes of the server's topology and allow exhaust replies. Waiting handshakes use little
processor time, and honest clients are served beside all of them. FLOOD_SECONDS is the duration.
"""

import contextlib
import socket
import threading

import bson
import pytest
from badinput.wire import OP_MSG, OP_QUERY, frame
from lib.seed import TORTURE

from floods.field import SECONDS, Field

CLIENTS = 4
#: Handshakes with a minimal wait: a server that replied at once would be kept busy.
WAITING = ("hello that waits for nothing", "hello that waits a moment")
#: Flag of a request that allows several replies.
EXHAUST = 1 << 16
#: Limit of the processors used by one of these: usually below 0.03, but the ordinary run is too
#: short to distinguish 0.05 from chance.
SHARE = 0.05 if TORTURE else 0.1


def op_msg(body, flags=0):
    return frame(OP_MSG, flags.to_bytes(4, "little") + b"\0" + bson.encode(body))


def old_query(body):
    head = b"\0\0\0\0admin.$cmd\0\0\0\0\0\xff\xff\xff\xff"
    return frame(OP_QUERY, head + bson.encode(body))


def awaited(topology, ms):
    body = {"hello": 1, "topologyVersion": topology, "maxAwaitTimeMS": ms, "$db": "admin"}
    return op_msg(body, EXHAUST)


#: By name: the request that a client repeats, given the server's topology version.
REQUESTS = {
    "isMaster in old messages": lambda topology: old_query({"isMaster": 1}),
    "hello": lambda topology: op_msg({"hello": 1, "$db": "admin"}),
    "hello that waits for nothing": lambda topology: awaited(topology, 0),
    "hello that waits a moment": lambda topology: awaited(topology, 1),
    "hello of another state": lambda topology: awaited(
        {"processId": bson.ObjectId(), "counter": bson.Int64(0)}, 10_000
    ),
}


class Hostile(threading.Thread):
    """Sends as fast as the server accepts, and reads all replies."""

    def __init__(self, address, data):
        super().__init__(daemon=True)
        self.socket = socket.create_connection(address, 5)
        self.socket.settimeout(0.2)
        self.data, self.over, self.replies = data, threading.Event(), 0

    def run(self):
        with contextlib.suppress(ConnectionError):
            while not self.over.is_set():
                with contextlib.suppress(TimeoutError):
                    self.socket.sendall(self.data)
                    self.replies += len(self.socket.recv(1 << 16)) > 0
        self.socket.close()


@pytest.mark.parametrize("name", REQUESTS)
def test_handshakes(name, report):
    with Field(wide=False) as field:
        topology = field.server.client.admin.command("hello")["topologyVersion"]
        data = REQUESTS[name](topology)
        hostile = [Hostile(field.server.address, data) for _ in range(CLIENTS)]
        for one in hostile:
            one.start()
        field.hold()
        for one in hostile:
            one.over.set()
        for one in hostile:
            one.join(10)
        # The honest clients use the same processor time with and without them.
        each = (field.share - field.usual_share) / CLIENTS
        wrong = field.wrong()
        field.recovers()
    report(
        "F16",
        CLIENTS,
        f"clients that ask for '{name}', {SECONDS:.0f} s",
        replies_a_second=f"{sum(one.replies for one in hostile) / field.measured:.0f}",
        processor_of_each=f"{each:.1%}",
        **field.figures(),
    )
    assert wrong == [], wrong
    if name in WAITING:
        assert each < SHARE, f"{each:.1%} of a processor for each"
