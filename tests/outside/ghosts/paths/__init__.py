"""Every path that reads, counts, matches, changes or replaces a document, as tables."""

from ghosts.paths import (  # noqa: F401
    aggregate,
    counts,
    find,
    insert,
    kinds,
    outputs,
    transactions,
    update,
    views,
    whole,
)
from ghosts.paths.table import READS, WRITES, Cell

__all__ = ["READS", "WRITES", "Cell"]
