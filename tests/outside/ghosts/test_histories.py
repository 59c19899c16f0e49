"""Random histories of writes, TTL settings, clock moves, restarts and reaping against the model.
HISTORIES is their number (default 12; 200 with --torture), SEED seeds them; a failure names its
seed and its steps.
"""

import os

import pytest
from lib import history, prefetch
from lib.seed import SEED, TORTURE
from lib.server import date

from ghosts.pair import Pair

COUNT = int(os.environ.get("HISTORIES", 200 if TORTURE else 12))
#: name: (field, partial, hidden)
RULES = {"at_1": ("at", False, False), "b_1": ("b", True, False), "c_1": ("c", False, True)}


class History(history.History):
    """A random history of documents and TTL settings from one seed."""

    STEPS = 120
    IDS = tuple(f"id{i}" for i in range(12))

    def begin(self):
        return Pair(data_dir=self.seed % 3 != 0, pad=self.seed % 2 == 0)

    def weights(self):
        return {
            self.insert: 24,
            self.change: 14,
            self.replace: 8,
            self.delete: 3,
            self.renew: 2,
            self.move: 24,
            self.default: 10,
            self.rule: 12,
            self.reap: 3,
            self.restart: 2,
        }

    def when(self):
        return date(
            self.pair.model.now
            + self.random.choice([-100_000, -10_000, -3_000, -1, 0, 1, 999, 5_000, 9_999, 30_000])
        )

    def body(self):
        body = {}
        if self.random.random() < 0.5:
            body["ttl"] = self.random.choice([-1, 1, 5, 12, 20, 20.5, 0, "5", 10.0])
            if body["ttl"] == 10.0:
                body["ttl"] = 10
        for field in "abc":
            if self.random.random() < 0.3:
                dates = [self.when() for _ in range(self.random.choice([1, 1, 2]))]
                name = {"a": "at"}.get(field, field)
                body[name] = dates[0] if len(dates) == 1 else [*dates, "x"]
        if self.random.random() < 0.5:
            body["p"] = self.random.random() < 0.7
        return body

    def dropped(self, body):
        fields = [field for field in ("ttl", "at", "b", "p") if field not in body]
        return [field for field in fields if self.random.random() < 0.2]

    def renew(self):
        self.say("renew all")
        self.pair.renew_all()

    def reap(self):
        self.pair.end_second()
        super().reap()

    def restart(self):
        # A restart may wait for the reaper first.
        self.pair.end_second()
        super().restart()

    def rule(self):
        name = self.random.choice(list(RULES))
        field, partial, hidden = RULES[name]
        if self.random.random() < 0.3:
            self.say("drop", name)
            self.pair.rule(name)
            return
        known = name in self.pair.model.rules
        seconds = self.random.choice([0, 5, 10, 100, 1_000] + ([] if known else [None]))
        self.say("rule", name, seconds)
        self.pair.rule(name, field, seconds, partial, hidden)


histories = prefetch.fixture(lambda seed: History(seed).run(), "seed")


@pytest.mark.parametrize("seed", range(SEED, SEED + COUNT))
def test_history(histories, seed):
    histories(seed)
