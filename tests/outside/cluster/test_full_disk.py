"""Full disks. The owner's: every write is refused with a clear error or acknowledged and kept,
reads continue through all nodes, and another node with free space can take over. A follower's: it
reports that, and the other nodes continue. A Cassandra node's: writes continue with the other two.
With free space everything recovers without intervention. The last one runs with --torture only.
"""

import contextlib
import os
import pathlib
import shutil
import subprocess
import time

import pytest
from faults.disk import Disk
from faults.ledger import Writers
from lib.cluster import FOLDER, Cassandra, Cluster
from lib.ending import tells_end
from lib.seed import TORTURE

from cluster.probe import Probe

#: Sizes in MiB of the node's disk and of the disk of a node of Cassandra.
MEGABYTES, OF_CASSANDRA = 320, 700
#: Writes before the disk is filled, free bytes left then, and size of the writes that fill them.
BEFORE, LEFT, LARGE = 10, 24 << 20, 200_000
#: Seconds within which a node reports a full disk, and accepts writes once there is space again.
KNOWN, HEALED = 10.0, 15.0
#: Seconds of writing to a full disk of Cassandra, and limit of the time without an acknowledgement.
WRITTEN, WITHOUT = 15.0, 15.0


@contextlib.contextmanager
def disk_of(megabytes):
    with contextlib.ExitStack() as stack:
        try:
            disk = stack.enter_context(Disk(megabytes))
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"no file system can be mounted here: {error}")
        yield disk


class Through(Writers):
    """Writers through one node at a time of a cluster, whose owner may change."""

    def go_through(self, node):
        self.close()
        self.server = node
        self.connect()

    def compare_all(self, nodes):
        """Returns the differences that the nodes show, and unexplained refusals except the ones
        that a change of the owner explains."""
        wrong = [text for text in self.wrong if not (tells_end(text) or "closed" in text)]
        for node in nodes:
            self.go_through(node)
            wrong += [f"through {node.name}: {text}" for text in self.compare()]
        return wrong


def begun(node):
    writers = Through(node)
    writers.make()
    for _ in range(BEFORE):
        assert all(writers.write()), writers.wrong
    writers.size = LARGE
    return writers


def says(node, within=KNOWN):
    """Waits until the node reports that its disk is full."""
    until = time.monotonic() + within
    while True:
        status, text = node.ready()
        if status == 503 and ("space" in text or "disk" in text or "full" in text):
            return
        assert time.monotonic() < until, f"{status} {text} {node.log.read_text()[-1500:]}"
        time.sleep(0.05)


def test_a_full_disk_of_a_node(capsys):
    with disk_of(MEGABYTES) as disk:
        cluster = Cluster()
        full, other, _ = cluster.nodes
        full.data_dir = disk.path / "data"
        with cluster:
            cluster.whole()
            if cluster.owner() is not full:
                cluster.hand_over(full)
            writers = begun(other)
            told = [of_the_owner(cluster, writers, disk, full)]
            told.append(of_a_follower(cluster, writers, disk, full))
            writers.size = 100
            for node in cluster.nodes:
                if cluster.owner() is not node:
                    cluster.hand_over(node)
                cluster.whole()
                assert writers.compare_all(cluster.nodes) == []
                assert all(writers.write()), writers.wrong
            writers.close()
            cluster.verify(*cluster.nodes)
    with capsys.disabled():
        print("\n" + "\n".join(told))


def of_the_owner(cluster, writers, disk, full):
    """The owner refuses writes, and a node with free space takes over without an operator."""
    disk.fill(LEFT)
    began = time.monotonic()
    until = began + 30
    while all(writers.write()) and cluster.owner() is full:
        assert time.monotonic() < until, "a full disk refuses nothing"
    took = time.monotonic() - began
    disk.fill()
    cluster.owner(but=[full])
    gone = time.monotonic() - began
    assert writers.compare_all(cluster.nodes) == []
    writers.go_through(full)
    healed = writers.heal(HEALED)
    assert cluster.owner() is not full
    return (
        f"full owner: refused after {took:.1f} s, another one owns the data after {gone:.1f} s; "
        f"through the full one writes are taken {healed:.1f} s later"
    )


def of_a_follower(cluster, writers, disk, full):
    """The full follower cannot serve from its own copy, but forwards all reads."""
    until = time.monotonic() + 30
    while full.ready()[0] == 200 or full.about()["node"]["role"] == "follower":
        assert all(writers.write()), writers.wrong
        assert time.monotonic() < until, f"it follows without room: {full.about()}"
    says(full)
    assert writers.compare_all(cluster.nodes) == []
    role = full.about()["node"]["role"]
    disk.empty()
    began = time.monotonic()
    cluster.whole()
    return (
        f"full follower: {role!r}, follows {time.monotonic() - began:.1f} s after there is room; "
        f"{len(writers.acked)} acknowledged, {len(writers.refused)} refused, "
        f"{len(writers.unknown)} unknown"
    )


class SmallDisk:
    """Moves the folder of a Cassandra node to a file system of its own while the block runs."""

    def __init__(self, cassandra, number, disk):
        self.cassandra, self.number, self.disk = cassandra, number, disk
        self.folder = pathlib.Path(FOLDER) / str(number)

    def __enter__(self):
        self.cassandra.kill(self.number)
        shutil.move(self.folder, self.disk.path / "home")
        self.folder.symlink_to(self.disk.path / "home")
        self.cassandra.start(self.number)
        return self

    def lives(self):
        """Returns whether the node's process runs."""
        try:
            os.kill(int((self.folder / "pid").read_text()), 0)
        except ProcessLookupError:
            return False
        return True

    def __exit__(self, *problem):
        if self.lives():
            self.cassandra.kill(self.number)
        self.folder.unlink()
        shutil.move(self.disk.path / "home", self.folder)
        self.cassandra.start(self.number)


@pytest.mark.skipif(not TORTURE, reason="takes a minute")
def test_a_full_disk_of_a_node_of_cassandra(capsys):
    cassandra, number = Cassandra(), 2
    with disk_of(OF_CASSANDRA) as disk, Cluster() as cluster, contextlib.ExitStack() as stack:
        writers = begun(cluster.whole())
        probes = [stack.enter_context(Probe(node)) for node in cluster.nodes]
        with SmallDisk(cassandra, number, disk) as small:
            cluster.whole()
            assert all(writers.write()), writers.wrong
            disk.fill()
            began = time.monotonic()
            while time.monotonic() < began + WRITTEN:
                writers.write()
            ended, lived = time.monotonic(), small.lives()
            gap = max(probe.gap(began, ended) for probe in probes)
            cluster.owner()
            disk.empty()
            if not small.lives():
                cassandra.start(number)
        cassandra.repair(number, cluster.keyspace)
        cluster.whole()
        assert gap < WITHOUT, f"{gap} s without service"
        assert len(writers.acked) > 4 * BEFORE, "hardly any writes"
        assert writers.compare_all(cluster.nodes) == []
        for probe in probes:
            probe.over.set()
            for node in cluster.nodes:
                probe.compare(node.client)
            assert probe.wrong == []
        writers.close()
        cluster.verify(*cluster.nodes)
    with capsys.disabled():
        print(
            f"\nfull disk of a node of Cassandra, which {'lived on' if lived else 'died'}: "
            f"{len(writers.acked)} writes acknowledged, {len(writers.unknown)} not answered, 0 "
            f"lost, {gap:.2f} s without service"
        )
