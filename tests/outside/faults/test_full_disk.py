"""A full disk refuses writes by name while reads and deletes go on, says so within a second, and
takes writes again soon after it has room, without a restart and without a loss."""

import os
import time

import pytest
from lib.seed import TORTURE
from lib.server import Server

from faults.disk import Disk
from faults.ledger import Writers, lines, metrics

#: What is there before the disk is full, what room is left for the writers to fill, and how
#: large is what they fill it with.
BEFORE, LEFT, LARGE = 200, 40 << 20, 50_000
#: How often it is filled, where that is done again and again.
ROUNDS = int(os.environ.get("ROUNDS", 200 if TORTURE else 3))
#: Where it does not matter who fills it.
LITTLE = 3 << 20
MEGABYTES = 320
#: Seconds within which an error is known, room is used, and a stop ends.
KNOWN, HEALED, STOPPED = 1.0, 5.0, 10.0


@pytest.fixture
def disk():
    with Disk(MEGABYTES) as disk:
        yield disk


def begun(server):
    """Writers that have written."""
    writers = Writers(server)
    writers.make()
    for _ in range(BEFORE):
        assert all(writers.write()), writers.wrong
    return writers


def waits(condition, within):
    """Whether it becomes true in time."""
    until = time.monotonic() + within
    while not (held := condition()) and time.monotonic() < until:
        time.sleep(0.02)
    return held


def end(server, writers):
    """A stop in time, a directory that is whole, and after a restart the same as before."""
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
        # What is there can be read, and can be removed: also when others take the last of the room.
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
    """Full and empty in turn, with deletes in between; each time what was told is true."""
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
    """SIGTERM ends although nothing can be written; what was acknowledged is there with room
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
    """It serves what is there, or refuses with the reason; it harms nothing."""
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
