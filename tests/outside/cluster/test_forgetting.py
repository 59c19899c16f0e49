"""A node that was shut down for good can be forgotten: no other node lists it any more. A live node
and an owner of data cannot; and a forgotten node may rejoin."""

import time

from lib.cluster import Cluster, Node, forget

REFUSED = 3
#: Seconds within which all nodes have read the records again.
SEEN_WITHIN = 60


def named(node):
    """Returns the names of the nodes that a node lists."""
    return sorted(each["name"] for each in node.about()["nodes"])


def await_names(node, names):
    end = time.monotonic() + SEEN_WITHIN
    while (seen := named(node)) != sorted(names):
        assert time.monotonic() < end, seen
        time.sleep(0.1)


def test_a_node_that_is_gone_is_forgotten_and_one_that_lives_is_not():
    with Cluster([Node, Node]) as cluster:
        owner = cluster.whole()
        [follower] = cluster.followers()
        owner.client["d"]["c"].insert_one({"_id": 1})
        for node, why in [(owner, "stop it first"), (follower, "stop it first"), (None, "no node")]:
            refused = forget(cluster.keyspace, node.name if node else "nobody")
            assert refused.returncode == REFUSED, refused
            assert why in refused.stderr, refused
        follower.kill()
        done = forget(cluster.keyspace, follower.name)
        assert (done.returncode, follower.name in done.stdout) == (0, True), done
        await_names(owner, [owner.name])
        again = forget(cluster.keyspace, follower.name)
        assert (again.returncode, owner.name in again.stderr) == (REFUSED, True), again
        # The owner died without giving up its data, and no other node can take over.
        owner.kill()
        alone = forget(cluster.keyspace, owner.name)
        assert (alone.returncode, "still owns" in alone.stderr) == (REFUSED, True), alone
        follower.start()
        assert cluster.owner(but=[owner]) is follower
        await_names(follower, [owner.name, follower.name])
        assert follower.client["d"]["c"].find_one() == {"_id": 1}
        done = forget(cluster.keyspace, owner.name)
        assert done.returncode == 0, done
        await_names(follower, [follower.name])
        owner.start()
        cluster.whole()
        await_names(follower, [owner.name, follower.name])
