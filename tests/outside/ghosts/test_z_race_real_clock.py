"""Real clock: writers renew documents within milliseconds of their deadline, beside readers.

No client sees a life of a document dead and then, in an operation that begins later, alive. Every
life has a name that an insert gives it; every operation is kept with its begin and end, on the
machine's monotonic clock, which all processes share.
"""

import multiprocessing
import os
import random
import time

import pymongo
import pytest
from pymongo.errors import DuplicateKeyError

from lib.server import Server, date

SECONDS = float(os.environ.get("RACE_SECONDS", 60 if os.environ.get("TORTURE") == "1" else 5))
IDS = 24
WRITERS, READERS = 3, 3
#: Milliseconds that a renewed date lies ahead.
AHEAD = (1, 4, 15, 40)

pytestmark = pytest.mark.real_clock


class Client:
    """One process: what it saw is `(life, alive, begin, end)`."""

    def __init__(self, address, kind, number, until):
        self.collection = pymongo.MongoClient(*address, directConnection=True)["race"][kind]
        self.kind, self.number, self.until = kind, number, until
        self.random = random.Random(number)
        self.seen = []
        self.last = {}
        self.lives = 0

    def saw(self, id, life, begin, end):
        """A life alive, or none; the one last seen is then dead."""
        last = self.last.pop(id, None)
        if last not in (None, life):
            self.seen.append((last, False, begin, end))
        if life is not None:
            self.last[id] = life
            self.seen.append((life, True, begin, end))

    def fields(self):
        if self.kind == "seconds":
            return {"n": self.random.random()}
        return {"at": date(time.time() * 1000 + self.random.choice(AHEAD))}

    def write(self):
        while time.monotonic() < self.until:
            id = self.random.randrange(IDS)
            begin = time.monotonic()
            found = self.collection.find_one_and_update(
                {"_id": id}, {"$set": self.fields()}, return_document=True)
            self.saw(id, found and found["life"], begin, time.monotonic())
            if found is None:
                self.lives += 1
                life = f"{self.number}-{self.lives}"
                try:
                    self.collection.insert_one({"_id": id, "life": life, "k": id, **self.fields()})
                except DuplicateKeyError:
                    pass
            self.wait()

    def wait(self):
        """Meets the second's edge, where `_ts` kills."""
        rest = -time.time() % 1
        if self.kind == "seconds" and rest > 0.01:
            time.sleep(min(rest - 0.01, 0.05))

    def read(self):
        scans = (
            lambda: self.collection.find(),
            lambda: self.collection.find({"k": {"$gte": 0}}).hint([("k", 1)]),
            lambda: self.collection.find(batch_size=3).sort("life", 1),
            lambda: self.collection.aggregate([{"$match": {"k": {"$gte": 0}}}]),
        )
        while time.monotonic() < self.until:
            begin = time.monotonic()
            if self.random.random() < 0.8:
                id = self.random.randrange(IDS)
                key = self.random.choice(["_id", "k"])
                found = self.collection.find_one({key: id})
                self.saw(id, found and found["life"], begin, time.monotonic())
            else:
                # A later batch is an operation of its own; only the whole scan's span is known,
                # so what it shows counts as begun with it, and what it lacks as ended with it.
                rows = {row["_id"]: row["life"] for row in self.random.choice(scans)()}
                end = time.monotonic()
                for id in range(IDS):
                    self.saw(id, rows.get(id), begin, end)
            self.wait()

    def shift(self):
        """Moves the rule to and fro: it kills what it killed for ever."""
        database = self.collection.database
        while time.monotonic() < self.until:
            seconds = self.random.choice([1, 2] if self.kind == "seconds" else [0, 0, 1])
            index = {"name": "rule", "expireAfterSeconds": seconds}
            database.command("collMod", self.kind, index=index)
            time.sleep(self.random.random() * 0.05)


def work(task, address, kind, number, until, results):
    client = Client(address, kind, number, until)
    try:
        getattr(client, task)()
        results.put((task, client.seen))
    except Exception as error:
        results.put((task, repr(error)))


@pytest.mark.parametrize("shifting", [False, True], ids=["settled", "shifting"])
@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
def test_nobody_sees_dead_and_then_alive(disk, shifting):
    with Server(data_dir=disk, clock="system", flags=["--reap-delay", "0"]) as server:
        race = server.client["race"]
        race["seconds"].create_index("_ts", name="rule", expireAfterSeconds=1)
        race["dates"].create_index("at", name="rule", expireAfterSeconds=0)
        until = time.monotonic() + SECONDS
        context = multiprocessing.get_context("fork")
        results = context.Queue()
        tasks = ["write"] * WRITERS + ["read"] * READERS + ["shift"] * shifting
        workers = []
        for kind in ("seconds", "dates"):
            race[kind].create_index("k")
            for task in tasks:
                args = (task, server.address, kind, len(workers), until, results)
                workers.append(context.Process(target=work, args=args, daemon=True))
        for worker in workers:
            worker.start()
        found = [results.get(timeout=SECONDS + 60) for _ in workers]
        for worker in workers:
            worker.join(10)
        assert server.stop() == 0
    assert [seen for _, seen in found if isinstance(seen, str)] == []
    judge([one for _, seen in found for one in seen])


def judge(seen):
    dead = {}
    for life, alive, _, end in seen:
        if not alive:
            dead[life] = min(end, dead.get(life, end))
    assert len(dead) > 20, f"only {len(dead)} deaths were seen: no race"
    again = [
        (life, begin - dead[life]) for life, alive, begin, _ in seen
        if alive and life in dead and dead[life] < begin
    ]
    assert again == [], f"{len(again)} sightings after death among {len(seen)}"
