"""Faults under load through all nodes and both APIs: no acknowledged write is lost, no write is
done twice, all nodes return the same data, and instants never go back. ROUNDS is the number of
rounds per fault (30 with --torture; by default one round of half the faults), shared between a
system and a manual clock, which has no wall clock to step; SEED chooses them. FAULTS selects faults
by a part of their names.
"""

import os
import random
import statistics
import time

import pytest
from crash.check import documents
from lib.cluster import Cluster, Node
from lib.island import IslandNode
from lib.seed import SEED, TORTURE

from cluster.faults import FAULTS, WALL_FAULTS
from cluster.load import Clients
from cluster.walls import Walls

ROUNDS = int(os.environ.get("ROUNDS", 30 if TORTURE else 1))
WANTED = os.environ.get("FAULTS", "")
CLOCKS = ("system", "manual")
KINDS = (FAULTS, WALL_FAULTS)
#: Seconds within which every node that can serve does, on a machine that runs other work too.
WITHOUT = 30.0


def dealt(clock):
    """Returns the rounds of a cluster with this clock: faults alternate between the clocks, steps
    of wall clocks need the system clock."""
    rng = random.Random(SEED)
    rounds, stepped = ([name for name in wanted(all, rng) for _ in range(ROUNDS)] for all in KINDS)
    own = [name for at, name in enumerate(rounds) if CLOCKS[(at + SEED) % 2] == clock]
    own += stepped if clock == "system" else []
    random.Random(f"{SEED} {clock}").shuffle(own)
    return own


def wanted(all, rng):
    """Returns the selected names; by default a random half."""
    names = [name for name in all if WANTED in name]
    if "ROUNDS" in os.environ or TORTURE or WANTED:
        return names
    return rng.sample(names, len(names) // 2)


def cluster_of(clock, directory):
    """Returns a cluster with this clock, on the system clock with movable wall clocks."""
    kinds = [IslandNode, Node, Node]
    if clock == "manual":
        return Cluster(kinds, clock=clock)
    return Walls(directory, 0, 0, 0, kinds=kinds).cluster


def strike(cluster, clients, name):
    """Runs one round: a wave of work during the fault, and a wave during recovery. Returns the
    longest time without service, of the nodes that could serve, and all errors."""
    fault = (FAULTS | WALL_FAULTS)[name](cluster)
    next(fault)
    clients.begin()
    time.sleep(clients.load.rng.uniform(0.5, 1.5))
    began = time.monotonic()
    struck = next(fault)
    clients.stop()
    wrong = clients.compare(cluster.owner())
    clients.begin()
    time.sleep(0.5)
    next(fault, None)
    cluster.whole()
    time.sleep(0.5)
    clients.stop()
    ended = time.monotonic()
    for node in cluster.nodes:
        wrong += [f"through {node.name}: {text}" for text in clients.compare(node)]
    spared = [probe for probe in clients.probes if probe.node not in struck] or clients.probes
    return [probe.gap(began, ended) for probe in spared], wrong


def same_everywhere(cluster, clients):
    """Checks the copy of each node, by making each the owner in turn."""
    seen = []
    for node in cluster.nodes:
        if cluster.owner() is not node:
            cluster.hand_over(node)
        assert cluster.owner() is node
        assert clients.compare(node) == []
        if clients.load.times.stands:
            seen.append(documents(node.client["torture"]))
    assert all(one == seen[0] for one in seen), "nodes differ"


@pytest.mark.parametrize("clock", CLOCKS)
def test_faults_under_load(clock, tmp_path, capsys):
    rounds, gaps = dealt(clock), {}
    if not rounds:
        pytest.skip("no round is dealt to this clock")
    with cluster_of(clock, tmp_path) as cluster:
        clients = Clients(cluster)
        with clients.probing():
            for round, name in enumerate(rounds):
                told = f"SEED={SEED}, round {round} ({name})"
                try:
                    gap, wrong = strike(cluster, clients, name)
                except AssertionError as error:
                    raise AssertionError(f"{told}: {error}") from error
                assert wrong == [], f"{told}, {len(wrong)} things:\n" + "\n".join(wrong[:12])
                assert max(gap) < WITHOUT, f"{told}: {gap} s without service"
                gaps.setdefault(name, []).extend(gap)
        same_everywhere(cluster, clients)
        cluster.verify(*cluster.nodes)
    with capsys.disabled():
        print(
            f"\n{clock} clock: {len(rounds)} rounds, {clients.acks()} requests acknowledged, "
            "0 lost, 0 twice; seconds without service, median and worst of the nodes that could "
            "serve:"
        )
        for name, found in sorted(gaps.items()):
            print(f"  {name}: {statistics.median(found):.2f} {max(found):.2f}")
    assert clients.acks() > 50 * len(rounds), "hardly any load"
