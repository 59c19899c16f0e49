"""Two of three nodes of Cassandra are down: no write is acknowledged and, once the lease has
expired, no read succeeds; every client gets a closed connection or a retryable error within 20
seconds. The cluster resumes automatically when one of them is back, and no acknowledged write is
lost. With --torture only; ROUNDS is the number of rounds.
"""

import contextlib
import os
import random
import time

import pytest
from lib.cluster import Cassandra, Cluster
from lib.seed import SEED, TORTURE

from cluster.probe import Probe, backwards
from cluster.questions import Crowd, lost, prepare, repeat, summary, wrong

ROUNDS = int(os.environ.get("ROUNDS", 3))
#: Seconds of a lease, its margin and a heartbeat, on a machine that runs other work too.
LEASE = 6.0
#: Seconds within which a write gets its reply that was committed when the nodes went down.
UNDER_WAY = 1.0
#: Seconds without service after one node is back.
GOES_ON = 30.0


@pytest.mark.skipif(not TORTURE, reason="takes a minute a round")
def test_two_dead_nodes_of_cassandra(capsys):
    cassandra, chosen = Cassandra(), random.Random(SEED)
    with Cluster() as cluster, contextlib.ExitStack() as stack:
        prepare(cluster.owner(), "v")
        probes = [stack.enter_context(Probe(node)) for node in cluster.nodes]
        for round in range(ROUNDS):
            told = one_round(cluster, cassandra, probes, chosen.sample((1, 2, 3), 2), round)
            with capsys.disabled():
                print(f"\nround {round}: {told}")
        for probe in probes:
            assert probe.wrong == []
        assert backwards([one for probe in probes for one in probe.instants]) == []


def one_round(cluster, cassandra, probes, dead, round):
    nodes = cluster.nodes
    at_once, later = Crowd(nodes, f"{round}-at-once"), Crowd(nodes, f"{round}-later")
    left = list(dead)
    try:
        for number in dead:
            cassandra.kill(number)
        died = time.monotonic()
        at_once.ask()
        time.sleep(LEASE)
        later.ask()
        anew = Crowd(nodes, f"{round}-anew", warm=False).ask()
        first, second = at_once.answers(), later.answers() + anew.answers()
        acks = [at - died for probe in probes for at in probe.acks if at > died + UNDER_WAY]
        assert acks == [], "acknowledged by one node of three"
        began = time.monotonic()
        cassandra.start(left.pop())
        back = time.monotonic()
        goes_on(probes, back)
        went_on = time.monotonic()
    finally:
        for number in left:
            cassandra.start(number)
    for number in dead:
        cassandra.repair(number, cluster.keyspace)
    cluster.whole()
    answers = first + second
    assert wrong(answers) == []
    done = [one for one in first if one.outcome == "done" and one.kind in ("create", "write")]
    done += [one for one in second if one.outcome == "done" and one.kind != "hello"]
    assert done == [], "done by one node of three"
    for node in nodes:
        assert lost(answers, node) == []
        for probe in probes:
            probe.compare(node.client)
            assert probe.wrong == [], f"through {node.name}"
    assert repeat(answers, nodes[round % len(nodes)]) == []
    return (
        f"at once {summary(first)}; later {summary(second)}; {back - began:.1f} s for a node of "
        f"Cassandra to start, then {went_on - back:.1f} s without service"
    )


def goes_on(probes, since):
    """Waits until each probe's writes are acknowledged again."""
    until = since + GOES_ON
    while not all(probe.acks and probe.acks[-1] > since for probe in probes):
        assert time.monotonic() < until, "no service with two nodes of Cassandra"
        time.sleep(0.02)
