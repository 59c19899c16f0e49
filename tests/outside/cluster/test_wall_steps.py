"""The wall clock of a node jumps by an hour, forward or back, while it owns the data and while it
follows: database time follows boot clocks, so that instants never go back and no document expires
early or late; the node reports the problem, lets others take over, and recovers when its clock is
right again. If all clocks are off, an operator has to accept that.
"""

import contextlib
import random
import time

import pytest
from lib.seed import SEED, TORTURE

from cluster.probe import Probe, backwards
from cluster.walls import HOUR, S, Walls, dies_in_time, shifted

#: Seconds within which a node notices that its clock is off, or right again.
SEEN = 10.0
#: Milliseconds by which changes of the owner may advance database time in one test.
AHEAD = 8 * S
LONG = 1_800


class Watched:
    """A cluster with clients that read the time, and a document that must not expire."""

    def __init__(self, directory, *off):
        self.walls = Walls(directory, *off)
        self.cluster = self.walls.cluster
        self.names = 0

    def __enter__(self):
        self.stack = contextlib.ExitStack()
        self.stack.enter_context(self.cluster)
        self.probes = [Probe(node) for node in self.cluster.nodes]
        for probe in self.probes:
            self.stack.enter_context(probe)
        [node, *_] = self.cluster.nodes
        long = node.client["walls"]["long"]
        long.create_index("_ts", expireAfterSeconds=LONG)
        long.insert_one({"_id": "long"})
        node.items.create_database("walls")
        assert node.items.container("walls", "c").define().status == 201
        return self

    def __exit__(self, *problem):
        self.stack.close()

    def check(self):
        """Checks through every node the expiry of documents and the stamps of items."""
        self.names += 1
        dies_in_time(self.cluster, f"c{self.names}")
        owner = self.cluster.owner()
        for node in self.cluster.nodes:
            assert node.client["walls"]["long"].find_one(), f"dead early, through {node.name}"
            before = owner.now_ms()
            item = {"id": f"{self.names}-{node.name}", "pk": "a"}
            reply = node.items.container("walls", "c").create(item)
            assert reply.status == 201, reply
            stamped = reply.json["_ts"]
            assert before // S <= stamped <= owner.now_ms() // S, f"stamped through {node.name}"

    def end(self):
        """Stops the probes and checks all instants that they received while the clocks were off."""
        for probe in self.probes:
            probe.over.set()
        for probe in self.probes:
            probe.thread.join(60)
        for probe in self.probes:
            probe.compare(self.cluster.owner().client)
            assert probe.wrong == []
        instants = [one for probe in self.probes for one in probe.instants]
        assert len(instants) > 50, "hardly any instants"
        assert backwards(instants) == []
        assert shifted(instants, AHEAD)[:5] == []

    def until(self, condition, what, within=SEEN):
        self.cluster.until(condition, what, within)

    def is_off(self, node):
        self.until(lambda: "wall clock" in node.ready()[1], f"{node.name} does not say so")
        assert node.ready()[0] == 503

    def is_right(self, node):
        self.until(lambda: node.ready()[0] == 200, f"{node.name} is not ready")


@pytest.fixture
def watched(tmp_path):
    with Watched(tmp_path, 0, 0, 0) as watched:
        yield watched


def follower_steps(watched, step):
    cluster = watched.cluster
    owner, [off, other] = cluster.whole(), cluster.followers()
    watched.walls.move(off, step)
    watched.is_off(off)
    watched.check()
    assert cluster.owner() is owner
    owner.kill()
    assert cluster.owner(but=[owner]) is other, "it did not let the other go first"
    owner.start()
    watched.is_right(owner)
    watched.check()
    watched.walls.move(off, 0)
    watched.is_right(off)


def owner_steps(watched, step):
    cluster = watched.cluster
    off = cluster.whole()
    watched.walls.move(off, step)
    if step > 0:
        watched.until(lambda: cluster.owner() is not off, "it keeps the data")
        watched.is_off(off)
    else:
        # Its boot clock keeps database time right as long as it owns the data.
        watched.check()
        if cluster.owner() is off:
            cluster.hand_over(cluster.followers()[0])
        watched.is_off(off)
    watched.check()
    watched.walls.move(off, 0)
    watched.is_right(off)
    cluster.hand_over(off)
    watched.check()


#: Each node whose clock steps, with each step.
STEPS = [(who, step) for who in (follower_steps, owner_steps) for step in (HOUR, -HOUR)]
WANTED = STEPS if TORTURE else [random.Random(SEED).choice(STEPS)]


@pytest.mark.parametrize(("who", "step"), WANTED)
def test_a_step_of_a_wall_clock(watched, who, step):
    who(watched, step)
    watched.end()


@pytest.mark.skipif(not TORTURE, reason="takes half a minute each")
class TestAllOff:
    """No node has the same wall clock time as the cluster."""

    @pytest.mark.parametrize("steps", [(HOUR, -HOUR), (-HOUR, -HOUR), (HOUR, HOUR)])
    def test_only_wrong_clocks_are_left(self, watched, steps):
        cluster = watched.cluster
        right = cluster.whole()
        others = cluster.followers()
        for node, step in zip(others, steps, strict=True):
            watched.walls.move(node, step)
        for node in others:
            watched.is_off(node)
        right.kill()
        watched.until(lambda: any(node.role() == "owner" for node in others), "no owner", 45)
        cluster.owner(but=[right])
        right.start()
        watched.check()
        for node in others:
            watched.walls.move(node, 0)
        cluster.whole()
        watched.check()
        watched.end()

    def test_all_clocks_are_ahead_until_it_is_accepted(self, watched):
        cluster = watched.cluster
        cluster.whole()
        for node in cluster.nodes:
            watched.walls.move(node, HOUR)
        # Each node may hand the data over once, which does not change the time either.
        time.sleep(SEEN)
        ahead = cluster.owner().now_ms() / 1000 - time.time()
        assert abs(ahead) < AHEAD / S, f"nobody accepted that it is {ahead:.0f} s later"
        watched.check()
        owner = cluster.owner()
        before = owner.now_ms()
        owner.admin("/_ebb/clock/accept", {})
        watched.until(lambda: owner.now_ms() - before > HOUR - 60 * S, "it is not accepted")
        for node in cluster.nodes:
            assert not node.client["walls"]["long"].find_one(), f"alive through {node.name}"
        for node in cluster.nodes:
            if cluster.owner() is not node:
                cluster.hand_over(node)
            cluster.whole()
            assert not node.client["walls"]["long"].find_one(), f"back through {node.name}"
        dies_in_time(cluster, "accepted")
        assert backwards([one for probe in watched.probes for one in probe.instants]) == []
