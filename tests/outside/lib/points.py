"""At which calls of the system a server is killed: at all that change files, or some, evenly."""

import http.client
import random

from pymongo.errors import PyMongoError

from lib.seed import SEED

#: Calls that change files.
CHANGING = [
    *("write", "pwrite64", "pwritev", "fsync", "fdatasync", "ftruncate", "fallocate"),
    *("rename", "renameat", "renameat2", "unlink", "unlinkat", "mkdir"),
]
#: The exit code of a process that SIGKILL has ended.
KILLED = -9
#: What a client meets when its server dies, the helper's own assertions among it.
ENDS = (PyMongoError, OSError, http.client.HTTPException, AssertionError)


def chosen(most, count):
    """The points that are taken: (call, N). `most` says how often each call is made; with a count
    of zero all are."""
    points = [(call, n) for call in sorted(most) for n in range(1, most[call] + 1)]
    if not count or len(points) <= count:
        return points
    step = len(points) / count
    shift = random.Random(SEED).random()
    return [points[int((at + shift) * step) % len(points)] for at in range(count)]
