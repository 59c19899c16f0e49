"""An entry of the journal that was committed, and that nodes need, is gone from Cassandra: nobody
serves, as something that was acknowledged would be missing, and who stands says which entry it is.
Once the entry is there again, the cluster goes on by itself with all that was acknowledged. One of
the places where it may be; all with --torture."""

import random
import re
import shutil
import time

import pytest
from lib import cql
from lib.cluster import CONTACT_POINTS, Cluster, Node
from lib.seed import SEED, TORTURE
from lib.server import address

DOCUMENTS = 20
#: Seconds within which the nodes say what is missing, for which they are watched then, and within
#: which they go on.
SAID, WATCHED, GOES_ON = 30.0, 5.0, 30.0
#: Seconds of more than one beat.
BEATS = 2.0
WHICH = ("last", "some")
WANTED = WHICH if TORTURE else [random.Random(SEED).choice(WHICH)]


def execute(statement):
    return cql.execute(address(CONTACT_POINTS.split(",")[0]), statement)


def journal(keyspace):
    """Rows of the newest epoch that has some, in order: (shard, epoch, segment, n, part), body."""
    found = []
    columns = "shard, epoch, segment, n, part, body"
    for *key, body in execute(f"SELECT {columns} FROM {keyspace}.journal"):
        found.append(([int.from_bytes(one, "big", signed=True) for one in key], body))
    newest = max(key[1] for key, _ in found)
    return sorted((key, body) for key, body in found if key[1] == newest)


def take(keyspace, n):
    """Deletes an entry of the newest epoch, and returns what it was."""
    taken = [(key, body) for key, body in journal(keyspace) if key[3] == n]
    for (shard, epoch, segment, n, _), _ in taken:
        where = f"shard = {shard} AND epoch = {epoch} AND segment = {segment} AND n = {n}"
        execute(f"DELETE FROM {keyspace}.journal USING TIMESTAMP 1 WHERE {where}")
    assert all(key[3] != n for key, _ in journal(keyspace)), "it is still there"
    return taken


def put_back(keyspace, taken):
    """Later than the deletion was, and no later than what drops a whole segment."""
    for key, body in taken:
        values = ", ".join(map(str, key))
        execute(
            f"INSERT INTO {keyspace}.journal (shard, epoch, segment, n, part, body) "
            f"VALUES ({values}, 0x{body.hex()}) USING TIMESTAMP 2"
        )


def closed(states, said):
    """Whether no node is ready, and one at least says why."""
    is_said = any(said.search(text) for _, text in states)
    return is_said and {status for status, _ in states} == {503}


def is_whole(states):
    return {status for status, _ in states} == {200}


def wait(cluster, condition, within, told):
    until = time.monotonic() + within
    while not condition([node.ready() for node in cluster.nodes]):
        states = [(node.name, node.role(), node.ready()) for node in cluster.nodes]
        assert time.monotonic() < until, f"{told}: {states}"
        time.sleep(0.1)


@pytest.mark.parametrize("which", WANTED)
def test_a_committed_entry_that_is_missing(which):
    with Cluster([Node, Node]) as cluster:
        wanted = list(range(DOCUMENTS))
        for number in wanted:
            cluster.owner().client["d"]["c"].insert_one({"_id": number})
        cluster.whole()
        # Beats tell what is committed.
        time.sleep(BEATS)
        # All die at once: nobody closes the epoch.
        for node in cluster.nodes:
            node.kill()
        # What nodes have themselves they do not need of the journal.
        for node in cluster.nodes:
            shutil.rmtree(node.data_dir)
        entries = sorted({key[3] for key, _ in journal(cluster.keyspace)})
        assert len(entries) > DOCUMENTS // 2
        n = entries[-1] if which == "last" else random.Random(SEED).choice(entries[:-1])
        taken = take(cluster.keyspace, n)
        cluster.start(*cluster.nodes)
        said = re.compile(rf"entry {n} of epoch \d+ is missing in the cluster's journal")
        # Until its lease is over a follower believes in the owner that it finds in the records.
        wait(cluster, lambda states: closed(states, said), SAID, "nobody says it")
        until = time.monotonic() + WATCHED
        while time.monotonic() < until:
            states = [node.ready() for node in cluster.nodes]
            assert closed(states, said), states
            assert "owner" not in [node.role() for node in cluster.nodes]
            time.sleep(0.1)
        put_back(cluster.keyspace, taken)
        wait(cluster, is_whole, GOES_ON, "it stays so")
        cluster.whole()
        for node in cluster.nodes:
            assert sorted(row["_id"] for row in node.client["d"]["c"].find()) == wanted
        cluster.verify(*cluster.nodes)
