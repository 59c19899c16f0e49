"""Every way to read, count, match, change or replace a document, as tables."""

from ghosts.paths import aggregate, counts, find, insert, update, whole
from ghosts.paths.table import FILLERS, READS, WRITES, Cell, Strange

__all__ = ["FILLERS", "READS", "WRITES", "Cell", "Strange"]
