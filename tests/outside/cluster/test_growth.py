"""How a cluster scales: three shards on one, two and three nodes, each limited to a fifth of a
processor, while clients read documents by their ids at the owners. It prints reads per second and
the processor time of each, and asserts only that the results are correct. A measurement: it runs
with GROWTH=1 only, where version 1 of control groups is available (docs/performance.md).
"""

import contextlib
import multiprocessing
import os
import pathlib
import selectors
import socket
import time

import bson
import pytest
from lib.cluster import Cluster, Node

SHARDS = 3
#: A database of each shard (docs/format.md).
HOMES = ["d", "test", "a"]
DOCUMENTS = 10_000
CONNECTIONS = 8
SECONDS = 10.0
#: Seconds after which no shard moves any more.
SETTLED = 5.0
#: Processors per node.
SHARE = 0.2
PERIOD_US = 20_000
GROUPS = pathlib.Path("/sys/fs/cgroup/cpu")
HEAD = 16
TICKS = os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def held(nodes, share):
    """Limits each node to a share of a processor."""
    folders = [GROUPS / f"ebb-growth-{os.getpid()}-{node.name}" for node in nodes]
    try:
        for folder, node in zip(folders, nodes, strict=True):
            folder.mkdir()
            (folder / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (folder / "cpu.cfs_quota_us").write_text(str(int(PERIOD_US * share)))
            (folder / "cgroup.procs").write_text(str(node.process.pid))
        yield
    finally:
        for folder, node in zip(folders, nodes, strict=True):
            (GROUPS / "cgroup.procs").write_text(str(node.process.pid))
            folder.rmdir()


def spent(nodes):
    """Returns the processor time that nodes have used, in seconds."""
    stats = [pathlib.Path(f"/proc/{node.process.pid}/stat").read_text() for node in nodes]
    fields = [stat.rsplit(")", 1)[1].split() for stat in stats]
    return sum(int(of[11]) + int(of[12]) for of in fields) / TICKS


def question(database, id):
    body = bson.encode({"find": "c", "filter": {"_id": id}, "limit": 1, "$db": database})
    length = HEAD + 5 + len(body)
    head = b"".join(number.to_bytes(4, "little") for number in (length, 1, 0, 2013, 0))
    return head + b"\0" + body


def ask(address, database, seconds, counts):
    """Reads on several connections at once; puts the number of replies into `counts`."""
    answered, at, until = 0, 0, time.monotonic() + seconds
    with selectors.DefaultSelector() as ready:
        for _ in range(CONNECTIONS):
            stream = socket.create_connection(address)
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stream.sendall(question(database, at))
            ready.register(stream, selectors.EVENT_READ, at)
            at += 1
        while time.monotonic() < until:
            for key, _ in ready.select(1):
                reply = key.fileobj.recv(65_536)
                assert int.from_bytes(reply[:4], "little") == len(reply), "half a reply"
                [found] = bson.decode(reply[HEAD + 5 :])["cursor"]["firstBatch"]
                assert found["_id"] == key.data, found
                answered += 1
                at = (at + 7_919) % DOCUMENTS
                key.fileobj.sendall(question(database, at))
                ready.modify(key.fileobj, selectors.EVENT_READ, at)
    counts.put(answered)


def owners(cluster):
    """Returns each shard's owner, once the nodes share them and none changed for SETTLED."""
    until, since, before = time.monotonic() + 60, 0.0, None
    while True:
        names = [shard["owner"] for shard in cluster.nodes[0].about()["shards"]]
        if names != before:
            since, before = time.monotonic(), names
        shared = None not in names and len(set(names)) == len(cluster.nodes)
        if shared and time.monotonic() - since >= SETTLED:
            by_name = {node.name: node for node in cluster.nodes}
            return [by_name[name] for name in names]
        assert time.monotonic() < until, f"{names} {cluster.told()}"
        time.sleep(0.1)


def reads(cluster):
    """Returns the number of replies, and the processor time of all nodes during them in seconds."""
    counts, own = multiprocessing.Queue(), owners(cluster)
    asking = [
        multiprocessing.Process(target=ask, args=(node.address, name, SECONDS, counts))
        for node, name in zip(own, HOMES, strict=True)
    ]
    with held(cluster.nodes, SHARE):
        before = spent(cluster.nodes)
        for process in asking:
            process.start()
        answered = sum(counts.get(timeout=SECONDS + 30) for _ in asking)
        used = spent(cluster.nodes) - before
    for process in asking:
        process.join()
        assert process.exitcode == 0
    assert [node.name for node in owners(cluster)] == [node.name for node in own]
    return answered, used


@pytest.mark.skipif(os.environ.get("GROWTH") != "1", reason="a measurement: GROWTH=1")
def test_growth(capsys):
    told = []
    for count in (1, 2, 3):
        with Cluster([Node] * count, shards=SHARDS) as cluster:
            for name in HOMES:
                collection = cluster.nodes[0].client[name]["c"]
                collection.insert_many({"_id": id, "text": "x" * 200} for id in range(DOCUMENTS))
            answered, used = reads(cluster)
        told.append(
            f"{count} nodes: {answered / SECONDS:.0f} reads a second, "
            f"{used / answered * 1e6:.0f} us of a processor each"
        )
    with capsys.disabled():
        print("\n" + "\n".join(told))
