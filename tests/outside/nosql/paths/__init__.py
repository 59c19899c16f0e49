"""All paths to an item, by family; importing this fills the tables."""

from nosql.paths import (  # noqa: F401
    admin, batches, continued, feeds, hierarchy, points, queries, tokens, versions, writes)
from nosql.paths.table import FILLERS, READS, WRITES, Cell, Strange

__all__ = ["FILLERS", "READS", "WRITES", "Cell", "Strange"]
