"""A random history from one seed: writes, TTL setting changes, clock moves, restarts and
reaping."""

import random

from lib.random_choice import weighted

DEFAULTS = ["off", -1, 3, 10, 30]
MOVES = [1, 500, 999, 1_000, 1_001, 2_500, 5_000, 9_999, 20_000]


class History:
    """Takes `STEPS` random steps on documents `IDS`. The steps are recorded as text for the
    report."""

    def __init__(self, seed, salt=None):
        self.random = random.Random(seed if salt is None else f"{seed} {salt}")
        self.steps = []
        self.seed = seed

    def run(self):
        with self.begin() as self.pair:
            try:
                for _ in range(self.STEPS):
                    weighted(self.random, self.weights())()
                    self.pair.check()
                    self.look()
                self.end()
                self.pair.end()
            except Exception as error:
                steps = "\n".join(self.steps)
                raise AssertionError(f"seed {self.seed}: {error!r} after\n{steps}") from error

    # Implemented for each API.

    def begin(self):
        """Returns the pair of server and model."""
        raise NotImplementedError

    def weights(self):
        """Returns the possible steps and the weight of each."""
        raise NotImplementedError

    def body(self):
        """Returns the fields of a document or item."""
        raise NotImplementedError

    def look(self):
        """Makes further comparisons after a step."""

    def end(self):
        """Makes further comparisons after the last step."""

    def say(self, *what):
        self.steps.append(" ".join(map(str, what)))

    def insert(self):
        id, body = self.random.choice(self.IDS), self.body()
        self.say("insert", id, body)
        self.pair.insert(id, body)

    def replace(self):
        id, body, upsert = self.random.choice(self.IDS), self.body(), self.random.random() < 0.5
        self.say("replace", id, body, "upsert" if upsert else "")
        self.pair.replace(id, body, upsert)

    def change(self):
        id, body = self.random.choice(self.IDS), self.body()
        body.update(dict.fromkeys(self.dropped(body)))
        self.say("change", id, body)
        self.pair.change(id, body)

    def dropped(self, body):
        """Returns the fields that a change with this body removes."""
        raise NotImplementedError

    def delete(self):
        id = self.random.choice(self.IDS)
        self.say("delete", id)
        self.pair.delete(id)

    def move(self):
        ms = self.random.choice(MOVES)
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
