"""Clients that write documents with short lives and read them all, so that an oracle can check each
reply by the time that it contains."""

import random

from lib.server import millis

from crash.clients import OfDocuments, OfItems, Untiring

DATABASE = "mortals"
#: TTL in seconds of documents without their own.
INHERITED = 2
#: By collection: field and seconds of the TTL index, and the documents' own TTL, if any.
COLLECTIONS = {
    "inherit": ("_ts", INHERITED, "none"),
    "explicit": ("_ts", -1, "ttl"),
    "dates": ("at", 0, "date"),
}
CONTAINERS = {"items_inherit": INHERITED, "items_explicit": -1}
#: Number of documents of a writer, and their possible lifetimes in seconds.
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


class Mortal(Untiring):
    """One client of one collection; it ends when its server does."""

    def __init__(self, server, oracle, name, number, seed):
        self.oracle, self.collected, self.number = oracle, name, number
        self.random, self.writes = random.Random(f"{seed} {name} {number}"), 0
        self.begin(f"{name} {number}", server)

    def step(self):
        self.random.choice([self.write, self.write, self.remove, self.read, self.read])()

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

    def put(self, id, life):
        """Writes a document; returns its deadline."""
        raise NotImplementedError

    def delete(self, id):
        raise NotImplementedError

    def all(self):
        """Returns the time of a read, the deadlines of all documents in it, and a time after it if
        the first is not exact."""
        raise NotImplementedError


class MortalDocuments(Mortal, OfDocuments):
    """A client of the MongoDB API. Replies do not contain `_ts`: it is between `$$NOW` of the write
    and the time of a later request. A read takes `$$NOW` before its view opens."""

    def open(self, server):
        super().open(server)
        self.collection = self.client[DATABASE][self.collected]
        self.kind = COLLECTIONS[self.collected][2]

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


class MortalItems(Mortal, OfItems):
    """A client of the NoSQL API, whose replies contain `_ts`."""

    FIELDS = "c.id, c._ts, c.ttl, GetCurrentTimestamp() AS now"
    QUERIES = (
        f"SELECT {FIELDS} FROM c",
        f"SELECT {FIELDS} FROM c WHERE c.k >= -1",
        f"SELECT {FIELDS} FROM c ORDER BY c.k",
        f"SELECT {FIELDS} FROM c ORDER BY c._ts DESC",
    )

    def open(self, server):
        super().open(server)
        self.items = self.client.container(DATABASE, self.collected)

    def put(self, id, life):
        body = {"id": id, "pk": "a", "k": self.random.randrange(100)}
        if CONTAINERS[self.collected] == -1:
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
