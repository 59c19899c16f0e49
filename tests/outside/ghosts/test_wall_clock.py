"""Steps of the machine's wall clock, which tests make by a file that the server adds to it: small
ones are followed, large ones wait for somebody to accept them, and time never goes back, over
restarts neither. What a step makes die is gone with it, and what it does not is there."""

import json
import pathlib
import time
import urllib.request

import pytest
from lib.server import Server

SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
#: Seconds within which a step is followed: the clock is compared twice a second.
FOLLOWED = 10.0
#: Milliseconds that a comparison of two readings may be off on a busy machine.
ROUGHLY = 20_000
#: Lives of documents, seconds; `None`: for ever.
LIVES = {"short": 25, "long": 1_800, "ever": None}


class Walled:
    """A server on the machine's clock, whose wall clock a test moves."""

    def __init__(self, server, file):
        self.server, self.file = server, file

    def move(self, ms):
        """The wall clock is off by so much from now on; the file is never half written."""
        beside = self.file.with_suffix(".new")
        beside.write_text(str(ms))
        beside.rename(self.file)

    def off(self):
        """How far database time is from the wall clock of the machine as it really is."""
        return self.server.now_ms() - time.time() * 1000

    def reaches(self, off, within=FOLLOWED):
        """Whether database time comes to be about so far off."""
        until = time.monotonic() + within
        while abs(self.off() - off) > ROUGHLY:
            if until < time.monotonic():
                return False
            time.sleep(0.05)
        return True

    def status(self):
        with urllib.request.urlopen(f"{self.server.admin_url}/status", timeout=10) as reply:
            return json.loads(reply.read())["clock"]

    def waits(self, within=FOLLOWED):
        """Whether a step comes to wait for acceptance."""
        until = time.monotonic() + within
        while not self.status()["unconfirmed"]:
            if until < time.monotonic():
                return False
            time.sleep(0.05)
        return True

    def fill(self):
        found = self.server.client.db.c
        found.create_index("_ts", expireAfterSeconds=100_000)
        found.insert_many(
            [{"_id": name, **({} if ttl is None else {"ttl": ttl})} for name, ttl in LIVES.items()]
        )

    def alive(self):
        return {row["_id"] for row in self.server.client.db.c.find()}


@pytest.fixture
def walled(tmp_path):
    file = pathlib.Path(tmp_path) / "wall"
    file.write_text("0")
    with Server(data_dir=True, clock="system", flags=["--test-wall", str(file)]) as server:
        walled = Walled(server, file)
        walled.fill()
        yield walled
        server.end()


def test_a_small_step_forward_is_followed(walled):
    assert walled.alive() == set(LIVES)
    walled.move(30 * SECOND)
    assert walled.reaches(30 * SECOND)
    assert walled.alive() == {"long", "ever"}
    assert not walled.status()["unconfirmed"]
    # No more than a minute in ten: the next one waits.
    walled.move(80 * SECOND)
    assert walled.waits()
    assert abs(walled.off() - 30 * SECOND) < ROUGHLY


def test_a_large_step_waits_until_it_is_accepted(walled):
    walled.move(HOUR)
    assert walled.waits()
    assert abs(walled.off()) < ROUGHLY
    assert walled.alive() >= {"long", "ever"}
    assert walled.server.admin("/_ebb/clock/accept", {}) is not None
    assert walled.reaches(HOUR)
    assert walled.alive() == {"ever"}
    assert not walled.status()["unconfirmed"]


def test_a_large_step_that_is_taken_back_leaves_no_trace(walled):
    walled.move(HOUR)
    assert walled.waits()
    walled.move(0)
    until = time.monotonic() + FOLLOWED
    while walled.status()["unconfirmed"]:
        assert time.monotonic() < until, "it still waits"
        time.sleep(0.05)
    assert abs(walled.off()) < ROUGHLY
    assert walled.alive() >= {"long", "ever"}


@pytest.mark.parametrize("step", [-30 * SECOND, -HOUR])
def test_time_does_not_go_back(walled, step):
    before = walled.server.now_ms()
    walled.move(step)
    last = before
    until = time.monotonic() + 2
    while time.monotonic() < until:
        now = walled.server.now_ms()
        assert last <= now
        last = now
        time.sleep(0.02)
    assert before + SECOND <= last, "time stands still"
    assert abs(walled.off()) < ROUGHLY
    written = walled.server.client.db.c
    written.insert_one({"_id": "later", "ttl": 1_800})
    walled.server.restart()
    assert last <= walled.server.now_ms()
    assert abs(walled.off()) < ROUGHLY
    assert walled.alive() >= {"long", "ever", "later"}


def test_a_step_while_the_server_is_away_waits_too(walled):
    walled.server.leave()
    walled.move(HOUR)
    walled.server.start()
    assert walled.waits()
    assert abs(walled.off()) < ROUGHLY
    assert walled.alive() >= {"long", "ever"}
    walled.server.kill()
    walled.server.start()
    assert walled.waits()
    walled.server.admin("/_ebb/clock/accept", {})
    assert walled.reaches(HOUR)
    assert walled.alive() == {"ever"}
    # What a step has killed stays dead when the clock is set right again.
    walled.move(0)
    walled.server.restart()
    assert abs(walled.off() - HOUR) < ROUGHLY
    assert walled.alive() == {"ever"}
