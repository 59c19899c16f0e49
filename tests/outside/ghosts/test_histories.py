"""Random histories of writes, rules, clock moves, restarts and reaps against the model.

HISTORIES says how many (default 12; 200 with --torture), SEED where they begin; a failure names its
seed and its steps.
"""

import os
import random

import pytest

from ghosts.pair import Pair
from lib.ahead import ahead
from lib.seed import SEED, TORTURE
from lib.server import date

COUNT = int(os.environ.get("HISTORIES", 200 if TORTURE else 12))
FIRST = SEED
STEPS = 120
IDS = [f"id{i}" for i in range(12)]
DEFAULTS = ["off", -1, 3, 10, 30]
#: name: (field, partial, hidden)
RULES = {"at_1": ("at", False, False), "b_1": ("b", True, False), "c_1": ("c", False, True)}


class History:
    """One seed's walk. Steps are kept as text for the report."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.steps = []
        self.seed = seed

    def run(self):
        with Pair(data_dir=self.seed % 3 != 0, pad=self.seed % 2 == 0) as self.pair:
            try:
                for _ in range(STEPS):
                    self.step()
                    self.pair.check()
                self.pair.end()
            except Exception as error:
                story = "\n".join(self.steps)
                raise AssertionError(f"seed {self.seed}: {error!r} after\n{story}") from error

    def step(self):
        choices = {
            self.insert: 24, self.change: 14, self.replace: 8, self.delete: 3, self.renew: 2,
            self.move: 24, self.default: 10, self.rule: 12, self.reap: 3, self.restart: 2,
        }
        [chosen] = self.random.choices(list(choices), choices.values())
        chosen()

    def say(self, *what):
        self.steps.append(" ".join(map(str, what)))

    def when(self):
        return date(self.pair.model.now + self.random.choice([
            -100_000, -10_000, -3_000, -1, 0, 1, 999, 5_000, 9_999, 30_000]))

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

    def insert(self):
        id, body = self.random.choice(IDS), self.body()
        self.say("insert", id, body)
        self.pair.insert(id, body)

    def replace(self):
        id, body, upsert = self.random.choice(IDS), self.body(), self.random.random() < 0.5
        self.say("replace", id, body, "upsert" if upsert else "")
        self.pair.replace(id, body, upsert)

    def change(self):
        id, body = self.random.choice(IDS), self.body()
        for field in ("ttl", "at", "b", "p"):
            if field not in body and self.random.random() < 0.2:
                body[field] = None
        self.say("change", id, body)
        self.pair.change(id, body)

    def delete(self):
        id = self.random.choice(IDS)
        self.say("delete", id)
        self.pair.delete(id)

    def renew(self):
        self.say("renew all")
        self.pair.renew_all()

    def move(self):
        ms = self.random.choice([1, 500, 999, 1_000, 1_001, 2_500, 5_000, 9_999, 20_000])
        self.say("move", ms)
        self.pair.move(ms)

    def default(self):
        value = self.random.choice(DEFAULTS)
        self.say("default", value)
        self.pair.default(value)

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

    def reap(self):
        self.say("reap")
        self.pair.reap()

    def restart(self):
        if self.pair.server.data_dir:
            how = self.random.choice(["restart", "crash", "reap_and_restart"])
            self.say(how)
            getattr(self.pair, how)()


@pytest.fixture(scope="module")
def histories(request):
    with ahead(request, lambda seed: History(seed).run(), "seed") as result:
        yield result


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_history(histories, seed):
    histories(seed)
