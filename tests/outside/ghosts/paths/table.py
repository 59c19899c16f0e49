"""The tables of paths, and the cell that a path runs in.

Each path answers whether it still sees the mortal documents. `READS` leave the data as it is and
run at every instant on one collection; `WRITES` get a document of their own for each instant.
"""

from dataclasses import dataclass
from typing import Any, Callable

FILLERS = 8


class Strange(AssertionError):
    """An answer that is neither 'all are there' nor 'none is there'."""


@dataclass
class Cell:
    """Where a path runs: collection `r` of reads, or an own document of collection `w`."""

    db: Any
    controls: int
    id: str = "t"
    key: str = "t"
    server: Any = None
    prepared: Any = None

    def command(self, *args, **more):
        return self.db.command(*args, **more)

    def rows(self, name, first, **more):
        """All rows of a cursor command."""
        reply = self.command(name, first, **more)["cursor"]
        collection = first if isinstance(first, str) else "$cmd.aggregate"
        return reply["firstBatch"] + self.rest(reply, collection)

    def rest(self, cursor, collection, size=2):
        rows = []
        while cursor["id"]:
            more = self.command("getMore", cursor["id"], collection=collection, batchSize=size)
            cursor = more["cursor"]
            rows += cursor["nextBatch"]
        return rows

    def find(self, filter, **more):
        return self.rows("find", "r", filter=filter, **more)

    def aggregate(self, *stages, collection="r", **more):
        return self.rows("aggregate", collection, pipeline=list(stages), cursor={}, **more)

    def all_or_controls(self, n):
        """Judges a number of documents of the whole collection."""
        return self.judge(n, self.controls + FILLERS + 1, self.controls)

    def judge(self, n, alive, dead):
        if n in (alive, dead):
            return n == alive
        raise Strange(f"{n}, neither {alive} nor {dead}")

    def ids(self, rows):
        """Judges the documents of the whole collection."""
        seen = sorted(row["_id"] for row in rows)
        controls = [f"c{i}" for i in range(self.controls)]
        mortals = [f"f{i}" for i in range(FILLERS)] + ["t"]
        if seen not in (controls, controls + mortals):
            raise Strange(f"{seen}")
        return seen != controls

    def one(self, rows):
        return self.judge(len(rows), 1, 0)


@dataclass(frozen=True)
class Path:
    """One row of the table."""

    name: str
    run: Callable
    #: Runs before the clock moves; what it answers is `cell.prepared`.
    prepare: Callable | None = None
    #: The collection is the path's alone.
    own: bool = False


READS = []
WRITES = []


def read(name, prepare=None):
    return lambda run: READS.append(Path(name, run, prepare)) or run


def write(name, own=False):
    return lambda run: WRITES.append(Path(name, run, None, own)) or run
