"""The table of paths to a document that may have expired, and how a path checks what it saw.

Each path returns whether it still sees the mortal document. Reads leave the data alone and run at
every instant on the same documents; writes get documents of their own for each instant.
"""

from collections.abc import Callable
from dataclasses import dataclass

#: Mortals beside the one that paths look for.
FILLERS = 8


class Strange(AssertionError):
    """A reply that is neither 'all are there' nor 'none is there'."""


def judge(found, alive, dead):
    """Returns True for what is found while the document is live, False for what is found
    afterwards."""
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
    """All paths of one API; `kind` is the class of its rows."""

    def __init__(self, kind):
        self.kind = kind
        self.reads, self.writes = [], []

    def read(self, name, prepare=None):
        return lambda run: self.reads.append(self.kind(name, run, prepare)) or run

    def write(self, name, **more):
        return lambda run: self.writes.append(self.kind(name, run, **more)) or run
