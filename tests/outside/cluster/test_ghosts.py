"""No ghosts in a cluster: from its deadline on, no read path of either API shows an expired
document through any node, and none hides it before, also after a hand-over and after the owner was
killed; every write path works on live documents. Expired documents stay expired with all settings
that change later, with changes of the owner in between. Manual clock, hence to the millisecond.

One kind of expiry and one history for each API, chosen by SEED; all with --torture.
"""

import random

import pytest
from ghosts.expiry_kinds import kinds as document_kinds
from ghosts.test_no_resurrection import HISTORIES as DOCUMENT_HISTORIES
from lib.cluster import Cluster
from lib.seed import SEED, TORTURE
from nosql.expiry_kinds import kinds as item_kinds
from nosql.test_no_resurrection import HISTORIES as ITEM_HISTORIES, IDS as ITEM_IDS

from cluster.ghosts import DocumentPair, Documents, ItemPair, Items
from cluster.take_overs import handed_over, killed, started_again

#: What happens before the clock moves to an instant, milliseconds relative to the deadline.
PLANS = {
    "taken over while it lives": {-1: handed_over, 0: killed},
    "taken over when it is dead": {1: handed_over, 1_000: killed},
}
MATRICES = {"documents": (Documents, document_kinds()), "items": (Items, item_kinds())}
PAIRS = {
    "documents": (DocumentPair, DOCUMENT_HISTORIES, ("inherit", "ttl", "old", "older")),
    "items": (ItemPair, ITEM_HISTORIES, ITEM_IDS),
}


def dealt(salt, cases, count):
    return cases if TORTURE else random.Random(f"{SEED} {salt}").sample(cases, count)


def dealt_matrices():
    """Returns one matrix, or all with --torture."""
    all = [
        (door, kind.name, plan)
        for door, (_, kinds) in MATRICES.items()
        for kind in kinds
        for plan in PLANS
    ]
    return dealt("matrices", all, 1)


@pytest.fixture(scope="module")
def cluster():
    with Cluster(clock="manual") as cluster:
        yield cluster


@pytest.mark.parametrize(("door", "name", "plan"), dealt_matrices())
def test_no_path_shows_a_ghost(cluster, door, name, plan, capsys):
    cluster.whole()
    matrix, kinds = MATRICES[door]
    [kind] = [kind for kind in kinds if kind.name == name]
    found = matrix(cluster, kind)
    found.go(PLANS[plan])
    told = "\n".join(f"{where}: {seen}" for where, seen in list(found.wrong.items())[:20])
    assert not found.wrong, f"SEED={SEED}, {len(found.wrong)} of {found.count}:\n{told}"
    with capsys.disabled():
        print(f"\n{door}, {name}, {plan}: {found.count} answers, no ghost, no early death")


@pytest.mark.parametrize("door", PAIRS)
def test_dead_stays_dead(cluster, door):
    cluster.whole()
    pair, histories, ids = PAIRS[door]
    for name in dealt(f"{door} histories", list(histories), 1):
        rng = random.Random(f"{SEED} {door} {name}")
        try:
            play(pair(cluster, rng), rng, *histories[name], ids)
        except AssertionError as error:
            raise AssertionError(f"{name}, SEED={SEED}: {error}") from error


def play(pair, rng, steps, expect, ids):
    """Plays a history. The owner is killed once, after any step but the first, and hands the data
    over now and then; at the end the ids are used again."""
    dies = rng.randrange(1, len(steps))
    with pair:
        for at, step in enumerate(steps):
            step(pair)
            if at == dies:
                pair.take_over(rng.choice([killed, started_again]))
            elif rng.random() < 0.3:
                pair.take_over(handed_over)
            pair.check()
        assert set(pair.model.live) == expect, "the model disagrees with the table"
        for id in ids:
            pair.insert(id, {"ttl": -1})
        pair.take_over(handed_over)
        pair.check()
