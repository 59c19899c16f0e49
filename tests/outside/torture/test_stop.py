"""SIGTERM and SIGINT under load: exit 0 within 10 s, and nothing acknowledged is lost."""

import signal
import time

import pytest

from lib.server import Server
from torture.check import compare
from torture.test_kill import sound, wait_for_the_end
from torture.workload import WRITERS, Writer, build


@pytest.mark.parametrize("signal_name", ["SIGTERM", "SIGINT"])
def test_stop_under_load(signal_name):
    with Server(data_dir=True, clock="system") as server:
        build(server.client)
        writers = [Writer(number, 7) for number in range(WRITERS)]
        for round in range(3):
            for writer in writers:
                writer.attach(server.address)
            time.sleep(0.5)
            began = time.monotonic()
            server.process.send_signal(getattr(signal, signal_name))
            assert server.process.wait(10) == 0
            assert time.monotonic() - began < 10
            stopped = time.time()
            server.client.close()
            wait_for_the_end(writers)
            sound(server, f"round {round}")
            server.start()
            assert compare(server.client["torture"], writers, stopped) == []


def test_stop_beside_idle_and_half_open_clients():
    import socket

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
