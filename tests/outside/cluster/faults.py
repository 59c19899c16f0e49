"""Faults of a cluster. Each is a generator that prepares, strikes after its first `yield` and
recovers after its second. It yields the nodes whose own clients cannot be served during the
fault."""

import random
import time

from lib.cluster import Cassandra
from lib.relay import BACK, THERE
from lib.seed import SEED

from cluster.walls import HOUR

#: Longer than a lease, its margin and a heartbeat.
CUT = 6.0
PAUSE = 10.0
AWAY = 3.0
CHOSEN = random.Random(SEED)


def kill_owner(cluster):
    """SIGKILL of the owner, which is started again after another node took over."""
    owner = cluster.owner()
    yield []
    owner.kill()
    cluster.owner(but=[owner])
    yield [owner]
    owner.start()


def restart_owner(cluster):
    """SIGKILL of the owner, which is started again at once, as by a supervisor."""
    owner = cluster.owner()
    yield []
    owner.kill()
    owner.start()
    cluster.owner()
    yield [owner]


def kill_follower(cluster):
    [follower, *_] = cluster.followers()
    yield []
    follower.kill()
    time.sleep(1)
    yield [follower]
    follower.start()


def rolling_restart(cluster):
    """SIGTERM and restart of each node in turn, the owner first."""
    nodes = [cluster.owner(), *cluster.followers()]
    yield []
    for node in nodes:
        node.leave()
        node.start()
        cluster.whole()
    yield nodes


def pause_owner(cluster):
    """SIGSTOP of the owner, which resumes when another node is the owner."""
    owner = cluster.owner()
    yield []
    owner.pause()
    cluster.owner(but=[owner])
    time.sleep(PAUSE)
    yield [owner]
    owner.go_on()


def hand_over(cluster):
    [to, *_] = cluster.followers()
    yield []
    cluster.hand_over(to)
    assert cluster.owner() is to
    yield []


def cut_from_cassandra(*ways):
    """Only the owner is cut off from Cassandra; data it sent may arrive later."""

    def fault(cluster):
        island = move_to_island(cluster)
        yield []
        island.cassandra.cut(*ways)
        cluster.owner(but=[island])
        time.sleep(2)
        yield [island]
        island.cassandra.mend()

    return fault


def cut_from_others(side):
    """The other nodes lose their links to the owner (or it loses its links to them), but all reach
    Cassandra: the owner must not change."""

    def fault(cluster):
        island = move_to_island(cluster)
        epoch = island.about()["shards"][0]["epoch"]
        yield []
        links = getattr(island, side)
        links.cut()
        time.sleep(CUT)
        shard = island.about()["shards"][0]
        assert (shard["owner"], shard["epoch"]) == (island.name, epoch), shard
        # Requests in flight may be lost; dropping their connections ends the clients' wait.
        links.mend(drop=True)
        time.sleep(1)
        yield [node for node in cluster.nodes if node is not island]

    return fault


def kill_cassandra(cluster):
    """SIGKILL of a node of Cassandra, which is started again and repaired."""
    cassandra, number = Cassandra(), CHOSEN.randint(1, 3)
    yield []
    with cassandra.without(number, cluster.keyspace):
        time.sleep(AWAY)
        yield []


def silence_cassandra(cluster):
    """SIGSTOP of a node of Cassandra: its connections stay open, but it does not reply."""
    number = CHOSEN.randint(1, 3)
    yield []
    with Cassandra().silent(number):
        time.sleep(AWAY)
        yield []


def step_wall(is_owner, step):
    """The wall clock of the owner or of a follower jumps by `step`. An owner then hands over its
    data."""

    def fault(cluster):
        off = cluster.owner() if is_owner else cluster.followers()[0]
        yield []
        cluster.walls.move(off, step)
        cluster.until(lambda: "wall clock" in off.ready()[1], f"{off.name} does not see it")
        if is_owner:
            cluster.owner(but=[off])
        time.sleep(AWAY)
        yield []
        cluster.walls.move(off, 0)

    return fault


def move_to_island(cluster):
    """Hands the data over to the first node; retries, as another node may take it first."""
    island = cluster.nodes[0]
    for _ in range(5):
        if cluster.owner() is island:
            break
        cluster.hand_over(island)
    assert cluster.owner() is island
    return island


FAULTS = {
    "kill -9 of the owner": kill_owner,
    "kill -9 of the owner, started again": restart_owner,
    "kill -9 of a follower": kill_follower,
    "rolling restart": rolling_restart,
    "SIGSTOP of the owner": pause_owner,
    "hand-over": hand_over,
    "owner cut from Cassandra": cut_from_cassandra(),
    "owner not heard by Cassandra": cut_from_cassandra(THERE),
    "owner does not hear Cassandra": cut_from_cassandra(BACK),
    "owner not reached by the others": cut_from_others("inward"),
    "owner does not reach the others": cut_from_others("outward"),
    "kill -9 of a node of Cassandra": kill_cassandra,
    "SIGSTOP of a node of Cassandra": silence_cassandra,
}
#: Faults that need a cluster with movable wall clocks, and so the system clock.
WALL_FAULTS = {
    "wall clock of the owner an hour ahead": step_wall(True, HOUR),
    "wall clock of the owner an hour back": step_wall(True, -HOUR),
    "wall clock of a follower an hour ahead": step_wall(False, HOUR),
    "wall clock of a follower an hour back": step_wall(False, -HOUR),
}
