"""The table of paths to what may be dead, and how a path judges what it has seen.

Each path answers whether it still sees what is mortal. Reads leave the data as they are and run at
every instant on the same ones; writes get something of their own for each instant.
"""

from collections.abc import Callable
from dataclasses import dataclass

#: Mortals beside the one that paths look for.
FILLERS = 8


class Strange(AssertionError):
    """An answer that is neither 'all are there' nor 'none is there'."""


def judge(found, alive, dead):
    """Whether this is what is found of the living, or of the dead."""
    if found in (alive, dead) and alive != dead:
        return found == alive
    raise Strange(f"{found}, neither {alive} nor {dead}")


@dataclass(frozen=True)
class Path:
    """One row of the table."""

    name: str
    run: Callable
    #: Runs before the clock moves; what it answers is `cell.prepared`.
    prepare: Callable | None = None


class Table:
    """All paths of one door; `kind` is what its rows are."""

    def __init__(self, kind):
        self.kind = kind
        self.reads, self.writes = [], []

    def read(self, name, prepare=None):
        return lambda run: self.reads.append(self.kind(name, run, prepare)) or run

    def write(self, name, **more):
        return lambda run: self.writes.append(self.kind(name, run, **more)) or run
