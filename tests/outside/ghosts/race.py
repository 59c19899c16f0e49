"""The race of documents, with TTLs in full seconds and with dates."""

import contextlib
import time

import pymongo
from lib import race as races
from lib.server import AT_ONCE, Server, date, millis
from pymongo.errors import DuplicateKeyError

#: Milliseconds from now to a renewed date.
AHEAD = (1, 4, 15, 40)
KINDS = {"seconds": ("_ts", 1), "dates": ("at", 0)}


class Client(races.Racer):
    """One process with a client of its own."""

    def __init__(self, server, clock, kind, number, until):
        super().__init__(server, clock, kind, number, until)
        self.client = pymongo.MongoClient(*server.address, directConnection=True)
        self.collection = self.client["race"][kind]

    def now_ms(self):
        if self.clock == "system":
            return time.time() * 1000
        return millis(self.client.admin.command("ebbClock")["now"])

    def fields(self):
        if self.kind == "seconds":
            return {"n": self.random.random()}
        return {"at": date(self.now_ms() + self.random.choice(AHEAD))}

    def renew(self, id, fields):
        found = self.collection.find_one_and_update(
            {"_id": id}, {"$set": fields}, return_document=True
        )
        return found and found["life"]

    def begin(self, id, life):
        with contextlib.suppress(DuplicateKeyError):
            self.collection.insert_one({"_id": id, "life": life, "k": id, **self.fields()})

    def wait(self):
        if self.kind == "seconds":
            super().wait()

    def point(self, id):
        found = self.collection.find_one({self.random.choice(["_id", "k"]): id})
        return found and found["life"]

    def scans(self):
        return (
            self.collection.find,
            lambda: self.collection.find({"k": {"$gte": 0}}).hint([("k", 1)]),
            lambda: self.collection.find(batch_size=3).sort("life", 1),
            lambda: self.collection.aggregate([{"$match": {"k": {"$gte": 0}}}]),
        )

    def shift(self):
        """Changes the TTL setting and switches it off and on: expired stays expired."""
        seconds = [1, 2, -1] if self.kind == "seconds" else [0, 0, 1]
        while self.goes_on():
            chosen = self.random.choice(seconds)
            if self.random.random() < 0.3:
                self.collection.drop_index("rule")
                make_rule(self.collection, self.kind, chosen)
            else:
                index = {"name": "rule", "expireAfterSeconds": chosen}
                self.collection.database.command("collMod", self.kind, index=index)
            time.sleep(self.random.random() * 0.05)

    def move(self):
        while self.goes_on():
            at = self.now_ms() + self.random.choice(races.MOVES)
            self.client.admin.command({"ebbClock": 1, "set": date(at)})


def make_rule(collection, kind, seconds):
    collection.create_index(KINDS[kind][0], name="rule", expireAfterSeconds=seconds)


def race(disk, clock, shifting, seconds):
    """Runs a race and checks it."""
    with Server(data_dir=disk, clock=clock, flags=AT_ONCE) as server:
        for kind in KINDS:
            make_rule(server.client["race"][kind], kind, KINDS[kind][1])
            server.client["race"][kind].create_index("k")
        tasks = [*races.TASKS, *["shift"] * shifting]
        found = races.run(Client, KINDS, tasks, server, clock, seconds)
        server.end()
    races.judge_all(found)
