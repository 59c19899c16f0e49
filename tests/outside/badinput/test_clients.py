"""Clients that are slow, leave in the middle, never read, or connect by the thousand."""

import os
import struct
import time

import bson
import pytest
from lib import crowd
from lib.wire import ENDS

from badinput.attacked import ok_or_error
from badinput.wire import LARGEST_MESSAGE, OP_MSG, command, frame, msg, sequence

PING = [("ping", 1), ("$db", "test")]
#: Limit of resident memory per idle connection, in bytes.
PER_CONNECTION = 64 << 10
MANY = int(os.environ.get("CONNECTIONS", "2000"))


def test_drip_fed(wire):
    """Header and body sent byte by byte; others are not delayed."""
    data = msg(PING)
    for at in range(len(data)):
        wire.send(data[at : at + 1])
        time.sleep(0.001)
    assert wire.reply()["ok"] == 1


def test_many_drip_fed_at_once(attacked):
    data = msg(PING)
    wires = [attacked.wire() for _ in range(100)]
    with attacked.undisturbed():
        for at in range(len(data)):
            for wire in wires:
                wire.send(data[at : at + 1])
    for wire in wires:
        assert wire.reply()["ok"] == 1
        wire.close()


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("sent", [0, 1, 15, 16, 17, 20, 30, -1])
def test_messages_that_do_not_end(attacked, end, sent):
    """An incomplete write is not executed, however its client ends."""
    data = msg(command(("insert", "partial"), documents=[{"_id": 1}]))
    wire = attacked.wire()
    wire.leave_within(data, sent, end)
    if end == "half":
        assert wire.frame() is None, "an answer to half a message"
        wire.close()
    assert attacked.witness.run(("count", "partial"))["n"] == 0


def test_half_closed_after_a_whole_message(attacked):
    """Requests sent before the client stopped sending still get replies."""
    with attacked.wire() as wire:
        wire.send(msg(PING) * 3)
        wire.half_close()
        assert [wire.reply()["ok"] for _ in range(3)] == [1, 1, 1]
        assert wire.frame() is None


def test_clients_that_leave_before_their_answer(attacked):
    for i in range(200):
        wire = attacked.wire()
        wire.send(msg(command(("find", "kept"), db="sentinel")) * 10)
        wire.leave(i)


def connections(attacked):
    return attacked.witness.run(("serverStatus", 1), db="admin")["connections"]["current"]


def settled(attacked, expected, within=5.0):
    until = time.monotonic() + within
    while connections(attacked) > expected:
        assert time.monotonic() < until, (
            f"{connections(attacked)} connections are counted, not {expected}"
        )
        time.sleep(0.01)


def counted(attacked, own, within=5.0):
    """Waits until more than `own` connections are counted; others may be closing."""
    until = time.monotonic() + within
    while connections(attacked) <= own:
        assert time.monotonic() < until, (
            f"{connections(attacked)} connections are counted, {own} are there"
        )
        time.sleep(0.01)


def test_connections_that_end_are_forgotten(attacked):
    before = connections(attacked)
    wires = [attacked.wire() for _ in range(100)]
    for wire in wires:
        assert wire.run(("ping", 1))["ok"] == 1
    counted(attacked, 100)
    for i, wire in enumerate(wires):
        wire.leave(i)
    settled(attacked, before)


def test_cursors_of_clients_that_left_do_not_pile_up_in_memory(attacked, wire):
    wire.run(("insert", "rows"), documents=[{"_id": i, "x": "x" * 100} for i in range(1000)])
    before = attacked.server.rss()
    for _ in range(20):
        with attacked.wire() as other:
            other.send(msg(command(("find", "rows"), ("batchSize", 2))) * 100)
            assert [other.reply()["ok"] for _ in range(100)] == [1] * 100
    grown = attacked.server.rss() - before
    assert grown < 2000 * (32 << 10), f"{grown >> 10} KiB for 2,000 cursors"
    wire.run(("drop", "rows"))


def test_a_client_that_never_reads(attacked, wire):
    """Large replies wait for their reader: the server stops reading further requests."""
    document = {"_id": 1, "x": "x" * (8 << 20)}
    wire.ask(msg(command(("insert", "large")), sequence("documents", [document])), within=20)
    crowd.deaf(attacked, msg(command(("find", "large"))), most=64 << 20)
    settled(attacked, connections(attacked))
    wire.run(("drop", "large"))


def test_a_client_that_sends_large_requests_and_never_reads(attacked):
    """Its requests are large, and so is each refusal."""
    message = msg(command(("find", "c"), ("filter", {"$nonsense": "x" * (4 << 20)})))
    crowd.deaf_to_refusals(attacked, message, most=300 << 20)


@pytest.fixture
def many_descriptors():
    """Raises the limits of descriptors so that thousands of sockets are possible."""
    with crowd.descriptors(MANY + 1000):
        yield


@pytest.mark.parametrize("state", ["silent", "after hello", "in a header", "in a body"])
def test_thousands_of_idle_connections(attacked, many_descriptors, state):
    crowd.raise_limit(attacked.server, MANY + 1000)
    before, others = attacked.server.rss(), connections(attacked)
    data = msg(PING)
    wires = []
    with attacked.undisturbed():
        for _ in range(MANY):
            wire = attacked.wire()
            if state == "after hello":
                assert wire.run(("hello", 1), db="admin")["ok"] == 1
            elif state != "silent":
                wire.send(data[:10] if state == "in a header" else data[:30])
            wires.append(wire)
    attacked.health()
    grown = attacked.server.rss() - before
    assert grown < MANY * PER_CONNECTION, f"{grown // MANY} bytes for each of {MANY} connections"
    counted(attacked, MANY)
    if state.startswith("in a"):
        for wire in wires[:: max(1, MANY // 100)]:
            wire.send(data[10 if state == "in a header" else 30 :])
            assert wire.reply()["ok"] == 1
    for i, wire in enumerate(wires):
        wire.leave(i)
    settled(attacked, others)


def test_out_of_descriptors(attacked):
    crowd.more_than_descriptors(attacked, msg(PING), lambda reply: reply["ok"] == 1)


def test_a_flood_of_bad_messages_is_no_flood_of_lines(attacked):
    bad = [frame(OP_MSG, b"\xff\xff\0\0"), b"\xff" * 16]
    crowd.vandals(attacked, (bad[i % 2] for i in range(2000)))


def test_a_storm_of_requests_on_one_connection(attacked, wire):
    """10,000 requests, a hundred at a time before the first reply is read."""
    with attacked.undisturbed():
        wire.socket.settimeout(20)
        received = 0
        for _ in range(100):
            wire.send(msg(PING) * 100)
            for _ in range(100):
                ok_or_error(wire.reply(within=5))
                received += 1
    assert received == 10_000


@pytest.mark.real_clock
def test_messages_have_a_deadline(attacked, torture):
    """A message that has begun must be completed within about a minute, or its connection is closed
    (long run only: the ordinary one checks only that the server waits)."""
    starts = [
        msg(PING)[:1],
        msg(PING)[:15],
        msg(PING)[:16],
        msg(PING)[:30],
        struct.pack("<iiii", LARGEST_MESSAGE, 1, 0, OP_MSG),
    ]
    crowd.slow(
        attacked, starts, 75 if torture else None, lambda wire, left: wire.frame(left) is None
    )


def test_exhaust_to_a_client_that_leaves(attacked, wire):
    """A stream of batches ends with its reader."""
    rows = [{"_id": i, "x": "x" * 1000} for i in range(5000)]
    wire.ask(msg(command(("insert", "stream")), sequence("documents", rows)), within=10)
    for _ in range(20):
        with attacked.wire() as other:
            id_ = other.run(("find", "stream"), batchSize=1)["cursor"]["id"]
            other.send(
                msg(
                    command(("getMore", bson.Int64(id_)), collection="stream", batchSize=1),
                    flags=1 << 16,
                )
            )
            assert other.reply()["ok"] == 1
            other.reset()
    attacked.health()
    wire.run(("drop", "stream"))
