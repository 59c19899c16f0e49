"""Nodes whose wall clocks differ: instants never go back over take-overs between them, and a
document expires by the database's own clock."""

import os

import pytest
from lib.seed import TORTURE

from cluster.probe import Probe, backwards
from cluster.take_overs import killed
from cluster.walls import S, Walls, dies_in_time

ROUNDS = int(os.environ.get("ROUNDS", 10 if TORTURE else 1))
#: Offsets of the nodes' wall clocks in milliseconds. A node that is off by more than a minute is
#: not ready: see test_wall_steps.py.
WALLS = {"5 s": [0, 5 * S, -5 * S]}


def moved(cluster, to):
    cluster.hand_over(to)


def died(cluster, _):
    killed(cluster)


@pytest.mark.parametrize("walls", WALLS)
def test_instants_never_go_back(walls, tmp_path, capsys):
    with Walls(tmp_path, *WALLS[walls]).cluster as cluster:
        probes = [Probe(node) for node in cluster.nodes]
        for probe in probes:
            probe.thread.start()
        try:
            for round in range(3 * ROUNDS):
                for how in (moved, died):
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
