"""A full disk refuses writes with a clear error while reads and deletes continue, is reported
within a second, and accepts writes soon after it has free space, without restart and loss."""

import os
import time

import pytest
from lib.seed import TORTURE
from lib.server import Server

from faults.disk import Disk
from faults.ledger import Writers, lines, metrics

#: Writes before the disk is full, bytes left for the writers to fill, and bytes of the documents
#: that they fill it with.
BEFORE, LEFT, LARGE = 200, 40 << 20, 50_000
#: How often the disk is filled in the test that repeats it.
ROUNDS = int(os.environ.get("ROUNDS", 200 if TORTURE else 3))
#: Bytes left for the writers, if it does not matter who fills the disk.
LITTLE = 3 << 20
MEGABYTES = 320
#: Seconds within which an error is reported, space is used again, and a stop ends.
KNOWN, HEALED, STOPPED = 1.0, 5.0, 10.0


@pytest.fixture
def disk():
    with Disk(MEGABYTES) as disk:
        yield disk


def begun(server):
    """Returns writers that have written."""
    writers = Writers(server)
    writers.make()
    for _ in range(BEFORE):
        assert all(writers.write()), writers.wrong
    return writers


def waits(condition, within):
    """Returns whether a condition becomes true in time."""
    until = time.monotonic() + within
    while not (held := condition()) and time.monotonic() < until:
        time.sleep(0.02)
    return held


def end(server, writers):
    """Checks that the server stops in time, and its data before and after a restart."""
    began = time.monotonic()
    writers.close()
    code = server.stop(within=STOPPED + 20)
    took = time.monotonic() - began
    assert code == 0 and took < STOPPED, f"SIGTERM: exit {code} after {took:.1f} s"
    server.sound()
    server.start()
    writers.connect()
    assert writers.compare() == []
    writers.close()


def test_a_full_disk(disk):
    problems = []
    with Server(data_dir=disk.path / "data", nosql=True) as server:
        writers = begun(server)
        assert server.ready()[0] == 200
        before = metrics(server)
        writers.size = LARGE
        disk.fill(LEFT)
        first = writers.write_until_refused()
        if not waits(lambda: server.ready()[0] == 503, KNOWN - (time.monotonic() - first)):
            problems.append(f"/readyz is {server.ready()} on a full disk")
        elif "disk" not in server.ready()[1] and "space" not in server.ready()[1]:
            problems.append(f"/readyz does not say why: {server.ready()}")
        if metrics(server) == before:
            problems.append(f"no metric about the store has changed: {sorted(before)[:5]}")
        if not waits(lambda: lines(server), KNOWN):
            problems.append("the log says nothing of it")
        # Data can be read and deleted, also when another process uses up the free space.
        for whom in ("the server", "others"):
            problems += writers.compare()
            if stuck := writers.remove(50):
                problems.append(
                    f"{len(stuck)} of 100 could not be deleted on a disk that {whom} had "
                    f"filled: {stuck[0]}"
                )
            disk.fill()
        if any(writers.write()):
            problems.append("a write was taken where there is no room")
        problems += writers.wrong[:3]
        disk.empty()
        try:
            writers.heal(HEALED)
        except AssertionError as failure:
            problems.append(str(failure))
        if not waits(lambda: server.ready()[0] == 200, 2):
            problems.append(f"then /readyz is {server.ready()}")
        problems += writers.compare()
        try:
            end(server, writers)
        except AssertionError as failure:
            problems.append(str(failure))
    assert not problems, "\n".join(problems)


def test_again_and_again(disk, report):
    """The disk is filled and emptied in turn, with deletes; all replies are correct."""
    slowest = 0.0
    with Server(data_dir=disk.path / "data", nosql=True) as server:
        writers = begun(server)
        for round in range(ROUNDS):
            disk.fill(LITTLE)
            writers.write_until_refused()
            disk.fill()
            writers.remove(10)
            disk.empty()
            took = writers.heal(HEALED)
            slowest = max(slowest, took)
            assert writers.compare() == [], f"round {round}, healed after {took:.1f} s"
        assert not writers.wrong, writers.wrong[:3]
        end(server, writers)
    report("F8", ROUNDS, "full disks", slowest_to_heal=f"{slowest:.1f} s")


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_an_end_on_a_full_disk(disk, how):
    """The server stops although it cannot write; acknowledged data is present once there is space
    again."""
    with Server(data_dir=disk.path / "data", nosql=True) as server:
        writers = begun(server)
        disk.fill(LITTLE)
        writers.write_until_refused()
        disk.fill()
        writers.close()
        began = time.monotonic()
        if how == "kill":
            server.kill()
        else:
            code = server.stop(within=STOPPED + 5)
            took = time.monotonic() - began
            assert code in (0, 1) and took < STOPPED, f"SIGTERM: exit {code} after {took:.1f} s"
        disk.empty()
        server.start()
        writers.connect()
        assert writers.compare() == []
        assert all(writers.write()), writers.wrong
        writers.close()
        server.end()


def test_a_start_on_a_full_disk(disk):
    """It serves its data or refuses with the reason; it damages nothing."""
    with Server(data_dir=disk.path / "data", nosql=True) as server:
        writers = begun(server)
        writers.close()
        server.leave()
        disk.fill()
        try:
            server.start()
        except AssertionError as failure:
            assert server.process.wait(10) in (1, 3), failure
            assert "space" in str(failure).lower(), failure
        else:
            writers.connect()
            assert writers.compare() == []
            writers.close()
            assert server.stop(within=STOPPED) in (0, 1)
        disk.empty()
        server.start()
        writers.connect()
        assert writers.compare() == []
        writers.close()
        server.end()
