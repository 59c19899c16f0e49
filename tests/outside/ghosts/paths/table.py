"""The tables of paths, and the cell that a path runs in. `READS` run on one collection; `WRITES`
get a document of their own for each instant.
"""

from dataclasses import dataclass
from typing import Any

from lib import paths
from lib.paths import FILLERS, Strange, judge


@dataclass
class Cell:
    """The data of a path: collection `r` for reads, or a document of its own in collection `w`."""

    db: Any
    controls: int
    id: str = "t"
    key: str = "t"
    server: Any = None
    prepared: Any = None

    def command(self, *args, **more):
        return self.db.command(*args, **more)

    def rows(self, name, first, **more):
        """Returns all rows of a cursor command."""
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

    judge = staticmethod(judge)

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
class Path(paths.Path):
    """A row of the table; `own` gives it a collection of its own."""

    own: bool = False


TABLE = paths.Table(Path)
READS, WRITES, read, write = TABLE.reads, TABLE.writes, TABLE.read, TABLE.write
