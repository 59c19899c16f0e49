"""Random histories of writes, default TTLs, clock moves, restarts and reaping against the model.
After each step the live items are compared by several paths, and after some both feeds: from the
start, and from recorded positions, in pages. HISTORIES is their number (default 20; 200 with
--torture), SEED seeds them; a failure names its seed and its steps.
"""

import os

import pytest
from lib import history, prefetch
from lib.seed import SEED, TORTURE

from nosql.pair import Pair

COUNT = int(os.environ.get("HISTORIES", 200 if TORTURE else 20))


class History(history.History):
    """A random history of items and their default TTL from one seed."""

    STEPS = 60
    IDS = tuple(f"id{i}{pk}" for i in range(5) for pk in "ab")

    def begin(self):
        disk, pad = self.seed % 3 != 0, self.seed % 2 == 0
        return Pair(disk, pad=pad, versions=self.seed % 5 != 0)

    def weights(self):
        return {
            self.insert: 20,
            self.change: 14,
            self.replace: 12,
            self.delete: 4,
            self.batch: 6,
            self.move: 24,
            self.default: 10,
            self.reap: 3,
            self.restart: 3,
        }

    def look(self):
        if self.random.random() < 0.3:
            self.end()

    def end(self):
        self.pair.check_items(self.random.sample(self.IDS, 4))
        self.pair.check_feeds(self.random.choice)

    def body(self):
        body = {"n": self.random.randrange(100)}
        if self.random.random() < 0.6:
            body["ttl"] = self.random.choice([-1, 1, 5, 10, 12, 20, 20, 0, "5", 2.5])
        return body

    def dropped(self, body):
        return ["ttl"] if "ttl" not in body and self.random.random() < 0.3 else []

    def batch(self):
        ids, body = self.random.sample(self.IDS, 4), self.body()
        kind = self.random.choice(["Create", "Upsert"])
        self.say("batch", kind, ids, body)
        self.pair.batch(ids, body, kind)


histories = prefetch.fixture(lambda seed: History(seed, "items").run(), "seed")


@pytest.mark.parametrize("seed", range(SEED, SEED + COUNT))
def test_history(histories, seed):
    histories(seed)
