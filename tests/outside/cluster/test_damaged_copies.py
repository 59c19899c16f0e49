"""A node whose copy of the data was damaged or wiped while it was stopped restores it from the
cluster: as follower or owner it ends up with the same data, and the damage is never visible. Runs
one kind of damage; all with --torture."""

import hashlib
import random
import re
import shutil
import time

import pytest
from bson import encode
from lib.cluster import Cluster, verify
from lib.seed import SEED, TORTURE

DOCUMENTS, PAD = 2_000, 1_000
#: One bit is flipped in every block of this many bytes.
EVERY = 4_096
#: Seconds within which a node has restored its copy.
LOADED = 30.0


def turned(node):
    """Flips bits in all files of a node's copy."""
    chosen, count = random.Random(SEED), 0
    for path in sorted((node.data_dir / "store").rglob("*")):
        if not path.is_file() or not path.stat().st_size:
            continue
        data = bytearray(path.read_bytes())
        for begin in range(0, len(data), EVERY):
            at = chosen.randrange(begin, min(begin + EVERY, len(data)))
            data[at] ^= 1 << chosen.randrange(8)
            count += 1
        path.write_bytes(data)
    assert count > DOCUMENTS * PAD / EVERY / 10, "hardly anything to turn"


def wiped(node):
    shutil.rmtree(node.data_dir / "store")


def gone(node):
    shutil.rmtree(node.data_dir)


#: name: (function that damages a copy, exit code and text of a verification afterwards)
DAMAGES = {
    "turned bits": (turned, 1, "is damaged|was durable"),
    "no copy": (wiped, 0, ": 0 rows"),
    "no directory": (gone, 3, "is not the data directory"),
}
WANTED = list(DAMAGES) if TORTURE else [random.Random(SEED).choice(list(DAMAGES))]
WHOSE = ("a follower's", "the owner's")


def seen(node):
    rows = node.client["d"]["c"].find().sort("_id")
    digest = hashlib.sha256(b"".join(encode(row) for row in rows)).hexdigest()
    return digest, node.client["d"]["c"].estimated_document_count()


def damaged(cluster, node, name):
    """Stops a node, damages its copy, and starts it until it serves."""
    damage, code, text = DAMAGES[name]
    node.leave()
    damage(node)
    found = verify(cluster.keyspace, node.data_dir)
    assert found.returncode == code, f"no damage: {found}"
    assert re.search(text, found.stdout + found.stderr), f"no damage: {found}"
    node.start()
    until = time.monotonic() + LOADED
    while node.ready()[0] != 200:
        assert time.monotonic() < until, f"{node.ready()} {cluster.told()}"
        time.sleep(0.05)


@pytest.mark.parametrize("whose", WHOSE if TORTURE else [random.Random(-SEED).choice(WHOSE)])
def test_a_copy_that_is_damaged(whose):
    with Cluster() as cluster:
        collection = cluster.owner().client["d"]["c"]
        collection.create_index("k")
        rows = [{"_id": n, "k": n % 10, "pad": f"{n}" * PAD} for n in range(DOCUMENTS)]
        collection.insert_many([{**row, "pad": row["pad"][:PAD]} for row in rows])
        there = seen(cluster.whole())
        assert there[1] == DOCUMENTS
        for name in WANTED:
            owner = cluster.owner()
            node = owner if whose == "the owner's" else cluster.followers()[0]
            damaged(cluster, node, name)
            # As the owner it serves from its own copy.
            if cluster.owner() is not node:
                cluster.hand_over(node)
            cluster.whole()
            assert all(seen(one) == there for one in cluster.nodes)
            collection = cluster.owner().client["d"]["c"]
            collection.insert_one({"_id": there[1], "k": 1})
            there = seen(cluster.owner())
        cluster.verify(*cluster.nodes)
