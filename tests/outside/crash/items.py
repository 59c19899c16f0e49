"""Writers of the NoSQL API: items in containers with every kind of TTL, batches, unique keys."""

import http.client

from lib.ending import tells_end
from lib.nosql import Client, if_match, stripped

from crash.ledger import ABSENT, Life, State
from crash.worker import Worker

ITEM_WRITERS = 4
POOL = 40
WANTED = 20
#: Minimum of the default TTL of `shifted` while it is changed.
LEAST = 2
INHERITED = 2
POLICY = {
    "indexingMode": "consistent",
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": "/pad/?"}],
    "compositeIndexes": [
        [{"path": "/w", "order": "ascending"}, {"path": "/n", "order": "descending"}]
    ],
}
VERSIONS = {"changeFeedPolicy": {"retentionDuration": 10_080, "retainPreviousImages": True}}
UNIQUE = {"uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/u"]}]}}
#: name: its definition.
CONTAINERS = {
    "plain": {},
    "inherit": {"defaultTtl": INHERITED},
    "explicit": {"defaultTtl": -1},
    "shifted": {"defaultTtl": LEAST},
    "versions": {"defaultTtl": INHERITED, **VERSIONS},
    "unique": UNIQUE,
    "counters": {},
}
WRITTEN = ("plain", "inherit", "explicit", "shifted", "versions")
SHARED = {"id": "shared", "pk": "all", "n": 0}


class Unavailable(Exception):
    """The server replied that it is stopping."""


def containers(client):
    return {name: client.container("torture", name) for name in CONTAINERS}


def build(client):
    """Creates the containers of the workload."""
    reply = client.create_database("torture")
    assert reply.status == 201, reply
    for name, container in containers(client).items():
        reply = container.define(indexingPolicy=POLICY, **CONTAINERS[name])
        assert reply.status == 201, reply
    reply = client.container("torture", "counters").create(SHARED)
    assert reply.status == 201, reply


class ItemWriter(Worker):
    """One client of the NoSQL API; its items are in a partition of its own."""

    def __init__(self, number, seed, times):
        super().__init__(f"item writer {number}", seed * 1000 + 500 + number, times)
        self.number = number
        self.pk = f"w{number}"
        self.tags = 0
        self.etags = {}

    def attach(self, address):
        self.client = Client(address, timeout=20)
        self.containers = containers(self.client)
        self.etags = {}
        self.begin()

    def is_end(self, error):
        # After a timeout, as without any reply, it is unknown whether the request was done.
        ends = (ConnectionError, TimeoutError, http.client.HTTPException, Unavailable)
        return isinstance(error, ends)

    def close(self):
        self.client.close()

    def weights(self):
        return {
            self.create: 5,
            self.upsert: 5,
            self.replace: 5,
            self.patch: 5,
            self.delete: 3,
            self.batch: 3,
            self.unique: 4,
            self.modify: 3,
            self.count: 2,
        }

    def pick(self):
        name = self.random.choice(WRITTEN)
        return name, f"{self.pk}-{self.random.randrange(POOL)}"

    def body(self, name, id):
        """Returns a body that no other write has, and its lifetime."""
        self.tags += 1
        body = {
            "id": id,
            "pk": self.pk,
            "k": self.random.randrange(1_000),
            "w": self.number,
            "n": self.tags,
            "pad": "x" * self.random.choice([10, 300, 5_000]),
        }
        if name == "explicit":
            body["ttl"] = self.random.randint(1, 5)
            return body, Life(body["ttl"])
        if name in ("inherit", "versions"):
            return body, Life(INHERITED)
        return body, Life(LEAST, perhaps=True) if name == "shifted" else Life()

    def expect(self, reply, *statuses):
        if reply.status == 500 and tells_end(reply.body.decode(errors="replace")):
            raise Unavailable
        if reply.status == 503:
            raise Unavailable
        assert reply.status in statuses, f"{reply}, expected {statuses}"
        return reply.status

    def settle(self, key, reply, done):
        """Records the reply to the intended write: done or not."""
        self.ledger.acknowledge(None if done else ())
        self.etags.pop(key, None)
        if done and reply.etag:
            self.etags[key] = reply.etag

    # Requests.

    def create(self):
        name, id = key = self.pick()
        body, life = self.body(name, id)
        self.ledger.intend({key: self.will_be(body, life)})
        reply = self.containers[name].create(body)
        done = self.expect(reply, 201, 409) == 201
        self.judge(key, not done, "create")
        self.settle(key, reply, done)

    def upsert(self):
        name, id = key = self.pick()
        body, life = self.body(name, id)
        self.ledger.intend({key: self.will_be(body, life)})
        reply = self.containers[name].upsert(body)
        self.judge(key, self.expect(reply, 200, 201) == 200, "upsert")
        self.settle(key, reply, True)

    def replace(self):
        """Replaces an item, half of the time on condition of the ETag of the last write."""
        name, id = key = self.pick()
        body, life = self.body(name, id)
        etag = self.etags.get(key) if self.random.random() < 0.5 else None
        self.ledger.intend({key: self.will_be(body, life)})
        reply = self.containers[name].replace(body, if_match(etag) if etag else {})
        done = self.expect(reply, 200, 404) == 200
        self.judge(key, done, "replace")
        self.settle(key, reply, done)

    def patch(self):
        name, id = key = self.pick()
        body, life = self.body(name, id)
        operations = [
            {"op": "set", "path": f"/{property}", "value": value}
            for property, value in body.items()
            if property not in ("id", "pk")
        ]
        self.ledger.intend({key: self.will_be(body, life)})
        reply = self.containers[name].patch(id, self.pk, operations)
        done = self.expect(reply, 200, 404) == 200
        self.judge(key, done, "patch")
        self.settle(key, reply, done)

    def delete(self):
        name, id = key = self.pick()
        self.ledger.intend({key: lambda begin, end: ABSENT})
        reply = self.containers[name].delete(id, self.pk)
        done = self.expect(reply, 204, 404) == 204
        self.judge(key, done, "delete")
        self.settle(key, None, False)
        if done:
            self.ledger.gone(key)

    def batch(self):
        """Upserts several items in a batch: all or none of them, whenever the crash comes."""
        name = self.random.choice(WRITTEN)
        ids = self.random.sample(range(POOL), self.random.randint(2, 10))
        keys = [(name, f"{self.pk}-{id}") for id in ids]
        bodies = {key: self.body(*key) for key in keys}
        changes = {key: self.will_be(*bodies[key]) for key in keys}
        self.ledger.intend(changes, atomic=True)
        reply = self.containers[name].batch(
            self.pk, [{"operationType": "Upsert", "resourceBody": bodies[key][0]} for key in keys]
        )
        self.expect(reply, 200)
        for key, one in zip(keys, reply.json, strict=True):
            self.judge(key, one["statusCode"] == 200, "upsert of a batch")
            self.etags.pop(key, None)
        self.ledger.acknowledge()

    def unique(self):
        """Inserts or deletes an item with a unique value that other writers compete for."""
        id = f"{self.pk}-{self.random.randrange(10)}"
        key, container = ("unique", id), self.containers["unique"]
        if self.ledger.get(key).body is not None:
            self.ledger.intend({key: lambda begin, end: ABSENT})
            self.expect(container.delete(id, "all"), 204)
            self.ledger.acknowledge()
            return
        body = {"id": id, "pk": "all", "u": self.random.randrange(WANTED), "n": self.tags}
        self.ledger.intend({key: lambda begin, end: State(body)})
        done = self.expect(container.create(body), 201, 409) == 201
        self.ledger.acknowledge(None if done else ())

    def modify(self):
        """Increments the writer's own counter; the reply must be the next number."""
        key, container = ("counters", f"own-{self.number}"), self.containers["counters"]
        was = self.ledger.get(key).body
        body = {"id": key[1], "pk": self.pk, "n": (was["n"] if was else 0) + 1}
        self.ledger.intend({key: lambda begin, end: State(body)})
        if was:
            reply = container.patch(key[1], self.pk, [{"op": "incr", "path": "/n", "value": 1}])
        else:
            reply = container.create(body)
        self.expect(reply, 200 if was else 201)
        if stripped(reply.json) != body:
            self.wrong.append(f"{key} answered {reply}, not {body}")
        self.ledger.acknowledge()

    def count(self):
        """Increments a counter of all writers; no two replies may be the same."""
        reply = self.containers["counters"].patch(
            "shared", "all", [{"op": "incr", "path": "/n", "value": 1}]
        )
        self.expect(reply, 200)
        self.counted.append(reply.json["n"])


class ItemChanger(Worker):
    """Changes default TTLs and indexes, and creates and drops a container."""

    def __init__(self, seed, times):
        super().__init__("item changer", seed * 1000 + 999, times)
        self.changes = 0

    def attach(self, address):
        self.client = Client(address, timeout=20)
        self.containers = containers(self.client)
        self.begin()

    is_end = ItemWriter.is_end
    close = ItemWriter.close
    expect = ItemWriter.expect

    def one(self):
        self.random.choice([self.default, self.index, self.passing])()
        self.changes += 1

    def default(self):
        value = self.random.choice([LEAST, 3, 5, -1, None])
        more = {} if value is None else {"defaultTtl": value}
        self.expect(self.containers["shifted"].redefine(indexingPolicy=POLICY, **more), 200)

    def index(self):
        policy = dict(POLICY)
        if self.random.random() < 0.5:
            policy["excludedPaths"] = [{"path": "/pad/?"}, {"path": "/k/?"}]
            policy["compositeIndexes"] = []
        self.expect(self.containers["plain"].redefine(indexingPolicy=policy), 200)

    def passing(self):
        container = self.client.container("torture", "passing")
        if self.expect(container.get(), 200, 404) == 404:
            self.expect(container.define(defaultTtl=5, **VERSIONS), 201)
            self.expect(container.create({"id": "a", "pk": "a"}), 201)
        else:
            self.expect(self.client.call("DELETE", container.link), 204)
