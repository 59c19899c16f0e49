"""The table of paths to a document that may have expired, and the check of a path's result. Each
path returns whether it still sees the expiring document. Reads do not change the data and run at
every instant on the same documents; writes get new documents for each instant.
"""

from collections.abc import Callable
from dataclasses import dataclass

#: Number of expiring documents besides the document that paths look up.
FILLERS = 8


class Strange(AssertionError):
    """A reply that matches neither the live nor the expired state."""


def judge(found, alive, dead):
    """Returns True for the result expected while the document is live, False for the one expected
    afterwards."""
    if found in (alive, dead) and alive != dead:
        return found == alive
    raise Strange(f"{found}, neither {alive} nor {dead}")


@dataclass(frozen=True)
class Path:
    """One row of the table."""

    name: str
    run: Callable
    #: Runs before the clock moves; its result becomes `cell.prepared`.
    prepare: Callable | None = None


class Table:
    """All paths of one API; `kind` is the class of its rows."""

    def __init__(self, kind):
        self.kind = kind
        self.reads, self.writes = [], []

    def read(self, name, prepare=None):
        return lambda run: self.reads.append(self.kind(name, run, prepare)) or run

    def write(self, name, **more):
        return lambda run: self.writes.append(self.kind(name, run, **more)) or run
