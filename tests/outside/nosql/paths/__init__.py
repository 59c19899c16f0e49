"""All paths to an item, by family; importing this fills the tables."""

from nosql.paths import admin, batches, continued, feeds, points, queries, versions, writes  # noqa: F401
from nosql.paths.table import FILLERS, READS, WRITES, Cell, Strange

__all__ = ["FILLERS", "READS", "WRITES", "Cell", "Strange"]
