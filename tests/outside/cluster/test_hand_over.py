"""A hand-over moves a shard to the node that the operator chose and it stays there, or it is
refused without side effects; and nodes know which other nodes are up."""

import json
import subprocess
import time

import pytest
from badinput.wire import Wire, command, msg
from lib.cluster import Cluster, Node
from lib.server import EBB_BIN

CONFLICT, FAILED = 409, 1
#: Seconds in which placement runs several times.
LOOKS = 6
#: Seconds within which a client with a connection slot has its reply.
ANSWERED_WITHIN = 60
#: Connection slots of each node.
PLACES = 6


def admin(node, *words):
    line = [
        EBB_BIN,
        "admin",
        "cluster",
        *words,
        "--admin-addr",
        node.admin_url.removeprefix("http://"),
    ]
    key = node.data_dir / "admin.key"
    line += ["--key-file", str(key)] if key.exists() else []
    return subprocess.run(line, capture_output=True, text=True, timeout=60)


def shard_of(node, number):
    return next(each for each in node.about()["shards"] if each["shard"] == number)


def told_of(node, other):
    until = time.monotonic() + 10
    # A node that has just started is seen when the records are read next.
    while True:
        for each in node.about()["nodes"]:
            if each["name"] == other.name:
                return each
        assert time.monotonic() < until, f"{node.name} does not see {other.name}"
        time.sleep(0.05)


def test_a_node_that_cannot_own_the_data_is_refused_and_shown():
    with Cluster([Node, Node, Node]) as cluster:
        owner = cluster.whole()
        hanging, dead = cluster.followers()
        assert told_of(owner, dead)["state"] == "up"
        cluster.until(lambda: told_of(owner, dead)["behind"] == 0, f"{dead.name} is behind")
        owner.client["d"]["c"].insert_one({"_id": 1})
        before = shard_of(owner, 0)["epoch"]
        hanging.pause()
        dead.kill()
        try:
            for target in (hanging, dead):
                status, said = cluster.refuse_hand_over(target)
                assert (status, target.name in said) == (CONFLICT, True), said
                # The owner has not given up anything for it.
                assert owner.role() == "owner"
                ran = admin(owner, "hand-over", "0", "--to", target.name)
                assert ran.returncode == FAILED, ran
            cluster.until(
                lambda: told_of(owner, dead)["state"] == "down", f"{dead.name} is not down"
            )
            record = told_of(owner, dead)
            assert record["beat_age_ms"] >= 10_000, record
            assert record["behind"] is None, record
            assert told_of(owner, owner)["state"] == "up"
            shown = admin(owner, "status").stdout
            assert f"node {dead.name}: down, last beat " in shown, shown
        finally:
            hanging.go_on()
        assert shard_of(owner, 0)["epoch"] == before
        dead.start()
        cluster.whole()
        done = admin(owner, "hand-over", "0", "--to", hanging.name, "--json")
        assert done.returncode == 0, done
        assert json.loads(done.stdout)["owner"] == hanging.name


def test_what_an_operator_moved_stays():
    with Cluster([Node, Node], shards=3) as cluster:
        cluster.whole()
        # Placement counts a node only after it has been up for a while.
        time.sleep(2 * LOOKS)
        for number in range(3):
            target = moved_to_another(cluster, number)
            time.sleep(LOOKS)
            assert shard_of(target, number)["owner"] == target.name


def moved_to_another(cluster, number):
    """Has a shard handed over to the node that does not own it; returns that node. Retries, because
    placement may move it at the same time until all nodes have been up for a while."""
    first, second = cluster.nodes
    until = time.monotonic() + 30
    while True:
        target = second if shard_of(first, number)["owner"] == first.name else first
        done = admin(first, "hand-over", str(number), "--to", target.name)
        if done.returncode == 0:
            return target
        assert time.monotonic() < until, done
        time.sleep(0.5)


@pytest.mark.parametrize("beyond", [0, 1])
def test_each_node_serves_as_many_clients_as_it_may(beyond):
    """A forwarded client takes one connection slot, not two; one over the limit is closed."""
    with Cluster([Node, Node], flags=["--max-connections", str(PLACES)]) as cluster:
        cluster.whole()
        for node in cluster.nodes:
            node.client.close()
            node.items.close()
        wanted = [True] * PLACES + [False] * beyond
        for node in cluster.nodes:
            until = time.monotonic() + 10
            # The slot of a disconnected client is freed only when the node has noticed.
            while (served := all_served(node, len(wanted))) != wanted:
                assert time.monotonic() < until, (node.name, served)
                time.sleep(0.2)
            if beyond:
                assert "the connection limit is reached" in node.log.read_text()


def all_served(node, number):
    """Returns for each of several clients, connected in turn, whether it is served."""
    clients = [Wire(node.address) for _ in range(number)]
    served = [is_served(client) for client in clients]
    for client in clients:
        client.close()
    return served


def is_served(client):
    return client.ask(msg(command(("find", "c"))), ANSWERED_WITHIN) is not None
