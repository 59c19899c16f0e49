"""An owner that dies repeatedly and is restarted at once by its supervisor keeps its time: database
time stays with the machine's, whose boot clock has kept running. If each start advanced database
time, dates that clients set would expire too early, and after some restarts no node would stand for
ownership, as its wall clock would be too far from the cluster's."""

import os
import time

from lib.cluster import Cluster
from lib.seed import TORTURE

RESTARTS = int(os.environ.get("ROUNDS", 30 if TORTURE else 3))
#: Allowed difference of database time and the machine's, in seconds: less than a restart might add,
#: more than a request takes on a busy machine.
NEAR = 1.0


def ahead(cluster):
    """Returns by how many seconds database time is ahead of the machine's, roughly."""
    owner = cluster.owner()
    return owner.now_ms() / 1000 - time.time()


def restarted(cluster):
    owner = cluster.owner()
    owner.kill()
    owner.start()
    cluster.whole()


def test_restarts_of_the_owner_do_not_move_the_time(capsys):
    with Cluster() as cluster:
        assert abs(ahead(cluster)) < NEAR
        told = []
        for _ in range(RESTARTS):
            restarted(cluster)
            told.append(round(ahead(cluster), 2))
            assert abs(told[-1]) < NEAR, f"seconds ahead after each start: {told}"
    with capsys.disabled():
        print(f"\n{RESTARTS} starts: database time ahead by {max(told)} s at the most")
