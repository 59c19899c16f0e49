"""Nodes whose wall clocks disagree: instants never go back over take-overs between them, and a
document dies when the database's own clock says so."""

import os
import time

import pytest
from lib.cluster import Cluster
from lib.seed import TORTURE

from cluster.probe import Probe, backwards

S = 1_000
ROUNDS = int(os.environ.get("ROUNDS", 10 if TORTURE else 1))
#: Milliseconds by which each node's wall clock is off. One that is off by more than a minute is not
#: ready: server/src/node/tests.rs has those.
WALLS = {"5 s": [0, 5 * S, -5 * S]}


def moved(cluster, to):
    cluster.hand_over(to)


def killed(cluster, to):
    owner = cluster.owner()
    owner.kill()
    cluster.owner(but=[owner])
    owner.start()
    cluster.whole()


@pytest.mark.parametrize("walls", WALLS)
def test_instants_never_go_back(walls, tmp_path, capsys):
    flags_of = {}
    for number, off in enumerate(WALLS[walls], 1):
        (tmp_path / str(number)).write_text(str(off))
        flags_of[number] = ["--test-wall", str(tmp_path / str(number))]
    with Cluster(flags_of=flags_of) as cluster:
        probes = [Probe(node) for node in cluster.nodes]
        for probe in probes:
            probe.thread.start()
        try:
            for round in range(3 * ROUNDS):
                for how in (moved, killed):
                    to = cluster.nodes[round % len(cluster.nodes)]
                    if how is moved and cluster.owner() is to:
                        continue
                    how(cluster, to)
                    dies_in_time(cluster, f"r{round}-{how.__name__}")
        finally:
            for probe in probes:
                probe.over.set()
            for probe in probes:
                probe.thread.join(60)
        for probe in probes:
            probe.compare(cluster.owner().client)
            assert probe.wrong == []
        instants = [one for probe in probes for one in probe.instants]
        assert backwards(instants) == []
    assert len(instants) > 100 * ROUNDS, "hardly any instants"
    with capsys.disabled():
        print(f"\nwalls {walls} apart: {len(instants)} instants, none went back")


def dies_in_time(cluster, name):
    """By the database's clock: alive before its second, dead from it on, through each node."""
    collections = [node.client["walls"][name] for node in cluster.nodes]
    collections[0].create_index("_ts", expireAfterSeconds=2)
    before = cluster.owner().now_ms()
    collections[0].insert_one({"_id": 1})
    after = cluster.owner().now_ms()
    until = time.monotonic() + 30
    while any(collection.find_one() for collection in collections):
        assert time.monotonic() < until, "it does not die"
        time.sleep(0.02)
    now = cluster.owner().now_ms()
    assert before // S * S + 2 * S <= now, "it died early"
    # A look takes a moment, here on a busy machine.
    assert now < after // S * S + 2 * S + 3 * S, "it died late"
