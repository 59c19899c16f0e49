"""Creates and drops indexes and changes TTL settings beside the writers, until a crash."""

import random
import threading

from lib import ending

from crash.workload import LEAST

#: name: (collection, keys, options) of indexes that are created and dropped.
PASSING = {
    "n_1": ("plain", [("n", 1)], {}),
    "tag_1": ("plain", [("tag", 1)], {"unique": True}),
    "k_1_n_1": ("dates", [("k", 1), ("n", 1)], {}),
    "tag_2": ("explicit", [("tag", 1)], {}),
}

#: Options of the client.
OPTIONS = {"retryWrites": False, "serverSelectionTimeoutMS": 2_000}


class Changer:
    """One client. It reads the state before each change, since a crash may have come."""

    OPTIONS = OPTIONS

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.wrong = []
        self.changes = 0
        self.ended = None
        self.stopping = False

    def attach(self, server):
        self.db = server.connect(**self.OPTIONS)["torture"]
        self.ended, self.stopping = None, False
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        ended = "told to"
        try:
            while not self.stopping:
                self.random.choice([self.index, self.default, self.rule])()
                self.changes += 1
        except Exception as error:
            if not self.is_end(error):
                self.wrong.append(f"changer: {error!r}")
            ended = error
        self.db.client.close()
        self.ended = ended

    def is_end(self, error):
        """Returns whether a client gets this error when its server stops."""
        return ending.is_end(error)

    def index(self):
        name = self.random.choice(list(PASSING))
        collection, keys, options = PASSING[name]
        if name in self.db[collection].index_information():
            self.db[collection].drop_index(name)
        else:
            self.db[collection].create_index(keys, name=name, **options)

    def change(self, collection, name, keys, seconds):
        known = name in self.db[collection].index_information()
        if known and self.random.random() < 0.4:
            self.db[collection].drop_index(name)
        elif known:
            index = {"name": name, "expireAfterSeconds": seconds}
            self.db.command("collMod", collection, index=index)
        else:
            self.db[collection].create_index(keys, name=name, expireAfterSeconds=seconds)

    def default(self):
        self.change("shifted", "_ts_1", "_ts", self.random.choice([LEAST, 3, 5, -1]))

    def rule(self):
        self.change("ruled", "rule", "at", self.random.choice([LEAST, 3, 5, 50]))
