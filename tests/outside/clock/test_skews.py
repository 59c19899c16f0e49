"""SIGKILL under a wall clock with four kinds of errors, sometimes with a reboot, and with steps
that an operator accepts: database time and `_ts` never decrease, acknowledged data is present until
its deadline by database time and never after. ROUNDS is the number of rounds (default 40; 400 with
--torture), SEED seeds them.
"""

import contextlib
import os
import random
import threading
import time
from http.client import HTTPException

import pytest
from lib.prefetch import prefetched
from lib.seed import SEED, TORTURE
from pymongo.errors import PyMongoError

from clock.boots import reboot
from clock.skews import SKEWS
from clock.walled import REAPS, Walled

pytestmark = pytest.mark.real_clock

ROUNDS = -(-int(os.environ.get("ROUNDS", 400 if TORTURE else 40)) // len(SKEWS))
#: Seconds of the writes of a round, and their minimum number, for busy machines.
WRITES, LEAST = 0.4, 4
TTLS = [1, 1, 2, 5, 3_600, None]


class Rounds:
    """Rounds on one server. Documents are recorded with the second until which they are certainly
    live, and the one from which they have certainly expired; `None`: they never expire."""

    def __init__(self, walled, kind):
        self.walled, self.kind = walled, kind
        self.choose = random.Random(f"{SEED} {kind}")
        self.documents, self.items = {}, {}
        self.next = self.accepted = self.reboots = self.last_ts = 0
        self.began = time.monotonic()
        self.begin_skew()

    def begin_skew(self):
        self.offset = SKEWS[self.kind](self.choose.random())
        self.skew_began = time.monotonic()

    def skew(self, over):
        """Moves the wall clock until the end of a round."""
        while not over.wait(0.05):
            self.walled.move(round(self.offset(time.monotonic() - self.skew_began)))

    def write(self):
        """Writes one document and one item, both acknowledged."""
        self.next += 1
        ttl = self.choose.choice(TTLS)
        own = {} if ttl is None else {"ttl": ttl}
        before = self.walled.now()
        self.walled.server.client.db.c.insert_one({"_id": self.next, **own})
        after = self.walled.now()
        span = None if ttl is None else (before // 1000 + ttl, after // 1000 + ttl)
        self.documents[self.next] = span
        made = self.walled.items.create({"id": str(self.next), "pk": "a", **own})
        assert made.status == 201, made
        ts = made.json["_ts"]
        assert self.last_ts <= ts, f"_ts went back from {self.last_ts} to {ts}"
        self.last_ts = ts
        self.items[str(self.next)] = None if ttl is None else (ts + ttl, ts + ttl)

    def round(self):
        over = threading.Event()
        skewing = threading.Thread(target=self.skew, args=[over])
        skewing.start()
        try:
            until, least = time.monotonic() + WRITES, self.next + LEAST
            while time.monotonic() < until or self.next < least:
                self.write()
            if self.choose.random() < 0.3 and self.walled.clock()["unconfirmed"]:
                self.walled.accept()
                self.accepted += 1
                self.write()
            self.kill_while_writing()
        finally:
            over.set()
            skewing.join()
        if self.choose.random() < 0.3:
            reboot(self.walled.server.data_dir)
            self.reboots += 1
        if self.choose.random() < 0.3:
            self.begin_skew()
        self.walled.server.start()
        self.compare()

    def kill_while_writing(self):
        """Kills the server during a write, whose outcome is then unknown."""
        self.next += 1
        unknown = {"_id": self.next, "ttl": 1}
        write = threading.Thread(target=self.unknown, args=[self.walled.server.client, unknown])
        write.start()
        self.walled.server.kill()
        write.join()

    @staticmethod
    def unknown(client, document):
        with contextlib.suppress(PyMongoError, OSError, HTTPException):
            client.db.c.insert_one(document)

    def compare(self):
        """Checks that all live data is present, and no expired data."""
        database = self.walled.server.client.db
        for kept, found in (
            (self.documents, lambda: {row["_id"] for row in database.c.find()}),
            (self.items, lambda: set(self.walled.items.rows("SELECT VALUE c.id FROM c"))),
        ):
            before = self.walled.now()
            there = found()
            after = self.walled.now()
            for id, span in kept.items():
                if span is None or after < span[0] * 1000:
                    assert id in there, f"{id} is lost ({span}, {before}, {after})"
                if span is not None and span[1] * 1000 <= before:
                    assert id not in there, f"{id} is a ghost ({span}, {before}, {after})"


def run(kind, home):
    with Walled(home, REAPS) as walled:
        walled.fill({"ever": None})
        walled.server.client.db.c.delete_many({})
        walled.items.delete("ever 0", "a")
        rounds = Rounds(walled, kind)
        for number in range(ROUNDS):
            try:
                rounds.round()
            except AssertionError as error:
                raise AssertionError(f"SEED={SEED}, {kind}, round {number}: {error}") from error
        walled.server.end()
        return rounds


@pytest.fixture(scope="module")
def ran(request, tmp_path_factory):
    home = lambda kind: tmp_path_factory.mktemp(kind)  # noqa: E731
    with prefetched(request, lambda kind: run(kind, home(kind)), "kind") as result:
        yield result


@pytest.mark.parametrize("kind", SKEWS)
def test_crashes_under_a_wrong_wall_clock(ran, kind, capsys):
    rounds = ran(kind)
    assert len(rounds.documents) > 3 * ROUNDS, "hardly any load"
    with capsys.disabled():
        print(
            f"\n{kind}: {ROUNDS} rounds, {len(rounds.documents)} documents and items "
            f"acknowledged, {rounds.reboots} reboots, {rounds.accepted} steps accepted"
        )
