"""Malformed headers and sections (B3): an error or a closed connection within a second."""

import struct

import bson
import pytest

from badinput.attacked import refused, well_formed_error
from badinput.raw import document
from badinput.wire import (
    LARGEST_MESSAGE,
    OP_MSG,
    OP_QUERY,
    OP_REPLY,
    command,
    frame,
    msg,
    op_query,
    section,
    sequence,
)

PING = [("ping", 1), ("$db", "test")]
FLAGS = struct.pack("<I", 0)


def closed_or_error(wire, data):
    """Sends invalid bytes; the server must reply with an error or close the connection."""
    wire.send(data)
    reply = wire.reply()
    if reply is not None:
        well_formed_error(reply)


def closed(wire, data):
    wire.send(data)
    assert wire.frame() is None, "a message whose end is unknown was answered"


@pytest.mark.parametrize(
    "length",
    [
        0,
        1,
        4,
        15,
        -1,
        -16,
        -(2**31),
        2**31 - 1,
        LARGEST_MESSAGE + 1,
    ],
)
def test_impossible_lengths(wire, length):
    closed(wire, msg(PING, length=length))


@pytest.mark.parametrize("length", [16, 17, 20, 21, 25])
def test_lengths_shorter_than_what_is_sent(wire, length):
    wire.send(msg(PING, length=length))
    replies = []
    while (got := wire.reply()) is not None:
        replies.append(well_formed_error(got))
    assert len(replies) < 2


def test_a_length_longer_than_what_is_sent_is_waited_for(wire):
    """An incomplete message is not executed; the bytes that follow count as its end."""
    data = msg(PING)
    wire.send(struct.pack("<i", len(data) + 4) + data[4:])
    assert wire.silent(0.2)
    closed_or_error(wire, b"\0\0\0\0")


@pytest.mark.parametrize(
    "code", [0, 2, 1000, 2001, 2002, 2003, 2005, 2006, 2007, 2010, 2011, -1, 2**31 - 1]
)
def test_legacy_and_unknown_messages(wire, code):
    """OP_INSERT, OP_GET_MORE, OP_KILL_CURSORS and others are not supported any more."""
    closed(wire, frame(code, b"\0\0\0\0test.c\0" + document({"_id": 1})))


def test_a_reply_is_no_request(wire):
    closed(wire, frame(OP_REPLY, struct.pack("<iqii", 0, 0, 0, 1) + document({"ok": 1})))


SECTIONS = {
    "no flags": b"",
    "half of the flags": b"\0\0",
    "no section": FLAGS,
    "two bodies": FLAGS + section(PING) + section(PING),
    "no body": FLAGS + sequence("documents", [{"_id": 1}]),
    "unknown section": FLAGS + section(PING) + b"\x02" + document({}),
    "section 0xff": FLAGS + b"\xff" + document(PING),
    "bytes behind": FLAGS + section(PING) + b"\0",
    "empty section": FLAGS + b"\0",
    "sequence twice": FLAGS + section(PING) + sequence("a", [{}]) + sequence("a", [{}]),
    "sequence without a name": FLAGS + section(PING) + b"\x01" + struct.pack("<i", 8) + b"aaaa",
    "sequence of nothing": FLAGS + section(PING) + b"\x01",
    "sequence not UTF-8": FLAGS + section(PING) + sequence(b"\xff\xfe", [{}]),
    "1,000 sequences": FLAGS + section(PING) + b"".join(sequence(f"s{i}", []) for i in range(1000)),
    **{
        f"sequence of {length} bytes": FLAGS
        + section(PING)
        + sequence("documents", [{"_id": 1}], length=length)
        for length in (0, 3, 4, 5, 14, -1, 2**31 - 1, 100)
    },
    **{
        f"body of {length} bytes": FLAGS + b"\0" + struct.pack("<i", length) + document(PING)[4:]
        for length in (0, 4, 5, -1, 2**31 - 1, 100)
    },
}


@pytest.mark.parametrize("name", SECTIONS)
def test_sections(wire, name):
    closed_or_error(wire, frame(OP_MSG, SECTIONS[name]))


@pytest.mark.parametrize("bit", range(2, 16))
def test_unknown_required_flags(wire, bit):
    closed_or_error(wire, msg(PING, flags=1 << bit))


@pytest.mark.parametrize("bit", [17, 24, 31])
def test_unknown_optional_flags_are_ignored(wire, bit):
    assert wire.ask(msg(PING, flags=1 << bit))["ok"] == 1


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_checksums(attacked):
    plain = struct.pack("<I", 1) + section(PING)
    message = struct.pack("<iiii", 16 + len(plain) + 4, 7, 0, OP_MSG) + plain
    with attacked.wire() as wire:
        right = message + struct.pack("<I", crc32c(message))
        wire.send(right)
        _, _, _, payload = wire.frame()
        assert payload[0] & 1, "a request with a checksum is answered with one"
        assert bson.decode(payload[5:-4])["ok"] == 1
    for sum_ in (0, crc32c(message) ^ 1, 0xFFFFFFFF):
        with attacked.wire() as wire:
            closed_or_error(wire, message + struct.pack("<I", sum_))
    with attacked.wire() as wire:
        closed_or_error(wire, frame(OP_MSG, struct.pack("<I", 1) + b"\0\0"))


def test_a_write_with_a_wrong_checksum_is_not_done(wire, attacked):
    body = command(("insert", "summed"), documents=[{"_id": 1}])
    closed_or_error(wire, msg(body, flags=1)[:-4] + b"abcd")
    found = attacked.witness.run(("find", "summed"))
    assert found["cursor"]["firstBatch"] == []


def test_no_answer_to_what_wants_none(wire):
    """With moreToCome there is no reply, neither success nor error, and the next reply belongs to
    the next request."""
    wire.send(msg(command(("insert", "quiet"), documents=[{"_id": 1}]), flags=2, request=1))
    wire.send(msg(command(("nonsense", 1)), flags=2, request=2))
    wire.send(msg(PING, request=3))
    assert wire.frame()[1] == 3


def test_no_answer_to_broken_content_that_wants_none(wire):
    bad = document([("ping", 1), ("$db", "test")]).replace(b"test\0", b"t\xffst\0")
    wire.send(frame(OP_MSG, struct.pack("<I", 2) + b"\0" + bad, request=1))
    wire.send(msg(PING, request=2))
    got = wire.frame()
    assert got is None or got[1] == 2, f"an answer to request {got[1]}, which wanted none"


def test_exhaust_of_what_has_no_cursor(wire):
    assert wire.ask(msg(PING, flags=1 << 16))["ok"] == 1
    assert (
        wire.ask(msg(command(("getMore", bson.Int64(9)), collection="c"), flags=1 << 16))["ok"] == 0
    )


def awaited(hello, ms, process=None):
    known = hello["topologyVersion"]
    if process:
        known = {**known, "processId": process}
    body = [("hello", 1), ("topologyVersion", known), ("maxAwaitTimeMS", ms), ("$db", "admin")]
    return msg(body, flags=1 << 16, request=70)


def test_exhaust_of_news(wire):
    """Drivers treat the end of such a stream as the loss of the server, so it has none."""
    hello = wire.run(("hello", 1), db="admin")
    # A client with another topology version or without a wait gets a single reply.
    for once in (awaited(hello, 10_000, bson.ObjectId()), awaited(hello, 99), awaited(hello, 0)):
        wire.send(once)
        _, answers, _, payload = wire.frame()
        assert (answers, payload[0] & 2) == (70, 0)
    wire.send(awaited(hello, 100))
    last = 70
    for _ in range(3):
        request, answers, _, payload = wire.frame()
        assert answers == last
        assert payload[0] & 2, "more is to come"
        assert bson.decode(payload[5:])["topologyVersion"] == hello["topologyVersion"]
        last = request


QUERIES = {
    "other collection": (op_query("test.c", {"_id": 1}), None),
    "a command": (op_query("admin.$cmd", {"ping": 1}), 352),
    "an insert": (op_query("test.$cmd", [("insert", "c"), ("documents", [{"_id": 1}])]), 352),
    "no database": (op_query(".$cmd", {"ismaster": 1}), 73),
    "an empty name": (op_query("", {"ismaster": 1}), None),
    "not wrapped": (op_query("admin.$cmd", {"$query": 1}), 352),
    "wrapped twice": (op_query("admin.$cmd", {"$query": {"$query": {"ismaster": 1}}}), 352),
    "no body": (frame(OP_QUERY, b"\0\0\0\0admin.$cmd\0" + struct.pack("<ii", 0, 1)), None),
    "no name": (frame(OP_QUERY, b"\0\0\0\0admin"), None),
    "nothing": (frame(OP_QUERY, b""), None),
}


@pytest.mark.parametrize("name", QUERIES)
def test_op_query_is_for_handshakes(wire, name):
    data, code = QUERIES[name]
    wire.send(data)
    reply = wire.reply()
    if reply is not None:
        refused(reply, code)


def test_op_query_handshakes_with_odd_numbers(attacked):
    for skip, limit in [(-1, 0), (2**31 - 1, -(2**31)), (5, 7)]:
        with attacked.wire() as wire:
            assert wire.ask(op_query("admin.$cmd", {"isMaster": 1}, skip, limit))["ok"] == 1


def test_a_body_without_a_database(wire):
    refused(wire.ask(msg([("ping", 1)])), 40571)
    refused(wire.ask(msg([("$db", "test")])), 59)
    refused(wire.ask(msg([])), 40571)


def test_requests_in_one_packet_are_answered_in_order(wire):
    wire.send(b"".join(msg(PING, request=i) for i in range(500)))
    assert [wire.frame()[1] for _ in range(500)] == list(range(500))


def test_http_tls_and_noise_at_this_door(attacked):
    for data in (
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        bytes.fromhex("16030100c8010000c40303") + bytes(200),
        b"\xff" * 100,
        b"\0" * 100,
        b"SSH-2.0-OpenSSH_9.6\r\n",
    ):
        with attacked.wire() as wire:
            closed(wire, data)
