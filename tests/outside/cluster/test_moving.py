"""A server's data directory is converted to a cluster, and a cluster to a data directory: all live
data is copied, with expiry to the millisecond, and no expired data."""

import hashlib
import os
import time

from bson import encode
from lib.cluster import Cluster, dump, init, new_keyspace
from lib.server import Server

#: Number of documents; `MOVED=1000000` for a measurement.
DOCUMENTS = int(os.environ.get("MOVED", "10000"))
BATCH = 1_000
ITEMS = 50
#: Seconds: the default TTL, and the own TTL of every tenth document.
LIFE, SHORT = 600, 60
#: Seconds within which that many documents are moved one way.
WITHIN = 60 + DOCUMENTS / 1_000


def fill(server):
    """Inserts documents and items, of which every tenth has a shorter TTL of its own; some have
    already expired."""
    orders = server.client["shop"]["orders"]
    orders.create_index("k")
    orders.create_index("_ts", expireAfterSeconds=LIFE)
    server.client["shop"]["plain"].insert_one({"_id": 1})
    for begin in range(0, DOCUMENTS, BATCH):
        orders.insert_many(
            [
                {"_id": n, "k": n % 100, "text": f"{n}" * 20}
                | ({"ttl": SHORT} if n % 10 == 0 else {})
                for n in range(begin, begin + BATCH)
            ],
            ordered=False,
        )
    orders.insert_many([{"_id": -n, "ttl": 1} for n in range(1, 100)])
    server.items.create_database("shop")
    container = server.items.container("shop", "carts")
    assert container.define(defaultTtl=LIFE).status == 201
    for n in range(ITEMS):
        item = {"id": f"{n}", "pk": f"{n % 3}"} | ({"ttl": SHORT} if n % 10 == 0 else {})
        assert container.create(item).status == 201
    server.advance(2_000)


def seen(server):
    """Returns a digest of all visible data."""
    shop = server.client["shop"]
    digest, count = hashlib.sha256(), 0
    for document in shop["orders"].find().sort("_id").batch_size(5_000):
        digest.update(encode(document))
        count += 1
    rows = server.items.container("shop", "carts").rows()
    own = ("id", "pk", "ttl", "_ts", "_etag", "_rid")
    return {
        "documents": (count, digest.hexdigest()),
        "count": shop["orders"].estimated_document_count(),
        "by index": shop["orders"].count_documents({"k": 7}, hint="k_1"),
        "indexes": sorted(shop["orders"].index_information()),
        "collections": sorted(shop.list_collection_names()),
        "items": sorted([item.get(name) for name in own] for item in rows),
        "now": server.now_ms(),
    }


def test_a_directory_becomes_a_cluster_and_a_directory_again(tmp_path):
    keyspace, dumped = new_keyspace(), tmp_path / "dumped"
    with Server(data_dir=True, nosql=True) as server:
        fill(server)
        there = seen(server)
        assert there["documents"][0] == there["count"] == DOCUMENTS
        server.end()
        began = time.monotonic()
        made = init(keyspace, "--from", str(server.data_dir), within=WITHIN)
        assert made.returncode == 0, made.stdout + made.stderr
        print(f"{DOCUMENTS} documents into Cassandra in {time.monotonic() - began:.1f} s")
        # The directory is unchanged.
        server.start()
        assert seen(server) == there
        server.end()
    began = time.monotonic()
    with Cluster(keyspace=keyspace, clock="manual") as cluster:
        print(f"three nodes on it after {time.monotonic() - began:.1f} s")
        owner = cluster.whole()
        for node in cluster.nodes:
            assert seen(node) == there
        # Writes and expirations after the conversion, with a change of the owner.
        owner.client["shop"]["orders"].insert_one({"_id": "new", "k": 7, "ttl": -1})
        owner.kill()
        after = cluster.owner(but=[owner])
        after.advance(SHORT * 1_000)
        there = seen(after)
        assert there["count"] == DOCUMENTS * 9 // 10 + 1
        assert len(there["items"]) == ITEMS * 9 // 10
        # The nodes run during this.
        began = time.monotonic()
        done = dump(keyspace, dumped, within=WITHIN)
        assert done.returncode == 0, done.stdout + done.stderr
        print(f"a directory of it in {time.monotonic() - began:.1f} s")
        # Later writes are not in the dump.
        after.client["shop"]["orders"].insert_one({"_id": "late"})
        cluster.verify(*cluster.nodes, within=WITHIN)
    with Server(data_dir=dumped, nosql=True) as server:
        assert seen(server) == there
        server.advance(LIFE * 1_000)
        left = seen(server)
        assert (left["count"], left["documents"][0], left["items"]) == (1, 1, [])
        server.end()
