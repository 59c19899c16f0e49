"""Eight writers: inserts, updates, deletes, findAndModify, unique keys, insertMany, short lives."""

import pymongo
from lib import ending
from lib.server import date
from pymongo.errors import BulkWriteError, DuplicateKeyError

from crash.ledger import ABSENT, Life, State
from crash.worker import Worker

WRITERS = 8
#: Documents of one writer in one collection.
POOL = 60
#: Number of values of the unique index that all writers compete for.
WANTED = 40
COLLECTIONS = ("plain", "inherit", "explicit", "dates", "shifted", "ruled")
INHERITED = 2
#: Minimum of the default TTL of `shifted` and the TTL index of `ruled` while they are changed.
LEAST = 2


def build(client):
    """Creates the collections and indexes of the workload."""
    db = client["torture"]
    for name in COLLECTIONS:
        db[name].create_index("k")
        db[name].create_index([("w", 1), ("n", -1)])
        db[name].create_index("own", unique=True)
    db["inherit"].create_index("_ts", expireAfterSeconds=INHERITED)
    db["explicit"].create_index("_ts", expireAfterSeconds=-1)
    db["dates"].create_index("at", expireAfterSeconds=1)
    db["shifted"].create_index("_ts", expireAfterSeconds=LEAST)
    db["ruled"].create_index("at", name="rule", expireAfterSeconds=LEAST)
    db["unique"].create_index("u", unique=True)
    db["counters"].insert_one({"_id": "shared", "n": 0})


class Writer(Worker):
    """One client of the MongoDB API."""

    def __init__(self, number, seed, times):
        super().__init__(f"writer {number}", seed * 1000 + number, times)
        self.number = number
        self.tags = 0
        self.pending_count = 0

    def attach(self, address):
        self.db = pymongo.MongoClient(
            *address, directConnection=True, retryWrites=False, serverSelectionTimeoutMS=2_000
        )["torture"]
        self.begin()

    def is_end(self, error):
        return ending.is_end(error)

    def close(self):
        self.db.client.close()

    def weights(self):
        return {
            self.insert: 5,
            self.update: 6,
            self.replace: 3,
            self.delete: 3,
            self.modify: 4,
            self.insert_many: 2,
            self.unique: 4,
            self.count: 2,
            self.update_many: 1,
        }

    # Bodies.

    def pick(self):
        collection = self.random.choice(COLLECTIONS)
        return collection, f"w{self.number}-{self.random.randrange(POOL)}"

    def body(self, collection, id):
        """Returns a body that no other write has, and its lifetime."""
        self.tags += 1
        tag = f"{self.number}-{self.tags}"
        body = {
            "_id": id,
            "k": self.random.randrange(1_000),
            "own": id,
            "w": self.number,
            "n": self.tags,
            "tag": tag,
            "pad": "x" * self.random.choice([10, 300, 5_000]),
        }
        life = Life()
        if collection == "inherit":
            life = Life(INHERITED)
        elif collection == "explicit":
            body["ttl"] = self.random.randint(1, 5)
            life = Life(body["ttl"])
        elif collection == "shifted":
            life = Life(LEAST, perhaps=True)
        elif collection in ("dates", "ruled"):
            at = round(self.times.low() * 1000) + self.random.randint(-500, 3_000)
            body["at"] = date(at)
            ruled = collection == "ruled"
            life = Life(until=at / 1000 + (LEAST if ruled else 1), perhaps=ruled)
        return body, life

    # Requests.

    def insert(self):
        collection, id = key = self.pick()
        body, life = self.body(collection, id)
        self.ledger.intend({key: self.will_be(body, life)})
        try:
            self.db[collection].insert_one(dict(body))
            done = True
        except DuplicateKeyError:
            done = False
        self.judge(key, not done, "insert")
        self.ledger.acknowledge(None if done else ())

    def insert_many(self):
        collection = self.random.choice(COLLECTIONS)
        ids = self.random.sample(range(POOL), self.random.randint(2, 12))
        keys = [(collection, f"w{self.number}-{id}") for id in ids]
        # Documents that may exist are left out, so that a prefix of the batch is inserted.
        keys = [key for key in keys if self.ledger.get(key) is ABSENT]
        if not keys:
            return
        bodies = {key: self.body(*key) for key in keys}
        changes = {key: self.will_be(*bodies[key]) for key in keys}
        self.ledger.intend(changes, keys)
        try:
            result = self.db[collection].insert_many([dict(bodies[key][0]) for key in keys])
            assert len(result.inserted_ids) == len(keys)
        except BulkWriteError as error:
            if self.is_end(error):
                raise
            self.broken(error)
        self.ledger.acknowledge()

    def broken(self, error):
        """Records that an insertMany was not done completely."""
        self.wrong.append(f"insertMany of absent documents: {error.details}")

    def update(self):
        collection, id = key = self.pick()
        body, life = self.body(collection, id)
        change = {name: value for name, value in body.items() if name != "_id"}
        self.ledger.intend({key: self.will_be(body, life)})
        filter = self.random.choice([{"_id": id}, {"own": id}])
        found = self.db[collection].update_one(filter, {"$set": change}).matched_count == 1
        self.judge(key, found, "update")
        self.ledger.acknowledge(None if found else ())

    def update_many(self):
        """Updates all documents of this writer in the plain collection at once."""
        stamp = {"n": -self.tags}
        self.tags += 1
        keys = {
            key: state
            for key, state in self.ledger.acked.items()
            if key[0] == "plain" and state.body is not None
        }
        changes = {
            key: lambda begin, end, body=state.body: State({**body, **stamp})
            for key, state in keys.items()
        }
        self.ledger.intend(changes)
        n = self.db["plain"].update_many({"w": self.number}, {"$set": stamp}).matched_count
        if n != len(keys):
            self.wrong.append(f"updateMany matched {n} of {len(keys)}")
        self.ledger.acknowledge()

    def replace(self):
        collection, id = key = self.pick()
        body, life = self.body(collection, id)
        self.ledger.intend({key: self.will_be(body, life)})
        result = self.db[collection].replace_one({"_id": id}, dict(body), upsert=True)
        self.judge(key, result.matched_count == 1, "upsert")
        self.ledger.acknowledge()

    def delete(self):
        collection, id = key = self.pick()
        self.ledger.intend({key: lambda begin, end: ABSENT})
        found = self.db[collection].delete_one({"_id": id}).deleted_count == 1
        self.judge(key, found, "delete")
        self.ledger.acknowledge()

    def modify(self):
        """Increments the writer's own counter; the reply must be the next number."""
        key = ("counters", f"own-{self.number}")
        was = self.ledger.get(key)
        n = (was.body["n"] if was.body else 0) + 1
        self.ledger.intend({key: lambda begin, end: State({"_id": key[1], "n": n})})
        got = self.db["counters"].find_one_and_update(
            {"_id": key[1]}, {"$inc": {"n": 1}}, upsert=True, return_document=True
        )
        if got["n"] != n:
            self.wrong.append(f"{key} answered {got['n']}, not {n}")
        self.ledger.acknowledge()

    def count(self):
        """Increments a counter of all writers; no two replies may be the same."""
        self.pending_count = 1
        got = self.db["counters"].find_one_and_update(
            {"_id": "shared"}, {"$inc": {"n": 1}}, return_document=True
        )
        self.counted.append(got["n"])
        self.pending_count = 0

    def unique(self):
        """Inserts or deletes a document with a unique value that other writers compete for."""
        id = f"w{self.number}-{self.random.randrange(10)}"
        key = ("unique", id)
        if self.ledger.get(key).body is not None:
            self.ledger.intend({key: lambda begin, end: ABSENT})
            assert self.db["unique"].delete_one({"_id": id}).deleted_count == 1, f"lost: {key}"
            self.ledger.acknowledge()
            return
        body = {"_id": id, "u": self.random.randrange(WANTED), "tag": self.tags}
        self.ledger.intend({key: lambda begin, end: State(body)})
        try:
            self.db["unique"].insert_one(dict(body))
            self.ledger.acknowledge()
        except DuplicateKeyError:
            self.ledger.acknowledge(())
