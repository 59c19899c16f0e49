"""Malformed OP_COMPRESSED (B1, B2): wrong sizes close the connection; bombs use little memory."""

import struct
import zlib

import bson
import pytest
import snappy
from backports import zstd

from badinput.attacked import well_formed_error
from badinput.wire import (
    LARGEST_MESSAGE,
    OP_COMPRESSED,
    OP_MSG,
    Wire,
    command,
    compressed,
    frame,
    msg,
    op_query,
)

PACK = {0: bytes, 1: snappy.compress, 2: zlib.compress, 3: zstd.compress}
PING = [("ping", 1), ("comment", "a" * 100), ("$db", "test")]


def payload(message):
    return message[16:]


def packed(message, compressor, **lies):
    return compressed(message, compressor, PACK[compressor](payload(message)), **lies)


def never_more(wire, data):
    """Checks that the message is refused or the connection closed, and that no other byte, such as
    of the server's memory, is returned."""
    wire.send(data)
    got = wire.reply_bytes()
    if got is not None:
        assert len(got) < 1000, f"{len(got)} bytes came back"
        well_formed_error(bson.decode(got))


@pytest.mark.parametrize("compressor", PACK)
def test_honest_messages_are_answered(wire, compressor):
    wire.run(("hello", 1), compression=["snappy", "zlib", "zstd"], db="admin")
    wire.send(packed(msg(PING), compressor))
    _, answers, code, data = wire.frame()
    assert (answers, code) == (7, OP_COMPRESSED)
    inner, size, by = struct.unpack("<iiB", data[:9])
    assert (inner, by) == (OP_MSG, compressor)
    unpack = {0: bytes, 1: snappy.uncompress, 2: zlib.decompress, 3: zstd.decompress}
    assert len(unpack[compressor](data[9:])) == size


@pytest.mark.parametrize("compressor", PACK)
@pytest.mark.parametrize(
    "lie", [0, 1, -1, -(2**31), 2**31 - 1, LARGEST_MESSAGE, "-1", "+1", "x2", "x1000"]
)
def test_sizes_that_do_not_come_out(wire, compressor, lie):
    """The MongoBleed vulnerability: a size larger than the data exposed the server's memory."""
    true = len(payload(msg(PING)))
    size = {"-1": true - 1, "+1": true + 1, "x2": true * 2, "x1000": true * 1000}.get(lie, lie)
    never_more(wire, packed(msg(PING), compressor, size=size))


@pytest.mark.parametrize("compressor", PACK)
def test_a_size_with_room_for_a_document_that_claims_more(wire, compressor):
    """The document's length extends over bytes that were never sent."""
    inner = b"\0\0\0\0\0" + struct.pack("<i", 400) + b"\x10ping\0\x01\0\0\0"
    data = compressed(frame(OP_MSG, inner), compressor, PACK[compressor](inner), size=405)
    never_more(wire, data)


@pytest.mark.parametrize("compressor", [4, 5, 127, 255])
def test_unknown_compressors(wire, compressor):
    never_more(wire, compressed(msg(PING), compressor, payload(msg(PING))))


@pytest.mark.parametrize("compressor", [1, 2, 3])
def test_compressors_that_were_not_agreed_on(wire, compressor):
    wire.run(("hello", 1), compression=[], db="admin")
    reply = wire.ask(msg(PING))
    assert reply["ok"] == 1
    wire.send(packed(msg(PING), compressor))
    got = wire.frame()
    assert got is None or got[1] == 7


@pytest.mark.parametrize("compressor", PACK)
def test_nesting(wire, compressor):
    once = packed(msg(PING), compressor)
    never_more(wire, packed(once, compressor))


def test_deep_nesting(wire):
    data = msg(PING)
    for _ in range(50):
        data = packed(data, 2)
    never_more(wire, data)


@pytest.mark.parametrize("compressor", [1, 2, 3])
@pytest.mark.parametrize("name", ["truncated", "garbage", "empty", "flipped", "tail"])
def test_broken_streams(wire, compressor, name):
    good = PACK[compressor](payload(msg(PING)))
    data = {
        "truncated": good[:-3],
        "garbage": b"\xff\x13\x37" * 20,
        "empty": b"",
        "flipped": good[:5] + bytes([good[5] ^ 0x55]) + good[6:],
        "tail": good + b"more",
    }[name]
    wire.send(compressed(msg(PING), compressor, data))
    wire.frame()


@pytest.mark.parametrize("length", range(9))
def test_heads_cut_short(wire, length):
    never_more(wire, frame(OP_COMPRESSED, packed(msg(PING), 2)[16 : 16 + length]))


BOMBS = {
    "zlib": (2, lambda: zlib.compress(bytes(200 << 20), 9)),
    "zstd": (3, lambda: zstd.compress(bytes(200 << 20))),
    "zstd, many frames": (3, lambda: zstd.compress(bytes(8 << 20)) * 5000),
    "snappy": (1, lambda: b"\x80\x80\x80\x80\x10" + b"\0\0" + b"\xfe\x01\0" * 100_000),
    "snappy, honest head": (1, lambda: snappy.compress(bytes(40_000_000))),
}


@pytest.fixture(scope="module")
def bombs():
    return {name: (compressor, make()) for name, (compressor, make) in BOMBS.items()}


@pytest.mark.parametrize("name", BOMBS)
@pytest.mark.parametrize("size", [100, 1 << 20, LARGEST_MESSAGE - 16, LARGEST_MESSAGE, 2**31 - 1])
def test_bombs(attacked, bombs, name, size):
    compressor, data = bombs[name]
    with attacked.wire() as wire, attacked.undisturbed():
        never_more(wire, compressed(msg(PING), compressor, data, size=size))


def test_twenty_bombs_at_once(attacked, bombs):
    """Memory is bounded by the maximum size of messages, not by the claimed sizes."""
    compressor, data = bombs["zstd"]
    bomb = compressed(msg(PING), compressor, data, size=LARGEST_MESSAGE - 16)
    wires = [Wire(attacked.address) for _ in range(20)]
    for wire in wires:
        wire.send(bomb)
    for wire in wires:
        assert wire.frame(within=10) is None
        wire.close()


def test_inner_messages_of_other_kinds(attacked):
    for code in (0, 1, 2002, OP_COMPRESSED, -1):
        with attacked.wire() as wire:
            never_more(wire, packed(msg(PING), 2, code=code))


def test_a_compressed_query_and_a_compressed_handshake(attacked):
    with attacked.wire() as wire:
        wire.send(packed(op_query("admin.$cmd", {"ismaster": 1}), 2))
        got = wire.frame()
        assert got is None or got[2] in (1, OP_MSG, OP_COMPRESSED)
    for name in ("hello", "saslStart", "authenticate"):
        with attacked.wire() as wire:
            wire.send(packed(msg(command((name, 1), db="admin")), 2))
            got = wire.frame()
            assert got is None or got[2] == OP_MSG, "such a reply is never compressed"
