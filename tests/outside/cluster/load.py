"""The load of a cluster: the writers of `crash` and the clients of `storm`, through all nodes at
once, and probes that keep running while those are compared with their ledgers."""

import contextlib
import itertools
import threading
import time

from crash.load import Load
from crash.times import SLACK, SystemTimes
from lib.seed import SEED
from storm.check import compare as compare_storm
from storm.documents import Documents
from storm.items import Items
from storm.shared import Shared

from cluster.probe import Probe, backwards

#: Seconds by which database time may be ahead of the machine's clock: a node that takes over starts
#: after every instant that the previous owner may have used.
AHEAD = 4.0
WRITERS, ITEM_WRITERS = 3, 2
DOCUMENT_CLIENTS, ITEM_CLIENTS = 2, 2
ENDS_WITHIN = 45.0


class StormOfDocuments(Documents):
    """A client of the MongoDB API. Nodes of a cluster refuse capped collections."""

    kinds = ("clustered", "plain")


class ClusterTimes(SystemTimes):
    """The bounds of the machine's clock, extended by the amount that a take-over may add."""

    def high(self):
        return time.time() + SLACK + AHEAD


class Clients:
    """All clients of a cluster. They work in waves, each from `begin` to a comparison."""

    def __init__(self, cluster):
        self.cluster = cluster
        owner = cluster.owner()
        times = ClusterTimes() if cluster.clock == "system" else None
        self.load = Load(owner, WRITERS, ITEM_WRITERS, times)
        self.shared = Shared()
        nodes = itertools.cycle(cluster.nodes)
        kinds = [StormOfDocuments] * DOCUMENT_CLIENTS + [Items] * ITEM_CLIENTS
        self.storm = [
            kind(number, SEED, self.shared, next(nodes)) for number, kind in enumerate(kinds)
        ]
        self.probes = [Probe(node) for node in cluster.nodes]
        self.waves = 0

    @contextlib.contextmanager
    def probing(self):
        with contextlib.ExitStack() as stack:
            for probe in self.probes:
                stack.enter_context(probe)
            yield

    def begin(self):
        """Starts a wave through the nodes that serve."""
        nodes = self.cluster.serving()
        self.waves += 1
        gate = threading.Barrier(len(self.storm))
        turns = itertools.cycle(nodes[self.waves % len(nodes) :] + nodes)
        for client in self.storm:
            client.server = next(turns)
            client.begin(gate, f"new{self.waves}")
        self.load.begin(*itertools.islice(turns, len(nodes)))

    def stop(self):
        for client in self.storm:
            client.stopping = True
        self.load.stop(ENDS_WITHIN)
        until = time.monotonic() + ENDS_WITHIN
        while not all(client.ended for client in self.storm):
            assert time.monotonic() < until, "a client of the storm hangs"
            time.sleep(0.01)

    def compare(self, node):
        """Returns all differences between the ledgers and the data that this node shows."""
        self.load.server = node
        wrong = self.load.compare() + compare_storm(node, self.storm, self.shared)
        for probe in self.probes:
            probe.compare(node.client)
            wrong += probe.wrong
        return wrong + backwards([one for probe in self.probes for one in probe.instants])

    def acks(self):
        own = self.load.acks() + self.load.item_acks() + sum(client.acks for client in self.storm)
        return own + sum(len(probe.acks) for probe in self.probes)
