"""Nodes whose wall clocks a test moves, each by a file that the node adds to its own; and documents
that have to die by the database's clock alone."""

import time

from lib.cluster import Cluster

S, HOUR = 1_000, 3_600_000
#: Seconds that a look may take on a busy machine.
BUSY = 3


class Walls:
    """A cluster on the machine's clocks, of which each node's is off by so many milliseconds; it
    knows its walls. `options` are those of Cluster."""

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
        """The file is never half written."""
        beside = self.directory / "new"
        beside.write_text(str(ms))
        beside.rename(self.file(number))

    def move(self, node, ms):
        self.write(self.cluster.nodes.index(node) + 1, ms)


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
    assert now < after // S * S + 2 * S + BUSY * S, "it died late"


def shifted(instants, most):
    """Instants that are further from the first one, in milliseconds, than the time between them and
    `most` more or less: as if a step of a wall clock were in them. All probes' together."""
    begin, end, first = min(instants)
    wrong = []
    for later_begin, later_end, now in instants:
        least, longest = (later_begin - end) * 1000 - most, (later_end - begin) * 1000 + most
        if not least <= now - first <= longest:
            took = f"{later_begin - end:.2f} to {later_end - begin:.2f} s"
            wrong.append(f"{now - first} ms in {took}")
    return wrong
