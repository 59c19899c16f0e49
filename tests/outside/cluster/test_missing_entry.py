"""A committed journal entry that nodes need is missing in Cassandra: no node serves, as
acknowledged data would be missing, and a candidate reports which entry it is. Once the entry is
restored, the cluster resumes automatically with all acknowledged data. Tests one position of the
entry; all with --torture."""

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
#: Seconds within which the nodes report the missing entry, for which they are watched then, and
#: within which they resume.
SAID, WATCHED, GOES_ON = 30.0, 5.0, 30.0
#: Seconds that are longer than one heartbeat.
BEATS = 2.0
WHICH = ("last", "some")
WANTED = WHICH if TORTURE else [random.Random(SEED).choice(WHICH)]


def execute(statement):
    return cql.execute(address(CONTACT_POINTS.split(",")[0]), statement)


def journal(keyspace):
    """Returns the newest epoch's rows in order: (shard, epoch, segment, n, part), body."""
    found = []
    columns = "shard, epoch, segment, n, part, body"
    for *key, body in execute(f"SELECT {columns} FROM {keyspace}.journal"):
        found.append(([int.from_bytes(one, "big", signed=True) for one in key], body))
    newest = max(key[1] for key, _ in found)
    return sorted((key, body) for key, body in found if key[1] == newest)


def take(keyspace, n):
    """Deletes an entry of the newest epoch, and returns its rows."""
    taken = [(key, body) for key, body in journal(keyspace) if key[3] == n]
    for (shard, epoch, segment, n, _), _ in taken:
        where = f"shard = {shard} AND epoch = {epoch} AND segment = {segment} AND n = {n}"
        execute(f"DELETE FROM {keyspace}.journal USING TIMESTAMP 1 WHERE {where}")
    assert all(key[3] != n for key, _ in journal(keyspace)), "it is still there"
    return taken


def put_back(keyspace, taken):
    """Inserts the rows again, with a timestamp after their deletion, not after a segment's."""
    for key, body in taken:
        values = ", ".join(map(str, key))
        execute(
            f"INSERT INTO {keyspace}.journal (shard, epoch, segment, n, part, body) "
            f"VALUES ({values}, 0x{body.hex()}) USING TIMESTAMP 2"
        )


def closed(states, said):
    """Returns whether no node is ready, and at least one says why."""
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
        # The next heartbeat records which entries are committed.
        time.sleep(BEATS)
        # All are killed at once, so that no node closes the epoch.
        for node in cluster.nodes:
            node.kill()
        # Nodes would not read entries from the journal that they have in their own copies.
        for node in cluster.nodes:
            shutil.rmtree(node.data_dir)
        entries = sorted({key[3] for key, _ in journal(cluster.keyspace)})
        assert len(entries) > DOCUMENTS // 2
        n = entries[-1] if which == "last" else random.Random(SEED).choice(entries[:-1])
        taken = take(cluster.keyspace, n)
        cluster.start(*cluster.nodes)
        said = re.compile(rf"entry {n} of epoch \d+ is missing in the cluster's journal")
        # A follower accepts the owner that it finds in the records until its lease has expired.
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
