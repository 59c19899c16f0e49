"""Random histories of writes, defaults, clock moves, restarts and reaps against the model.

After each step what lives is compared by several paths, and after some both feeds: from the
beginning, and from places that were kept, in pages. HISTORIES says how many (default 20; 200 with
--torture), SEED where they begin; a failure names its seed and its steps.
"""

import os
import random

import pytest

from lib.ahead import ahead
from lib.seed import SEED, TORTURE
from nosql.pair import Pair

COUNT = int(os.environ.get("HISTORIES", 200 if TORTURE else 20))
STEPS = 60
IDS = [f"id{i}{pk}" for i in range(5) for pk in "ab"]
DEFAULTS = ["off", -1, 3, 10, 30]


class History:
    """One seed's walk. Steps are kept as text for the report."""

    def __init__(self, seed):
        self.random = random.Random(f"{seed} items")
        self.steps = []
        self.seed = seed

    def run(self):
        disk, pad = self.seed % 3 != 0, self.seed % 2 == 0
        with Pair(disk, pad=pad, versions=self.seed % 5 != 0) as self.pair:
            try:
                for _ in range(STEPS):
                    self.step()
                    self.pair.check()
                    if self.random.random() < 0.3:
                        self.look()
                self.look()
                self.pair.end()
            except Exception as error:
                story = "\n".join(self.steps)
                raise AssertionError(f"seed {self.seed}: {error!r} after\n{story}") from error

    def look(self):
        self.pair.check_items(self.random.sample(IDS, 4))
        self.pair.check_feeds(self.random.choice)

    def step(self):
        choices = {
            self.insert: 20, self.change: 14, self.replace: 12, self.delete: 4, self.batch: 6,
            self.move: 24, self.default: 10, self.reap: 3, self.restart: 3,
        }
        [chosen] = self.random.choices(list(choices), choices.values())
        chosen()

    def say(self, *what):
        self.steps.append(" ".join(map(str, what)))

    def body(self):
        body = {"n": self.random.randrange(100)}
        if self.random.random() < 0.6:
            body["ttl"] = self.random.choice([-1, 1, 5, 10, 12, 20, 20, 0, "5", 2.5])
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
        if "ttl" not in body and self.random.random() < 0.3:
            body["ttl"] = None
        self.say("change", id, body)
        self.pair.change(id, body)

    def delete(self):
        id = self.random.choice(IDS)
        self.say("delete", id)
        self.pair.delete(id)

    def batch(self):
        ids, body = self.random.sample(IDS, 4), self.body()
        kind = self.random.choice(["Create", "Upsert"])
        self.say("batch", kind, ids, body)
        self.pair.batch(ids, body, kind)

    def move(self):
        ms = self.random.choice([1, 500, 999, 1_000, 1_001, 2_500, 5_000, 9_999, 20_000])
        self.say("move", ms)
        self.pair.move(ms)

    def default(self):
        value = self.random.choice(DEFAULTS)
        self.say("default", value)
        self.pair.default(value)

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


@pytest.mark.parametrize("seed", range(SEED, SEED + COUNT))
def test_history(histories, seed):
    histories(seed)
