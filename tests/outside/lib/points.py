"""Chooses the system calls to kill a server at: all that change files, or an even sample."""

import http.client
import random

from pymongo.errors import PyMongoError

from lib.seed import SEED

#: Calls that change files.
CHANGING = [
    *("write", "pwrite64", "pwritev", "fsync", "fdatasync", "ftruncate", "fallocate"),
    *("rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir"),
]
#: Exit code of a process that was ended by SIGKILL.
KILLED = -9
#: Exceptions of a client whose server dies, including the test client's own assertions.
ENDS = (PyMongoError, OSError, http.client.HTTPException, AssertionError)


def chosen(most, count):
    """Returns the points (call, N) at which to kill. `most` maps each call to its number of
    occurrences; a `count` of zero chooses all points."""
    points = [(call, n) for call in sorted(most) for n in range(1, most[call] + 1)]
    if not count or len(points) <= count:
        return points
    step = len(points) / count
    shift = random.Random(SEED).random()
    return [points[int((at + shift) * step) % len(points)] for at in range(count)]
