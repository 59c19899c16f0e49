"""A node that is gone for good is forgotten: no other names it any more. One that lives is not, nor
is one that owns the data; and whoever comes back is a node like any other."""

import time

from lib.cluster import Cluster, Node, forget

REFUSED = 3
#: Seconds after which all nodes have looked at the records again.
SEEN_WITHIN = 10


def named(node):
    """The nodes of which a node tells."""
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
        # It has not been told; nobody else is there to take over.
        owner.kill()
        alone = forget(cluster.keyspace, owner.name)
        assert (alone.returncode, "still the owner" in alone.stderr) == (REFUSED, True), alone
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
