"""A cluster of several shards under load: databases of both APIs are created, filled and dropped
through all nodes, while nodes are killed, stopped and started and shards are handed over. Then all
nodes show the same data: everything acknowledged, nothing twice, nothing that was dropped. And
documents of all shards expire at their second through every node.

ROUNDS is the number of faults (default 3; 30 with --torture), SEED chooses them and, except with
--torture, the clock.
"""

import contextlib
import os
import random
import statistics
import threading
import time
from http.client import HTTPException

import pytest
from lib.cluster import HAND_OVER, Cluster
from lib.nosql import Client
from lib.seed import SEED, TORTURE
from pymongo.errors import PyMongoError

ROUNDS = int(os.environ.get("ROUNDS", 30 if TORTURE else 3))
SHARDS = 3
#: Minimum and maximum number of databases of a worker.
FEWEST, MOST = 3, 6
SYSTEM = {"admin", "config", "local"}
#: Seconds within which a worker makes progress again, on a machine that runs other work too.
WITHOUT = 30.0


class Worker(threading.Thread):
    """Works on databases of its own, through one node. `databases` has the ids that each must have;
    `unknown` those of writes without a reply."""

    def __init__(self, cluster, node, number):
        super().__init__(daemon=True)
        self.cluster, self.node, self.number = cluster, node, number
        self.rng = random.Random(f"{SEED} {self.kind} {number}")
        self.databases, self.unknown, self.dropped = {}, {}, set()
        self.made, self.acks, self.ends, self.wrong = 0, 0, False, []
        self.longest, self.last = 0.0, time.monotonic()

    def run(self):
        while not self.ends:
            try:
                self.step()
            except (PyMongoError, OSError, HTTPException, AssertionError) as error:
                if isinstance(error, AssertionError):
                    self.wrong.append(f"{self.name_of_kind()}: {error}")
                    return
                time.sleep(0.05)

    def name_of_kind(self):
        return f"{self.kind} {self.number} through {self.node.name}"

    def noted(self):
        now = time.monotonic()
        self.longest = max(self.longest, now - self.last)
        self.last, self.acks = now, self.acks + 1

    def step(self):
        names = [name for name in self.databases if name not in self.dropped]
        chosen = self.rng.random()
        if not names or (chosen < 0.1 and len(names) < MOST):
            self.made += 1
            self.make(f"{self.kind}{self.number}x{self.made}")
        elif chosen < 0.15 and len(names) > FEWEST:
            self.drop(self.rng.choice(names))
        elif chosen < 0.3:
            self.look(self.rng.choice(names))
        else:
            self.write(self.rng.choice(names))

    def next_id(self, name):
        return len(self.databases[name]) + len(self.unknown[name])

    def check(self, name, found):
        """Checks that a database has every acknowledged id, none twice, and no unknown one."""
        assert len(found) == len(set(found)), f"{name} has something twice"
        missing = self.databases[name] - set(found)
        assert not missing, f"{name} lost {sorted(missing)[:5]}"
        strange = set(found) - self.databases[name] - self.unknown[name]
        assert not strange, f"{name} shows {sorted(strange)[:5]}"


class Documents(Worker):
    kind = "docs"

    def client(self):
        return self.node.client

    def make(self, name):
        self.databases.setdefault(name, set())
        self.unknown.setdefault(name, set())
        self.write(name)

    def write(self, name):
        id = self.next_id(name)
        self.unknown[name].add(id)
        self.client()[name]["c"].insert_one({"_id": id})
        self.unknown[name].discard(id)
        self.databases[name].add(id)
        self.noted()

    def look(self, name):
        collection = self.client()[name]["c"]
        self.check(name, [row["_id"] for row in collection.find(batch_size=20)])
        self.noted()

    def drop(self, name):
        self.dropped.add(name)
        while not self.ends:
            try:
                self.client().drop_database(name)
                self.noted()
                return
            except PyMongoError:
                time.sleep(0.05)
        self.dropped.discard(name)
        # Whether it still exists is unknown.
        self.unknown[name] |= self.databases[name]
        self.databases[name] = set()


class ItemsOf(Worker):
    kind = "items"

    def call(self, method, path, body=None, headers=(), good=(200,)):
        with_client = Client(self.node.items.address)
        try:
            reply = with_client.call(method, path, body, headers)
        finally:
            with_client.close()
        # The shard has no owner just now, or the reply was lost.
        if reply.status in (408, 429, 449, 503):
            raise OSError(f"{method} {path}: {reply.status}")
        assert reply.status in good, f"{method} {path}: {reply}"
        return reply

    def make(self, name):
        self.databases.setdefault(name, set())
        self.unknown.setdefault(name, set())
        self.ensure(name)

    def ensure(self, name):
        """Creates database and container if missing: an attempt without a reply may have done
        so."""
        self.call("POST", "dbs", {"id": name}, good=(201, 409))
        key = {"paths": ["/id"], "kind": "Hash", "version": 2}
        body = {"id": "c", "partitionKey": key}
        self.call("POST", f"dbs/{name}/colls", body, good=(201, 409))
        self.noted()

    def write(self, name):
        id = self.next_id(name)
        self.unknown[name].add(id)
        headers = {"x-ms-documentdb-partitionkey": f'["{id}"]'}
        path = f"dbs/{name}/colls/c/docs"
        reply = self.call("POST", path, {"id": str(id)}, headers, good=(201, 404, 409))
        if reply.status == 404:
            self.unknown[name].discard(id)
            assert not self.databases[name], f"{name} is gone"
            self.ensure(name)
            return
        self.unknown[name].discard(id)
        self.databases[name].add(id)
        self.noted()

    def look(self, name):
        self.check(name, read_items(self.node, name))
        self.noted()

    def drop(self, name):
        self.dropped.add(name)
        while not self.ends:
            try:
                self.call("DELETE", f"dbs/{name}", good=(204, 404))
                self.noted()
                return
            except (OSError, HTTPException):
                time.sleep(0.05)
        self.dropped.discard(name)
        self.unknown[name] |= self.databases[name]
        self.databases[name] = set()


def read_items(node, name):
    """Returns the ids in a database. A database without its container is empty: a creation or
    deletion was only partly done before the node failed."""
    client = Client(node.items.address)
    try:
        reply = client.call("GET", f"dbs/{name}/colls/c")
        if reply.status == 404:
            return []
        if reply.status != 200:
            raise OSError(f"{name}: {reply.status}")
        return [int(row["id"]) for row in client.container(name, "c").rows()]
    finally:
        client.close()


def listed(node):
    """Returns all databases of the NoSQL API, by id, page by page."""
    client, after, found = Client(node.items.address), "", []
    while after is not None:
        headers = {"x-ms-max-item-count": "3", "x-ms-continuation": after}
        reply = client.call("GET", "dbs", headers=headers)
        assert reply.status == 200, reply
        found += [(row["id"], row["_rid"]) for row in reply.json["Databases"]]
        after = reply.continuation
    client.close()
    names, rids = [name for name, _ in found], {rid for _, rid in found}
    assert len(names) == len(set(names)) == len(rids), found
    return set(names)


def compare(node, workers):
    """Compares the data that a node shows with the workers' records, while no worker runs."""
    documents = set(node.client.list_database_names()) - SYSTEM
    items = listed(node)
    for worker in workers:
        shown = documents if isinstance(worker, Documents) else items
        for name in worker.databases:
            if name in worker.dropped:
                assert name not in shown, f"{name} was dropped, and {node.name} lists it"
            elif worker.databases[name]:
                assert name in shown, f"{node.name} does not list {name}"
            if name in shown:
                if isinstance(worker, Documents):
                    found = [row["_id"] for row in node.client[name]["c"].find()]
                else:
                    found = read_items(node, name)
                worker.check(name, found)


def kill(cluster, rng):
    node = rng.choice(cluster.nodes)
    node.kill()
    time.sleep(rng.uniform(0, 5))
    node.start()


def stop(cluster, rng):
    node = rng.choice(cluster.nodes)
    node.leave()
    time.sleep(rng.uniform(0, 2))
    node.start()


def hand_over(cluster, rng):
    for shard in rng.sample(range(SHARDS), SHARDS):
        through = rng.choice(cluster.nodes)
        owner = through.about()["shards"][shard]["owner"]
        to = rng.choice([node.name for node in cluster.nodes if node.name != owner])
        # It may have moved there automatically just before, or be moving now.
        with contextlib.suppress(OSError):
            through.admin("/_ebb/cluster/hand-over", {"shard": shard, "to": to}, HAND_OVER)


FAULTS = [kill, stop, hand_over]


def owned(cluster, by=1, within=60):
    """Waits until all shards have an owner, and `by` nodes own one."""
    until = time.monotonic() + within
    while True:
        owners = [shard["owner"] for shard in cluster.nodes[0].about()["shards"]]
        if None not in owners and len(set(owners)) >= by:
            return owners
        assert time.monotonic() < until, f"{owners} {cluster.told()}"
        time.sleep(0.1)


CLOCKS = ("system", "manual")


@pytest.mark.parametrize("clock", CLOCKS if TORTURE else [CLOCKS[SEED % 2]])
def test_a_storm_over_several_shards(clock, capsys):
    rng = random.Random(f"{SEED} {clock}")
    with Cluster(clock=clock, shards=SHARDS) as cluster:
        owned(cluster, by=SHARDS)
        kinds = [Documents, ItemsOf]
        workers = [
            kind(cluster, node, number)
            for kind in kinds
            for number, node in enumerate(cluster.nodes)
        ]
        for worker in workers:
            worker.start()
        faults = [FAULTS[at % len(FAULTS)] for at in range(ROUNDS)]
        rng.shuffle(faults)
        for round, fault in enumerate(faults):
            time.sleep(rng.uniform(0.5, 1.5))
            fault(cluster, rng)
            cluster.whole()
            wrong = [text for worker in workers for text in worker.wrong]
            assert wrong == [], f"SEED={SEED}, round {round} ({fault.__name__}): {wrong}"
        # Shards stay on the nodes they were handed over to, possibly all on one node.
        owned(cluster)
        time.sleep(1)
        for worker in workers:
            worker.ends = True
        for worker in workers:
            worker.join(60)
            assert not worker.is_alive(), f"{worker.name_of_kind()} hangs"
            assert worker.wrong == [], f"SEED={SEED}: {worker.wrong}"
        for node in cluster.nodes:
            compare(node, workers)
        longest = [worker.longest for worker in workers]
        assert max(longest) < WITHOUT, longest
        acks = sum(worker.acks for worker in workers)
        made = sum(worker.made for worker in workers)
        cluster.verify(*cluster.nodes)
    with capsys.disabled():
        print(
            f"\n{clock} clock, {SHARDS} shards: {ROUNDS} faults, {acks} requests acknowledged on "
            f"{made} databases, 0 lost, 0 twice; longest without an answer, median and worst of "
            f"the clients: {statistics.median(longest):.1f} {max(longest):.1f} s"
        )
    assert acks > 20 * ROUNDS, "hardly any work"


def test_documents_of_all_shards_are_gone_at_their_second():
    with Cluster(clock="manual", shards=SHARDS) as cluster:
        owned(cluster, by=SHARDS)
        # Shards start at the seconds of their own first starts. This move aligns them.
        cluster.nodes[1].advance(60_000)
        names = [f"life{number}" for number in range(9)]
        client = Client(cluster.nodes[0].items.address)
        for name in names:
            collection = cluster.nodes[0].client[name]["c"]
            collection.create_index([("_ts", 1)], expireAfterSeconds=1000)
            collection.insert_many([{"_id": 1, "ttl": 10}, {"_id": 2}])
            assert client.call("POST", "dbs", {"id": name}).status == 201
            container = client.container(name, "c")
            assert container.define(defaultTtl=1000).status == 201
            assert container.create({"id": "1", "pk": "a", "ttl": 10}).status == 201
            assert container.create({"id": "2", "pk": "a"}).status == 201
        client.close()

        def shown():
            seen = set()
            for node in cluster.nodes:
                client = Client(node.items.address)
                for name in names:
                    seen.add(tuple(row["_id"] for row in node.client[name]["c"].find()))
                    ids = sorted(row["id"] for row in client.container(name, "c").rows())
                    seen.add(tuple(int(id) for id in ids))
                client.close()
            return seen

        assert shown() == {(1, 2)}
        cluster.nodes[1].advance(9_000)
        assert shown() == {(1, 2)}
        cluster.nodes[2].advance(2_000)
        assert shown() == {(2,)}
        killed = cluster.nodes[0]
        killed.kill()
        killed.start()
        cluster.whole()
        assert shown() == {(2,)}
        cluster.nodes[0].advance(1_000_000)
        assert shown() == {()}
