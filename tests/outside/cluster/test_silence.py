"""An owner that loses Cassandra leaves no client without a reply: each request, to it or to another
node, through either API, sent at once or after a take-over, gets a reply or a closed connection
within 20 seconds, and no reply is stale. Tests one way of losing it; all with --torture.
"""

import random
import time

import pytest
from lib.cluster import Cluster, Node
from lib.island import IslandNode
from lib.relay import BACK, THERE
from lib.seed import SEED, TORTURE

from cluster.faults import move_to_island
from cluster.questions import Crowd, change, lost, prepare, repeat, summary, wrong

WAYS = {"both ways": (THERE, BACK), "not heard": (THERE,), "deaf": (BACK,)}
WANTED = list(WAYS) if TORTURE else [random.Random(SEED).choice(list(WAYS))]
#: Seconds after the cut at which the second half of the requests is sent.
LATER = 5.0


@pytest.mark.parametrize("ways", WANTED)
def test_an_owner_without_cassandra_answers(ways, capsys):
    with Cluster([IslandNode, Node, Node]) as cluster:
        island = move_to_island(cluster)
        prepare(island, "before")
        asked = [island, next(node for node in cluster.nodes if node is not island)]
        at_once, later = Crowd(asked, "at once"), Crowd(asked, "later")
        began = time.monotonic()
        island.cassandra.cut(*WAYS[ways])
        at_once.ask()
        other = cluster.owner(but=[island])
        took = time.monotonic() - began
        change(other, "after")
        time.sleep(max(0.0, began + LATER - time.monotonic()))
        later.ask()
        anew = Crowd(asked, "anew", warm=False).ask()
        first, second = at_once.answers(), later.answers() + anew.answers()
        answers = first + second
        assert wrong(answers) == []
        stale = [one for one in second if one.outcome == "done" and one.told == "before"]
        assert stale == [], "answers of the past"
        # The other nodes serve all the while.
        through = [one for one in anew.answers() if one.node != island.name]
        assert all(one.outcome == "done" for one in through), through
        island.cassandra.mend()
        cluster.whole()
        for node in cluster.nodes:
            assert lost(answers, node) == []
        assert repeat(answers, island) == []
    with capsys.disabled():
        print(f"\n{ways}: another node owned the data after {took:.1f} s")
        for node in asked:
            for name, some in (("at once", first), ("later", second)):
                told = summary([one for one in some if one.node == node.name])
                role = "the owner" if node is island else "another"
                print(f"  asked {role} {name}: {told}")
