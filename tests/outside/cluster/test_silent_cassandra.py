"""A node of Cassandra that neither replies nor closes connections does little harm: writes
continue, also large ones, reads are not affected, and no node loses its lease. The process is
stopped, or all packets to it, or some of them, are dropped. One round for each node; ROUNDS is the
number of rounds and SILENT their length in seconds."""

import itertools
import os
import threading
import time

import pytest
from lib import needs
from lib.cluster import Cassandra, Cluster, Node
from lib.seed import TORTURE

ROUNDS = int(os.environ.get("ROUNDS", 10 if TORTURE else 1))
#: Seconds for which a node is silent: longer than a lease and its margin.
SILENT = float(os.environ.get("SILENT", "12"))
#: Limit of the seconds without an acknowledgement on a busy machine (less than 1 on an idle one).
#: Without a retry at another node, the large write would end only with the silence.
WITHOUT = 8.0
#: Bytes of a document whose entry has many parts.
LARGE = 4 << 20


class Asking:
    """A client that sends requests continuously and records when replies arrived."""

    def __init__(self, ask):
        self.ask, self.answered, self.failed = ask, [time.monotonic()], []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        number = 0
        while not self.over.is_set():
            number += 1
            try:
                self.ask(number)
                self.answered.append(time.monotonic())
            except Exception as error:
                self.failed.append(repr(error))
            time.sleep(0.02)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def longest(self, since):
        """Returns the longest interval without a reply since a time."""
        times = [since, *(at for at in self.answered if since < at), time.monotonic()]
        return max(after - before for before, after in itertools.pairwise(times))


def stopped(number):
    return Cassandra().silent(number)


def cut(number):
    return Cassandra().unreachable(number)


def lossy(number):
    return Cassandra().unreachable(number, 0.3)


def rounded(seconds):
    return round(seconds, 2)


def epoch(cluster):
    return cluster.owner().about()["shards"][0]["epoch"]


@pytest.mark.parametrize("fault", [stopped, cut, lossy], ids=lambda fault: fault.__name__)
def test_a_silent_node_of_cassandra_stops_nothing(fault, capsys):
    if fault is not stopped:
        needs.root("dropping packets")
    told = []
    with Cluster([Node, Node]) as cluster:
        owner = cluster.whole()
        [follower] = cluster.followers()
        writer = follower.connect_once()["d"]["c"]
        reader = owner.connect_once()["d"]["c"]
        writes = Asking(lambda number: writer.insert_one({"_id": number}))
        reads = Asking(lambda _: reader.find_one())
        with writes, reads:
            for round in range(3 * ROUNDS):
                number = round % 3 + 1
                before, began = epoch(cluster), time.monotonic()
                with fault(number):
                    large = {"_id": f"large {round}", "bytes": os.urandom(LARGE)}
                    owner.client["d"]["large"].insert_one(large)
                    took = time.monotonic() - began
                    time.sleep(max(0.0, SILENT - took))
                    states = [node.ready() for node in cluster.nodes]
                    gaps = writes.longest(began), reads.longest(began)
                assert max(gaps) < WITHOUT, (number, gaps)
                # It completed while the node was silent.
                assert took < WITHOUT, (number, took)
                assert epoch(cluster) == before
                assert [status for status, _ in states] == [200, 200], states
                told.append((number, *(rounded(figure) for figure in (*gaps, took))))
                # Else the next fault would be the second one at the same time.
                Cassandra().settle(number)
        assert (writes.failed, reads.failed) == ([], []), cluster.told()
        assert writer.count_documents({}) == len(writes.answered) - 1
        cluster.verify(*cluster.nodes)
    with capsys.disabled():
        print(f"\n{fault.__name__}, {SILENT:.0f} s:")
        print("node, seconds without a write, without a read, until 4 MB were written:")
        for line in told:
            print(" ", *line)
