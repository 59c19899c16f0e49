"""A race at the deadline: writers renew documents within milliseconds of it, beside readers.

Every life has a name that an insert gives it; every operation is kept with its begin and end, on
the machine's monotonic clock, which all processes share. No client may see a life dead and then, in
an operation that begins later, alive.
"""

import multiprocessing
import random
import time

import pymongo
from pymongo.errors import DuplicateKeyError, OperationFailure

from lib.seed import SEED
from lib.server import Server, date, millis

IDS = 24
WRITERS, READERS = 3, 3
#: Milliseconds that a renewed date lies ahead.
AHEAD = (1, 4, 15, 40)
#: Milliseconds by which a manual clock moves.
MOVES = (1, 3, 10, 100, 400)
KINDS = {"seconds": ("_ts", 1), "dates": ("at", 0)}


class Client:
    """One process: what it saw is `(life, alive, begin, end)`."""

    def __init__(self, address, clock, kind, number, until):
        self.client = pymongo.MongoClient(*address, directConnection=True)
        self.collection = self.client["race"][kind]
        self.clock, self.kind, self.number, self.until = clock, kind, number, until
        self.random = random.Random(SEED * 100 + number)
        self.seen = []
        self.last = {}
        self.lives = 0

    def goes_on(self):
        return time.monotonic() < self.until

    def now_ms(self):
        if self.clock == "system":
            return time.time() * 1000
        return millis(self.client.admin.command("ebbClock")["now"])

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
        return {"at": date(self.now_ms() + self.random.choice(AHEAD))}

    def write(self):
        while self.goes_on():
            id, fields = self.random.randrange(IDS), self.fields()
            begin = time.monotonic()
            found = self.collection.find_one_and_update(
                {"_id": id}, {"$set": fields}, return_document=True)
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
        if self.clock == "system" and self.kind == "seconds" and rest > 0.01:
            time.sleep(min(rest - 0.01, 0.05))

    def read(self):
        scans = (
            lambda: self.collection.find(),
            lambda: self.collection.find({"k": {"$gte": 0}}).hint([("k", 1)]),
            lambda: self.collection.find(batch_size=3).sort("life", 1),
            lambda: self.collection.aggregate([{"$match": {"k": {"$gte": 0}}}]),
        )
        while self.goes_on():
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
        """Moves the rule to and fro, switches it off and on: it kills what it killed for ever."""
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
        """Moves a manual clock; two of these would be in each other's way."""
        while self.goes_on():
            at = self.now_ms() + self.random.choice(MOVES)
            self.client.admin.command({"ebbClock": 1, "set": date(at)})


def make_rule(collection, kind, seconds):
    collection.create_index(KINDS[kind][0], name="rule", expireAfterSeconds=seconds)


def work(task, address, clock, kind, number, until, results):
    client = Client(address, clock, kind, number, until)
    try:
        getattr(client, task)()
        results.put((task, client.seen))
    except OperationFailure as error:
        results.put((task, f"{error} {error.details}"))
    except Exception as error:
        results.put((task, repr(error)))


def race(disk, clock, shifting, seconds):
    """Runs a race and judges it."""
    with Server(data_dir=disk, clock=clock, flags=["--reap-delay", "0"]) as server:
        until = time.monotonic() + seconds
        context = multiprocessing.get_context("fork")
        results = context.Queue()
        tasks = ["write"] * WRITERS + ["read"] * READERS + ["shift"] * shifting
        jobs = [(task, kind) for kind in KINDS for task in tasks]
        jobs += [("move", "dates")] * (clock == "manual")
        for kind in KINDS:
            make_rule(server.client["race"][kind], kind, KINDS[kind][1])
            server.client["race"][kind].create_index("k")
        workers = []
        for number, (task, kind) in enumerate(jobs):
            args = (task, server.address, clock, kind, number, until, results)
            workers.append(context.Process(target=work, args=args, daemon=True))
            workers[-1].start()
        found = [results.get(timeout=seconds + 60) for _ in workers]
        for worker in workers:
            worker.join(10)
        assert server.stop() == 0
        if disk:
            verified = server.verify()
            assert verified.returncode == 0, verified.stdout + verified.stderr
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
