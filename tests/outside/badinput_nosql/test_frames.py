"""Bad input in direct mode: frames that are cut or changed, contexts out of place, clients that are
silent or do not read. The connection is closed, nothing is stored and others are not disturbed."""

import os
import random
import socket
import ssl
import struct

import pytest
from lib import crowd
from lib.frames import BYTE, STRING, ULONG, Closed, Connection, context, frame, tls, token

C = ["data", "c"]
A = token(0x2B, STRING, '["a"]')
ITEM = b'{"id":"framed","pk":"a"}'
MANY = int(os.environ.get("CONNECTIONS", "500"))
#: Limit of resident memory per idle connection with TLS, in bytes.
PER_CONNECTION = 160 << 10


@pytest.fixture
def connection(attacked):
    connection = Connection(attacked.address, timeout=10)
    yield connection
    connection.close()


def create(connection):
    return connection.request("create", C, [A], ITEM)[1]


def closes(connection, data):
    """Checks that the server closes the connection without an answer."""
    try:
        connection.socket.sendall(data)
        connection.socket.settimeout(10)
        connection.head()
    except (Closed, ConnectionError, ssl.SSLError):
        return
    raise AssertionError(f"an answer to {data[:64]}")


def with_length(data, length):
    return struct.pack("<I", length) + data[4:]


def test_it_would_be_stored(attacked, connection):
    """The request that the other tests damage is otherwise good."""
    connection.socket.sendall(create(connection))
    assert connection.answer()[1].status == 201
    assert connection.ask("delete", [*C, "framed"], [A]).status == 204
    attacked.held = attacked.state()


@pytest.mark.parametrize("length", [0, 1, 23, 25, 1 << 20, 1 << 31, 0xFFFFFFFF])
def test_lengths(attacked, connection, length):
    closes(connection, with_length(create(connection), length))


def test_frames_cut_at_every_byte(attacked):
    data = create(Connection(attacked.address))
    for size in range(0, len(data), 3):
        connection = Connection(attacked.address)
        connection.socket.sendall(data[:size])
        connection.close()


BAD_TOKENS = {
    "twice": [A, A],
    "of another kind": [token(0x2B, ULONG, 7)],
    "of an unknown kind": [b"\x2b\x00\xff"],
    "not UTF-8": [token(0x2B, STRING, b"\xff")],
    "longer than the frame": [b"\x2b\x00\x08\xff\xff"],
    "cut": [b"\x2b"],
    "names of two kinds": [token(0x17, STRING, "1"), token(0x1D, STRING, "t")],
}


@pytest.mark.parametrize("bad", BAD_TOKENS)
def test_tokens(attacked, connection, bad):
    _, data = connection.request("create", C, BAD_TOKENS[bad], ITEM)
    closes(connection, data)


@pytest.mark.parametrize("missing", [0x02, 0x13, 0x4D])
def test_required_tokens(attacked, connection, missing):
    given = {
        0x02: token(0x02, BYTE, 0),
        0x13: token(0x13, STRING, "/r"),
        0x4D: token(0x4D, ULONG, 1),
    }
    closes(connection, frame(3, 3, [data for id, data in given.items() if id != missing]))


def test_contexts_out_of_place(attacked, connection):
    closes(connection, context())
    greeted = Connection(attacked.address, greet=False)
    closes(greeted, create(greeted))


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\x16\x03\x01\x02\x00" * 8,
        b"\x00" * 64,
        b"\xff" * 64,
        os.urandom(4096),
    ],
    ids=["HTTP", "TLS", "zeros", "ones", "random"],
)
def test_other_bytes(attacked, connection, data):
    closes(connection, data)


def test_frames_without_tls(attacked):
    with socket.create_connection(attacked.address, timeout=10) as plain:
        plain.sendall(context())
        answer = plain.recv(64)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 400"), answer


def test_changed_frames(attacked):
    """A frame with changed bytes is refused or closes the connection; it stores nothing, because
    its signature or its item is another one."""
    chance = random.Random(45)
    for _ in range(150):
        connection = Connection(attacked.address, timeout=10)
        _, data = connection.request("read", [*C, "1"], [A])
        changed = bytearray(data)
        for _ in range(chance.randint(1, 4)):
            changed[chance.randrange(24, len(changed))] = chance.randrange(256)
        try:
            connection.socket.sendall(changed)
            connection.socket.shutdown(socket.SHUT_WR)
            connection.head()
        except (Closed, OSError, AssertionError):
            pass
        connection.close()


def test_bodies_that_never_come(attacked, connection):
    data = create(connection)
    with attacked.undisturbed():
        others = [Connection(attacked.address) for _ in range(50)]
        for other in others:
            other.socket.sendall(data[: -len(ITEM)])
    for other in others:
        other.close()


def test_bodies_that_are_too_long(attacked, connection):
    data = create(connection)[: -len(ITEM) - 4]
    size = 5 << 20
    connection.socket.sendall(data + struct.pack("<I", size) + b" " * size)
    assert connection.answer()[1].status == 413
    assert connection.ask("read", [*C, "1"], [A]).status == 200
    connection.socket.sendall(data + struct.pack("<I", 1 << 31) + b" " * 100)
    assert connection.answer()[1].status == 413
    closes(connection, b"")


def test_wrong_credentials(attacked, connection):
    for sent in ["", "x", "type=master&ver=1.0&sig=eA==", "type=resource&ver=1.0&sig=x"]:
        reply = connection.ask("create", C, [A], ITEM, sent=sent)
        assert reply.status in (401, 403), reply
    closes(connection, connection.request("read", [*C, "1"], [A], sent="\udcff")[1])


def test_a_client_that_never_reads(attacked, connection):
    """Further frames wait until answers are read; memory is bounded."""
    before = attacked.server.rss()
    connection.socket.settimeout(2)
    _, one = connection.request("feed", C, [])

    def send_much():
        for _ in range((256 << 20) // (len(one) * 100)):
            connection.socket.sendall(one * 100)

    with attacked.undisturbed(), pytest.raises(OSError, match="timed out"):
        send_much()
    grown = attacked.server.rss() - before
    assert grown < 64 << 20, f"{grown >> 20} MiB"


@pytest.mark.parametrize("state", ["silent", "in a frame", "after a context"])
def test_hundreds_of_connections(attacked, state):
    with crowd.descriptors(MANY + 1000):
        crowd.raise_limit(attacked.server, MANY + 1000)
        before, held = attacked.server.rss(), []
        with attacked.undisturbed():
            for _ in range(MANY):
                wire = tls(attacked.address)
                if state != "silent":
                    wire.sendall(context()[:30] if state == "in a frame" else context())
                held.append(wire)
        attacked.health()
        grown = attacked.server.rss() - before
        assert grown < MANY * PER_CONNECTION, f"{grown // MANY} bytes each"
        for wire in held:
            wire.close()
