"""A committed entry is deleted from the journal of a cluster: no node serves until an operator
accepts the loss. Then all documents before it are visible, and on no node any after it."""

import time

from lib import cql
from lib.cluster import CONTACT_POINTS, Cluster, Node, accept_loss
from lib.server import address

REFUSED = 3
#: Number of documents, one per journal entry, and of those on the node that is not wiped.
DOCUMENTS, SEEN = 60, 20
#: Number of the deleted entry, after those for the epoch, the catalog and the collection.
LOST = 45
#: Seconds within which the owner's lease has expired and the journal has been read.
TOLD_WITHIN = 60


def insert(node, ids):
    for number in ids:
        node.client["d"]["c"].insert_one({"_id": number})


def ids(node):
    return [document["_id"] for document in node.client["d"]["c"].find().sort("_id")]


def test_a_lost_entry_is_accepted():
    with Cluster([Node, Node]) as cluster:
        owner = cluster.whole()
        [follower] = cluster.followers()
        insert(owner, range(SEEN))
        follower.kill()
        insert(owner, range(SEEN, DOCUMENTS))
        refused = accept_loss(cluster.keyspace)
        assert (refused.returncode, "a node serves shard 0" in refused.stderr) == (REFUSED, True), (
            refused
        )
        owner.kill()
        nothing = accept_loss(cluster.keyspace, "--yes")
        assert (nothing.returncode, "no committed entry" in nothing.stderr) == (REFUSED, True), (
            nothing
        )
        cql.execute(
            address(CONTACT_POINTS.split(",")[0]),
            f"DELETE FROM {cluster.keyspace}.journal USING TIMESTAMP 2 "
            f"WHERE shard = 0 AND epoch = 1 AND segment = 0 AND n = {LOST}",
        )
        follower.start()
        until = time.monotonic() + TOLD_WITHIN
        while f"entry {LOST} of epoch 1 is missing" not in (why := str(follower.ready())):
            assert time.monotonic() < until, why
            time.sleep(0.1)
        assert follower.role() != "owner"
        told = accept_loss(cluster.keyspace)
        assert (told.returncode, "--yes" in told.stderr) == (REFUSED, True), told
        assert f"all entries up to {LOST - 1} exist" in told.stdout, told
        done = accept_loss(cluster.keyspace, "--yes")
        assert done.returncode == 0, done
        assert done.stdout.startswith(told.stdout), (told, done)
        assert cluster.owner(but=[owner]) is follower
        left = ids(follower)
        assert SEEN <= len(left) < LOST
        assert left == list(range(len(left)))
        insert(follower, range(1000, 1010))
        # This node had all the lost entries.
        owner.start()
        cluster.whole()
        cluster.hand_over(owner)
        assert ids(owner) == [*left, *range(1000, 1010)]
        cluster.verify(*cluster.nodes)
