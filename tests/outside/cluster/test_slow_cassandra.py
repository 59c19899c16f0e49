"""All nodes reach Cassandra slowly, as over a long or unreliable network path: nothing is lost, the
owner stays while heartbeats are answered in time, and no node retries without a pause. With delays
longer than a lease, owners may change, but nothing is lost either, and service is normal again when
the delays end. With --torture only; SECONDS is the duration of each delay.
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
    """Delay in each direction in seconds, and its allowed effects: the number of take-overs, and
    the fewest acknowledged writes of each client."""

    def __init__(self, least, most, terms, acks):
        self.takes, self.terms, self.acks = (least, most), terms, acks


WAYS = {
    "300 ms": Way(0.3, 0.3, 1, 2),
    "100 to 500 ms": Way(0.1, 0.5, 1, 2),
    "600 ms": Way(0.6, 0.6, 1, 1),
    "1 s": Way(1.0, 1.0, SECONDS / 3, 0),
    "0 to 3 s": Way(0.0, 3.0, SECONDS / 3, 0),
}
#: The part of a processor that a node may use while it is almost idle.
BUSY = 0.5


@pytest.fixture(scope="module")
def cluster():
    with Cluster([IslandNode] * 3) as cluster:
        yield cluster


def terms(cluster):
    """Returns how often any node became the owner, and the epoch of the shard."""
    counts = [node.figure("ebb_cluster_terms_total") for node in cluster.nodes]
    return sum(counts), max(node.figure("ebb_cluster_epoch") for node in cluster.nodes)


def worked(node):
    """Returns the processor time that a process has used, in seconds."""
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
