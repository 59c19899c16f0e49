"""All paths to an item, by family; importing this fills the tables."""

from nosql.paths import (  # noqa: F401
    admin,
    batches,
    continued,
    direct,
    feeds,
    hierarchy,
    points,
    queries,
    tokens,
    versions,
    writes,
)
from nosql.paths.table import READS, WRITES, Cell

__all__ = ["READS", "WRITES", "Cell"]
