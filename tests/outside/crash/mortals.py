"""Clients that write documents of short lives and read them all, so that an oracle can judge each
reply by the time that it tells."""

import http.client
import random
import threading

from lib import ending
from lib.nosql import Client
from lib.server import millis
from pymongo.errors import PyMongoError

DATABASE = "mortals"
#: Seconds that apply to documents without their own.
INHERITED = 2
#: By collection: the index of expiry, and whether documents have a `ttl`, a date or none.
COLLECTIONS = {
    "inherit": ("_ts", INHERITED, "none"),
    "explicit": ("_ts", -1, "ttl"),
    "dates": ("at", 0, "date"),
}
CONTAINERS = {"items_inherit": INHERITED, "items_explicit": -1}
#: Documents of one writer, and how long their lives are.
POOL, LIVES = 12, (1, 2, 3)


def make(server):
    database = server.client[DATABASE]
    for name, (field, seconds, _) in COLLECTIONS.items():
        database[name].create_index(field, expireAfterSeconds=seconds)
        database[name].create_index("k")
    assert server.items.create_database(DATABASE).status == 201
    for name, seconds in CONTAINERS.items():
        reply = server.items.container(DATABASE, name).define(defaultTtl=seconds)
        assert reply.status == 201, reply
        anchor = {"id": "anchor", "pk": "a", "k": -1, "ttl": -1}
        assert server.items.container(DATABASE, name).create(anchor).status == 201
    for name, (_, _, kind) in COLLECTIONS.items():
        anchor = {"_id": "anchor", "k": -1, **({"ttl": -1} if kind != "date" else {})}
        database[name].insert_one(anchor)


class Mortal:
    """One client of one collection, which ends when its server does."""

    def __init__(self, server, oracle, name, number, seed):
        self.server, self.oracle, self.name, self.number = server, oracle, name, number
        self.random = random.Random(f"{seed} {name} {number}")
        self.wrong, self.writes = [], 0
        self.open()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            while True:
                self.random.choice([self.write, self.write, self.remove, self.read, self.read])()
        except Exception as error:
            if not self.is_end(error):
                self.wrong.append(f"{self.name} {self.number}: {error!r}")
        self.client.close()

    def pick(self):
        return f"{self.number}-{self.random.randrange(POOL)}"

    def write(self):
        id, life = self.pick(), self.random.choice(LIVES)
        self.oracle.intend(id)
        self.oracle.learn(id, self.put(id, life))
        self.writes += 1

    def remove(self):
        id = self.pick()
        self.oracle.intend(id)
        self.delete(id)
        self.oracle.learn(id, None)

    def read(self):
        begun = self.oracle.begin()
        self.oracle.end(begun, *self.all())

    def open(self):
        raise NotImplementedError

    def put(self, id, life):
        """Writes a document; answers its deadline."""
        raise NotImplementedError

    def delete(self, id):
        raise NotImplementedError

    def all(self):
        """The time of a read, the deadlines of all that it shows, and a time after it where the
        first is not exact."""
        raise NotImplementedError

    def is_end(self, error):
        raise NotImplementedError


class MortalDocuments(Mortal):
    """At the MongoDB API, where nothing tells `_ts`: it is not before `$$NOW` of the write, and not
    after the time that a later request tells. In a read `$$NOW` is taken before its view opens."""

    def open(self):
        self.client = self.server.connect(
            retryWrites=False, retryReads=False, maxPoolSize=1, serverSelectionTimeoutMS=2_000
        )
        self.collection = self.client[DATABASE][self.name]
        self.kind = COLLECTIONS[self.name][2]

    def put(self, id, life):
        fields = {"at": None, "written": "$$NOW", "k": self.random.randrange(100), "life": life}
        if self.kind == "ttl":
            fields["ttl"] = life
        if self.kind == "date":
            fields["at"] = {"$add": ["$$NOW", life * 700]}
        row = self.collection.find_one_and_update(
            {"_id": id}, [{"$set": fields}], upsert=True, return_document=True
        )
        return self.deadline(row, self.now())

    def now(self):
        return millis(self.client.admin.command("hello")["localTime"])

    def deadline(self, row, now):
        if self.kind == "date":
            return (millis(row["at"]),) * 2
        seconds = row["ttl"] if self.kind == "ttl" else INHERITED
        return tuple((ms // 1000 + seconds) * 1000 for ms in (millis(row["written"]), now))

    def delete(self, id):
        self.collection.delete_one({"_id": id})

    def all(self):
        shown = {"$set": {"now": "$$NOW"}}
        pipeline = self.random.choice(
            [
                [shown],
                [{"$match": {"k": {"$gte": -1}}}, shown],
                [{"$sort": {"k": 1}}, shown],
                [shown, {"$sort": {"written": -1}}],
            ]
        )
        with self.collection.aggregate(pipeline, batchSize=100_000) as cursor:
            rows = {row["_id"]: row for row in cursor}
        now = millis(rows.pop("anchor")["now"])
        after = self.now()
        return now, {id: self.deadline(row, after) for id, row in rows.items()}, after

    def is_end(self, error):
        return isinstance(error, PyMongoError) and ending.is_end(error)


class MortalItems(Mortal):
    """At the NoSQL API, where replies tell `_ts`."""

    FIELDS = "c.id, c._ts, c.ttl, GetCurrentTimestamp() AS now"
    QUERIES = (
        f"SELECT {FIELDS} FROM c",
        f"SELECT {FIELDS} FROM c WHERE c.k >= -1",
        f"SELECT {FIELDS} FROM c ORDER BY c.k",
        f"SELECT {FIELDS} FROM c ORDER BY c._ts DESC",
    )

    def open(self):
        self.client = Client(self.server.items.address, timeout=20)
        self.items = self.client.container(DATABASE, self.name)

    def put(self, id, life):
        body = {"id": id, "pk": "a", "k": self.random.randrange(100)}
        if CONTAINERS[self.name] == -1:
            body["ttl"] = life
        return self.deadline(self.expect(self.items.upsert(body), 200, 201).json)

    def deadline(self, item):
        return ((item["_ts"] + item.get("ttl", INHERITED)) * 1000,) * 2

    def delete(self, id):
        self.expect(self.items.delete(id, "a"), 204, 404)

    def all(self):
        query = self.random.choice(self.QUERIES)
        reply = self.expect(self.items.page(query, pk="a", size=10_000), 200)
        assert not reply.continuation, "a page of few items is not the last"
        rows = {item["id"]: item for item in reply.json["Documents"]}
        anchor = rows.pop("anchor")
        return anchor["now"], {id: self.deadline(item) for id, item in rows.items()}

    @staticmethod
    def expect(reply, *statuses):
        if reply.status in (500, 503) and ending.tells_end(str(reply)):
            raise ConnectionError("the server ends")
        assert reply.status in statuses, f"{reply}, expected {statuses}"
        return reply

    def is_end(self, error):
        return isinstance(error, (ConnectionError, http.client.HTTPException, TimeoutError))
