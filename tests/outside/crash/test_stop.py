"""SIGTERM and SIGINT under load: exit code 0 within 10 s, and no acknowledged write is lost."""

import os
import signal
import socket
import time

import pytest
from lib.seed import SEED, TORTURE
from lib.server import Server
from pymongo.errors import OperationFailure

from crash.load import Load

#: Number of stops under load, for each of the two clocks.
ROUNDS = -(-int(os.environ.get("ROUNDS", 200 if TORTURE else 2)) // 2)


@pytest.mark.parametrize(("clock", "signal_name"), [("system", "SIGTERM"), ("manual", "SIGINT")])
def test_stop_under_load(clock, signal_name, report):
    """Requests in progress are completed or refused, and `compare` knows which: a write whose reply
    reports success is present, a refused one is not, and only one without a reply may be either."""
    took, starts = [], []
    with Server(data_dir=True, clock=clock, nosql=True) as server:

        def end():
            # Closing it later would wait for a server that no longer runs.
            server.client.close()
            began = time.monotonic()
            server.process.send_signal(getattr(signal, signal_name))
            assert server.process.wait(10) == 0
            took.append(time.monotonic() - began)

        load = Load(server)
        for round in range(ROUNDS):
            load.round(end)
            began = time.monotonic()
            server.start()
            starts.append(time.monotonic() - began)
            assert load.compare() == [], f"SEED={SEED}, round {round}"
        server.end()
    report(
        "F22",
        ROUNDS,
        f"{signal_name} under load",
        seed=SEED,
        acknowledged=load.acks() + load.item_acks(),
        slowest_end=f"{max(took):.1f} s",
        slowest_start=f"{max(starts):.1f} s",
    )
    assert max(took) < 10
    assert load.acks() > 5
    assert load.item_acks() > 5


def test_stop_beside_idle_and_half_open_clients():
    with Server(data_dir=True, clock="system") as server:
        idle = [socket.create_connection(server.address) for _ in range(50)]
        for one in idle[:25]:
            one.sendall(b"\x40\x00\x00")
        began = time.monotonic()
        assert server.stop(within=12) == 0
        assert time.monotonic() - began < 10


def test_stop_twice_is_no_failure():
    with Server(data_dir=True, clock="system") as server:
        server.client["a"]["a"].insert_one({"_id": 1})
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(10) == 0
        server.start()
        assert server.client["a"]["a"].find_one() == {"_id": 1}


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_the_same_instant_shows_after_a_restart(end):
    with Server(data_dir=True) as server:
        server.advance(1234)
        before = server.now_ms()
        getattr(server, end)()
        server.start()
        assert server.now_ms() == before
        with pytest.raises(OperationFailure):
            server.move_to(before - 1)
        assert server.now_ms() == before
