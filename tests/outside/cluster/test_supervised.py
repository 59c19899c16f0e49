"""An owner that dies again and again, and is started at once by its supervisor, goes on with the
time: database time stays with the machine's, whose boot clock has gone on all the while. If each
start put it ahead, dates that clients set would expire too early, and after some starts no node
would stand, as its wall clock were too far from the cluster's."""

import os
import time

from lib.cluster import Cluster
from lib.seed import TORTURE

RESTARTS = int(os.environ.get("ROUNDS", 30 if TORTURE else 3))
#: Seconds that database time may be from the machine's: less than a start might add, more than a
#: question takes on a busy machine.
NEAR = 1.0


def ahead(cluster):
    """Seconds by which database time is ahead of the machine's, give or take a question."""
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
