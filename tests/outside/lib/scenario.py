"""Scenarios: tables of steps, with disturbances of the server between them.

Each is played once undisturbed and once with random disturbances, chosen by SEED, after about half
of its steps; with TORTURE also with each disturbance after all steps, and after each single one.
"""

import random

import pytest

from lib import prefetch
from lib.seed import SEED, TORTURE

#: Disturbances that may follow a step; `None` is no disturbance.
DISTURB = ("restart", "crash", "reap", "reap_and_restart")


def step(method, *args, **more):
    return lambda pair: getattr(pair, method)(*args, **more)


def default(value):
    return step("default", value)


def move(seconds):
    return step("move", round(seconds * 1000))


def mortal(pair):
    """Inserts documents that expire by the default, by their own ttl, never, and late."""
    pair.insert("inherit", {})
    pair.insert("ttl", {"ttl": 10})
    pair.insert("pinned", {"ttl": -1})
    pair.insert("long", {"ttl": 100})


class Scenarios:
    """`table[name]` is a list of steps and the ids that are live at the end. Afterwards each of
    `ids` is inserted again. `look(pair, rng)` makes further comparisons at the end of a scenario.
    """

    def __init__(self, table, pair, ids, salt="", look=lambda pair, rng: None):
        self.table, self.pair, self.ids, self.salt, self.look = table, pair, ids, salt, look
        longest = max(len(steps) for steps, _ in table.values())
        self.plans = ["dealt"]
        if TORTURE:
            self.plans += [f"{what} always" for what in DISTURB]
            self.plans += [
                f"{what} {at}" for what in ("crash", "reap_and_restart") for at in range(longest)
            ]

    def play(self, name, disturb, disk):
        """Plays a scenario; `disturb` has the disturbance after each step."""
        steps, expect = self.table[name]
        rng = random.Random(f"{SEED} {name}")
        with self.pair(data_dir=disk, pad=True) as pair:
            for one, then in zip(steps, disturb, strict=True):
                one(pair)
                if then:
                    getattr(pair, then)()
                pair.check()
            self.look(pair, rng)
            assert set(pair.model.live) == expect, "the model disagrees with the table"
            for id in self.ids:
                # An expired document releases its unique keys, a live one keeps them.
                pair.insert(id, {"ttl": -1})
            pair.check()
            self.look(pair, rng)
            pair.end()

    def disturbances(self, name, plan):
        """Returns the disturbance after each step, or None where the plan has none."""
        count = len(self.table[name][0])
        if plan == "dealt":
            rng = random.Random(f"{SEED} {self.salt}{name}")
            chosen = [rng.choice([*DISTURB, None, None, None]) for _ in range(count)]
            return chosen if any(chosen) else ["reap_and_restart"] * count
        what, where = plan.split()
        return [what if where in ("always", str(at)) else None for at in range(count)]

    def disturbed(self, name, plan):
        disturb = self.disturbances(name, plan)
        if any(disturb):
            try:
                self.play(name, disturb, True)
            except AssertionError as error:
                raise AssertionError(f"{error}, with {disturb}, SEED={SEED}") from error

    def undisturbed(self, name):
        self.play(name, [None] * len(self.table[name][0]), False)

    def tests(self):
        """Returns what a module binds to `disturbed`, `test_disturbed` and `test_undisturbed`."""

        @pytest.mark.parametrize("plan", self.plans)
        @pytest.mark.parametrize("history", self.table)
        def in_disturbance(disturbed, history, plan):
            disturbed(history, plan)

        @pytest.mark.parametrize("history", self.table)
        def in_peace(history):
            self.undisturbed(history)

        return prefetch.fixture(self.disturbed, "history", "plan"), in_disturbance, in_peace
