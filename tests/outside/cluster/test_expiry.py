"""A document expires at its second through every node, also right after a take-over, and stays
expired when TTL settings change then. Manual clock, hence to the millisecond."""

import pytest
from lib.cluster import Cluster
from lib.frames import Direct
from lib.nosql import Client

from cluster.take_overs import TAKE_OVERS

LIFE = 10_000


@pytest.fixture(scope="module")
def cluster():
    with Cluster(clock="manual") as cluster:
        yield cluster


WHEN = {**TAKE_OVERS, "nothing": lambda _: None}


def seen(node, name):
    """Returns the result of each read path to the documents and items through this node."""
    collection = node.client[name]["c"]
    items, direct = Client(node.items.address), Direct(node.items.address)
    container = items.container(name, "c")
    framed = container.through(direct)
    found = {
        "find": sorted(row["_id"] for row in collection.find()),
        "index": sorted(row["_id"] for row in collection.find({"k": {"$gt": 0}}).hint("k_1")),
        "count": collection.estimated_document_count(),
        "group": [row["n"] for row in collection.aggregate([{"$count": "n"}])],
        "point": collection.find_one({"_id": "mortal"}) is not None,
        "items": sorted(row["id"] for row in container.rows("SELECT * FROM c")),
        "item": container.read("mortal", "a").status,
        "feed": sorted(row["id"] for row in container.rows()),
        "direct items": sorted(row["id"] for row in framed.rows("SELECT * FROM c")),
        "direct item": framed.read("mortal", "a").status,
        "direct feed": sorted(row["id"] for row in framed.rows()),
    }
    items.close()
    direct.close()
    return found


ALIVE = {
    "find": ["long", "mortal"],
    "index": ["long", "mortal"],
    "count": 2,
    "group": [2],
    "point": True,
    "items": ["long", "mortal"],
    "item": 200,
    "feed": ["long", "mortal"],
    "direct items": ["long", "mortal"],
    "direct item": 200,
    "direct feed": ["long", "mortal"],
}
DEAD = {
    "find": ["long"],
    "index": ["long"],
    "count": 1,
    "group": [1],
    "point": False,
    "items": ["long"],
    "item": 404,
    "feed": ["long"],
    "direct items": ["long"],
    "direct item": 404,
    "direct feed": ["long"],
}


def through_all(cluster, name):
    return {node.name: seen(node, name) for node in cluster.nodes}


@pytest.mark.parametrize("when", WHEN)
def test_gone_at_its_second_through_every_node(cluster, when):
    name = f"at-{when}"
    node, [writer, *_] = cluster.owner(), cluster.followers()
    # `_ts` has whole seconds.
    node.move_to(-(-node.now_ms() // 1_000) * 1_000)
    now = node.now_ms()
    collection = writer.client[name]["c"]
    collection.create_index("k")
    collection.create_index("_ts", expireAfterSeconds=LIFE // 1_000)
    collection.insert_many([{"_id": "mortal", "k": 1}, {"_id": "long", "k": 2, "ttl": 10_000}])
    items = Client(writer.items.address)
    items.create_database(name)
    container = items.container(name, "c")
    assert container.define(defaultTtl=LIFE // 1_000).status == 201
    for item in ({"id": "mortal", "pk": "a"}, {"id": "long", "pk": "a", "ttl": 10_000}):
        assert container.create(item).status == 201
    for ms in (LIFE - 1, LIFE):
        # Moved through one node and read through all, before and after a change of the owner.
        writer.move_to(now + ms)
        wanted = ALIVE if ms < LIFE else DEAD
        nodes = {node.name: wanted for node in cluster.nodes}
        assert through_all(cluster, name) == nodes
        WHEN[when](cluster)
        assert cluster.owner().now_ms() == now + ms
        assert through_all(cluster, name) == nodes
    # Expired documents stay expired: after longer TTLs, and with an owner that never saw them live.
    owner = cluster.owner()
    owner.client[name].command(
        "collMod", "c", index={"name": "_ts_1", "expireAfterSeconds": 1_000_000}
    )
    again = owner.items.container(name, "c")
    assert again.redefine(defaultTtl=1_000_000).status == 200
    assert through_all(cluster, name) == nodes
    WHEN[when](cluster)
    assert through_all(cluster, name) == nodes
    owner = cluster.owner()
    owner.client[name]["c"].drop_index("_ts_1")
    assert owner.items.container(name, "c").redefine().status == 200
    WHEN[when](cluster)
    assert through_all(cluster, name) == nodes
