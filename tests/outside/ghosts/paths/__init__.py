"""Every path that reads, counts, matches, changes or replaces a document, as tables."""

from ghosts.paths import aggregate, counts, find, insert, update, views, whole  # noqa: F401
from ghosts.paths.table import READS, WRITES, Cell

__all__ = ["READS", "WRITES", "Cell"]
