"""Cassandra is reached slowly by all nodes, as over a long or an unsteady way: nothing is lost, the
data keep their owner while a beat has its answer in time, and no node asks without a pause. Where
answers come later than a lease lasts, owners may change, but nothing is lost either, and all is
well when the way is. With --torture alone; SECONDS says how long each way is slow.
"""

import contextlib
import os
import pathlib
import time

import pytest
from lib.cluster import Cluster
from lib.island import IslandNode
from lib.seed import TORTURE

from cluster.probe import Probe, backwards

SECONDS = float(os.environ.get("SECONDS", 30))


class Way:
    """Seconds that bytes take in each direction, and what may happen then: take-overs, and the
    fewest writes that are acknowledged to each client."""

    def __init__(self, least, most, terms, acks):
        self.takes, self.terms, self.acks = (least, most), terms, acks


WAYS = {
    "300 ms": Way(0.3, 0.3, 1, 2),
    "100 to 500 ms": Way(0.1, 0.5, 1, 2),
    "600 ms": Way(0.6, 0.6, 1, 1),
    "1 s": Way(1.0, 1.0, SECONDS / 3, 0),
    "0 to 3 s": Way(0.0, 3.0, SECONDS / 3, 0),
}
#: The part of a processor that a node may take while there is next to nothing to do.
BUSY = 0.5


@pytest.fixture(scope="module")
def cluster():
    with Cluster([IslandNode] * 3) as cluster:
        yield cluster


def terms(cluster):
    """How often any node became the owner, and the owner's number in the shard's record."""
    counts = [node.figure("ebb_cluster_terms_total") for node in cluster.nodes]
    return sum(counts), max(node.figure("ebb_cluster_epoch") for node in cluster.nodes)


def worked(node):
    """Seconds of a processor that a process took."""
    text = pathlib.Path(f"/proc/{node.process.pid}/stat").read_text()
    fields = text.rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def slow(cluster, least, most):
    for node in cluster.nodes:
        node.cassandra.slow(least, most)
    try:
        yield
    finally:
        for node in cluster.nodes:
            node.cassandra.slow(0.0, 0.0)


@pytest.mark.skipif(not TORTURE, reason="takes a minute each")
@pytest.mark.parametrize("name", WAYS)
def test_a_slow_way_to_cassandra(cluster, name, capsys):
    way = WAYS[name]
    cluster.whole()
    with contextlib.ExitStack() as stack:
        database = f"slow-{list(WAYS).index(name)}"
        probes = [stack.enter_context(Probe(node, database)) for node in cluster.nodes]
        time.sleep(1)
        before, worked_before = terms(cluster), [worked(node) for node in cluster.nodes]
        with slow(cluster, *way.takes):
            began = time.monotonic()
            time.sleep(SECONDS)
            ended = time.monotonic()
            after = terms(cluster)
            spent = [worked(node) for node in cluster.nodes]
        work = [later - sooner for sooner, later in zip(worked_before, spent, strict=True)]
        cluster.whole()
        mended = time.monotonic()
        acks = [sum(began + 2 <= at <= ended for at in probe.acks) for probe in probes]
        gap = max(probe.gap(began, mended) for probe in probes)
        while not all(probe.acks[-1] > mended for probe in probes):
            assert time.monotonic() < mended + 30, "no service after it"
            time.sleep(0.02)
    for probe in probes:
        for node in cluster.nodes:
            probe.compare(node.client)
        assert probe.wrong == []
    assert backwards([one for probe in probes for one in probe.instants]) == []
    changes = [later - sooner for sooner, later in zip(before, after, strict=True)]
    assert max(changes) <= way.terms, f"owners changed: {before} {after} {cluster.told()}"
    assert min(acks) >= way.acks, acks
    assert max(work) / (ended - began) < BUSY, f"seconds of a processor: {work}"
    with capsys.disabled():
        print(
            f"\n{name} each way for {ended - began:.0f} s: owners changed {changes[0]:.0f} times, "
            f"{acks} writes acknowledged, {gap:.1f} s without service at the longest, "
            f"{max(work) / (ended - began):.0%} of a processor"
        )
