"""The paths to items in direct mode: point reads and writes, queries, feeds and batches, by
frames."""

from dataclasses import replace

from lib.frames import Direct

from nosql.paths import batches, continued, feeds, hierarchy, points, queries, writes  # noqa: F401
from nosql.paths.table import READS, WRITES, read, write

#: Paths that have no form of their own in direct mode.
LEFT_OUT = (
    "plan",
    "forecast",
    "preview",
    "quota",
    "all versions",
    "link",
    "token",
    "read, If-Match",
)
#: Families of which one path in SAMPLE also runs in direct mode: they differ in queries only.
SAMPLED = ("query", "continued", "rewritten")
SAMPLE = 8


def in_direct_mode(cell):
    """Returns the cell with containers that are reached in direct mode."""
    client = Direct(cell.c.client.address, cell.c.client.key)
    through = {
        name: getattr(cell, name).through(client)
        for name in ("c", "v", "h")
        if getattr(cell, name) is not None
    }
    return client, replace(cell, **through)


def by_frames(run):
    def direct(cell):
        client, cell = in_direct_mode(cell)
        try:
            return run(cell)
        finally:
            client.close()

    return direct


def is_taken(at, name):
    if any(word in name for word in LEFT_OUT):
        return False
    return not name.startswith(SAMPLED) or at % SAMPLE == 0


for at, path in enumerate(list(READS)):
    if is_taken(at, path.name):
        prepare = path.prepare and by_frames(path.prepare)
        read(f"direct: {path.name}", prepare)(by_frames(path.run))

for at, path in enumerate(list(WRITES)):
    if is_taken(at, path.name):
        write(f"direct: {path.name}", versions=path.versions)(by_frames(path.run))
