"""The ghost matrices and the pairs of both APIs on a cluster: each read path runs through the owner
and through another node, each write path through one of them."""

from itertools import cycle

import ghosts.matrix
import ghosts.pair
import nosql.matrix
import nosql.pair
from ghosts.paths import WRITES as DOCUMENT_WRITES
from ghosts.paths.kinds import COLLECTIONS, DATABASE
from nosql.paths import READS as ITEM_READS, WRITES as ITEM_WRITES

#: Milliseconds relative to the deadline.
INSTANTS = (-1, 0, 1, 1_000)
#: Parts of the names, in lower case, of paths that nodes of a cluster refuse.
REFUSED = ("capped", "tailable", "in a transaction", "at a snapshot")


def served(paths):
    return [path for path in paths if not any(part in path.name.lower() for part in REFUSED)]


def pair_of(cluster):
    """Returns the owner and another node."""
    owner = cluster.owner()
    return owner, next(node for node in cluster.followers() if node is not owner)


class Asked:
    """A matrix with one kind of expiry. `wrong` has the wrong results of a path, by path, instant
    and node."""

    def __init__(self, cluster, kind):
        self.cluster = cluster
        self.writer, self.reader = reversed(pair_of(cluster))
        super().__init__(kind, "unreaped", instants=INSTANTS, server=self.writer)
        self.wrong, self.count = {}, 0

    def go(self, before):
        """Runs the matrix; `before` maps instants to an action before the clock moves to them."""
        self.clear()
        self.begin()
        self.ready()
        movers = cycle([self.reader, self.writer])
        for instant in self.instants:
            taken = before.get(instant)
            if taken:
                taken(self.cluster)
                self.taken_over()
            self.through(next(movers))
            self.reach(instant)
            owner, other = pair_of(self.cluster)
            for node in (owner, other):
                self.through(node)
                self.judge(node is owner, self.reads(), instant)
            # Each of the two nodes gets half of the writes.
            writes, turn = self.writes(), self.instants.index(instant) % 2
            for node, half in ((owner, writes[turn::2]), (other, writes[1 - turn :: 2])):
                self.through(node)
                self.judge(node is owner, half, instant)

    def judge(self, by_owner, paths, instant):
        self.cells = {}
        self.ask(paths, instant)
        who = "owner" if by_owner else "another node"
        for (name, _), seen in self.cells.items():
            self.count += 1
            if seen is not (instant < 0):
                self.wrong[name, instant, who] = seen

    def through(self, node):
        self.server = node

    def ready(self):
        """Called when all data is written."""

    def taken_over(self):
        """Called when another node has become the owner."""


#: Nodes of a cluster refuse capped collections.
UNCAPPED = {name: options for name, options in COLLECTIONS.items() if name != "capped"}


class Documents(Asked, ghosts.matrix.Matrix):
    """Documents of the MongoDB API."""

    collections = UNCAPPED

    def clear(self):
        client = self.writer.client
        for name in client.list_database_names():
            if name in ("r", "w", DATABASE) or name.startswith("own"):
                client.drop_database(name)

    def ready(self):
        """Opens cursors, which stay valid on their nodes until the owner changes."""
        self.cursors, self.kept = True, {}
        for node in (self.writer, self.reader):
            self.through(node)
            self.prepare()
            self.kept[node] = self.prepared

    def taken_over(self):
        self.cursors = False

    def through(self, node):
        super().through(node)
        self.prepared = getattr(self, "kept", {}).get(node) or next(iter(self.kept.values()), {})

    def reads(self):
        reads = served(super().reads())
        return [path for path in reads if self.cursors or "getMore" not in path.name]

    def writes(self):
        return served(DOCUMENT_WRITES)


class Items(Asked, nosql.matrix.Matrix):
    """Items of the NoSQL API. State prepared through one node, such as a continuation token, works
    on another node and with another owner."""

    def clear(self):
        assert self.writer.items.call("DELETE", "dbs/r").status in (204, 404)

    def ready(self):
        assert self.cells == {}, self.cells

    def through(self, node):
        super().through(node)
        for name, container in self.containers.items():
            self.containers[name] = container.through(node.items)

    def reads(self):
        return ITEM_READS

    def writes(self):
        return ITEM_WRITES


class Walked:
    """A pair whose steps go through the nodes in turn, and which is compared through two of them.
    Steps that would restart a single server hand the data over or kill the owner instead."""

    def __init__(self, cluster, rng):
        self.cluster, self.rng = cluster, rng
        super().__init__(pad=True, server=cluster.owner())

    def __enter__(self):
        self.clear()
        # Histories start at a full second, as a single server does.
        self.server.advance(-self.server.now_ms() % 1_000)
        self.begin()
        return self

    def __exit__(self, *problem):
        """Keeps the nodes running."""

    def check(self):
        for node in self.rng.sample(pair_of(self.cluster), 2):
            self.through(node)
            super().check()

    def take_over(self, how):
        how(self.cluster)
        self.through(self.cluster.owner())


class DocumentPair(Walked, ghosts.pair.Pair):
    """A collection and its model."""

    def clear(self):
        self.server.client.drop_database("p")

    def through(self, node):
        self.server = node
        self.open()


class ItemPair(Walked, nosql.pair.Pair):
    """A container and its model."""

    def clear(self):
        assert self.server.items.call("DELETE", "dbs/p").status in (204, 404)

    def through(self, node):
        self.server = node
        self.container = self.container.through(node.items)
