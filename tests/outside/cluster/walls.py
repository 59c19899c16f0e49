"""Nodes whose wall clocks a test moves, each by a file with an offset that the node adds to its
own; and documents that must expire by the database's clock."""

import time

from lib.cluster import Cluster

S, HOUR = 1_000, 3_600_000
#: Seconds that a check may take on a busy machine.
BUSY = 3


class Walls:
    """A cluster on the system clock, with the offsets `off`, in milliseconds, of the nodes' wall
    clocks. `options` are those of Cluster."""

    def __init__(self, directory, *off, **options):
        self.directory = directory
        for number, ms in enumerate(off, 1):
            self.write(number, ms)
        flags_of = {
            number: ["--test-wall", str(self.file(number))] for number in range(1, len(off) + 1)
        }
        self.cluster = Cluster(flags_of=flags_of, **options)
        self.cluster.walls = self

    def file(self, number):
        return self.directory / f"wall{number}"

    def write(self, number, ms):
        """Replaces the file atomically."""
        beside = self.directory / "new"
        beside.write_text(str(ms))
        beside.rename(self.file(number))

    def move(self, node, ms):
        self.write(self.cluster.nodes.index(node) + 1, ms)


def dies_in_time(cluster, name):
    """Checks through each node that a document expires exactly by the database's clock."""
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
    assert now < after // S * S + 2 * S + BUSY * S, "it died late"


def shifted(instants, most):
    """Returns the instants, of all probes together, whose distance from the first, in milliseconds,
    differs from the elapsed time by more than `most`, as after a step of a wall clock."""
    begin, end, first = min(instants)
    wrong = []
    for later_begin, later_end, now in instants:
        least, longest = (later_begin - end) * 1000 - most, (later_end - begin) * 1000 + most
        if not least <= now - first <= longest:
            took = f"{later_begin - end:.2f} to {later_end - begin:.2f} s"
            wrong.append(f"{now - first} ms in {took}")
    return wrong
