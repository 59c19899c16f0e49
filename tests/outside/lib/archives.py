"""Unpacks tar archives that the tests own or built."""

import tarfile

#: Refuses members outside the target. Python before 3.11.4, such as Debian 12's, has no filters.
FILTER = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}


def unpack(path, to):
    """Unpacks an archive into a directory."""
    with tarfile.open(path) as archive:
        archive.extractall(to, **FILTER)
