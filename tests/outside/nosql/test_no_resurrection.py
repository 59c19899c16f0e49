"""Dead stays dead, whatever default comes later; and what is newer is not killed by an older one.

Each history is told once as it is and once with a restart, a crash or a reap, dealt by SEED, after
half of its steps; with `--torture` also with each of them after all steps, or after one alone.
"""

import random

import pytest

from lib.ahead import ahead
from lib.seed import SEED, TORTURE
from nosql.pair import Pair


def step(method, *args, **more):
    return lambda pair: getattr(pair, method)(*args, **more)


def default(value):
    return step("default", value)


def move(seconds):
    return step("move", round(seconds * 1000))


def change(id, **fields):
    return step("change", id, fields)


def mortal(pair):
    pair.insert("inherit", {})
    pair.insert("ttl", {"ttl": 10})
    pair.insert("pinned", {"ttl": -1})
    pair.insert("long", {"ttl": 100})


def strange(pair):
    """Values that mean nothing, written while TTL is off."""
    pair.insert("zero", {"ttl": 0})
    pair.insert("text", {"ttl": "5"})


LASTING = {"pinned", "long"}
#: name: (steps, who lives at the end)
HISTORIES = {
    "longer": ([default(10), mortal, move(10), default(1_000), move(1)], LASTING),
    "longer in time": ([default(10), mortal, move(9.9), default(1_000), move(1)],
                       LASTING | {"inherit"}),
    "shorter": ([default(1_000), mortal, move(5), default(5), move(1)], LASTING | {"ttl"}),
    "shorter and longer": ([default(1_000), mortal, move(5), default(5), default(1_000), move(1)],
                           LASTING | {"ttl"}),
    "to -1": ([default(10), mortal, move(10), default(-1), move(1)], LASTING),
    "to -1 in time": ([default(10), mortal, move(9), default(-1), move(50)],
                      LASTING | {"inherit"}),
    "from -1": ([default(-1), mortal, move(10), default(10), default(-1)], LASTING),
    "-1 alone": ([default(-1), mortal, move(50)], LASTING | {"inherit"}),
    "off": ([default(10), mortal, move(10), default("off"), move(200)], LASTING),
    "off in time": ([default(10), mortal, move(9), default("off"), move(200)],
                    LASTING | {"inherit", "ttl"}),
    "off and on again": ([default(10), mortal, move(10), default("off"), move(1), default(1_000),
                          move(1)], LASTING),
    "off in time, on after": ([default(10), mortal, move(9), default("off"), move(50),
                               default(1_000)], LASTING | {"inherit"}),
    "off in time, on with the same": ([default(10), mortal, move(9), default("off"), move(50),
                                       default(10)], LASTING),
    "off in time, on with -1": ([default(10), mortal, move(9), default("off"), move(50),
                                 default(-1)], LASTING | {"inherit"}),
    "on late": ([mortal, move(50), default(20), default("off")], LASTING),
    "on late, long": ([mortal, move(50), default(60)], LASTING | {"inherit"}),
    "on late with -1": ([mortal, move(50), default(-1), default("off"), move(1), default(1)],
                        LASTING),
    "strange values": ([strange, move(5), default(20), move(14), default("off"), move(90),
                        default(200)], {"zero", "text"}),
    "strange values, late": ([strange, move(20), default(20), default("off")], set()),
    "a new life": ([default(10), mortal, move(10), default(1_000), step("insert", "inherit", {}),
                    move(20)], LASTING | {"inherit"}),
    "a new life while off": ([default(10), mortal, move(10), default("off"),
                              step("insert", "inherit", {}), move(100), default(200)],
                             {"pinned", "inherit"}),
    "an upsert of the dead": ([default(10), mortal, move(10), step("replace", "ttl", {}, True),
                               move(9), default(100)], LASTING | {"ttl"}),
    "a batch over the dead": ([default(10), mortal, move(10),
                               step("batch", ["inherit"], {"ttl": -1}, "Create"), move(50)],
                              LASTING | {"inherit"}),
    "renewed in time": ([default(10), mortal, move(9), change("inherit", x=1), move(9),
                         default(1_000), move(2)], LASTING | {"inherit"}),
    "ttl removed": ([default(1_000), mortal, move(9), change("ttl", ttl=None), move(50)],
                    LASTING | {"inherit", "ttl"}),
    "ttl given late": ([default(1_000), mortal, move(9), change("inherit", ttl=3), move(3),
                        change("inherit", ttl=-1)], LASTING),
    "pinned too late": ([default(10), mortal, move(10), change("inherit", ttl=-1),
                         step("replace", "ttl", {"ttl": -1})], LASTING),
    "deleted and made again": ([default(10), mortal, move(5), step("delete", "inherit"),
                                step("insert", "inherit", {}), move(9), default("off")],
                               LASTING | {"inherit"}),
    "many changes": ([default(30), mortal, move(9), default(5), default(-1), move(1),
                      default("off"), default(40), move(20), default(1_000)], LASTING),
    "the same default again": ([default(10), mortal, move(10), default(10), default(10), move(1)],
                               LASTING),
}
#: What may happen to a server between two steps; `None` is nothing.
DISTURB = ("restart", "crash", "reap", "reap_and_restart")
IDS = ("inherit", "ttl", "pinned", "long", "zero", "text")


def run(name, disturb, disk):
    """Tells a history; `disturb` says what happens after each step."""
    steps, expect = HISTORIES[name]
    dice = random.Random(f"{SEED} {name}")
    with Pair(data_dir=disk, pad=True) as pair:
        for one, then in zip(steps, disturb, strict=True):
            one(pair)
            if then:
                getattr(pair, then)()
            pair.check()
        pair.check_items(IDS)
        pair.check_feeds(dice.choice)
        assert set(pair.model.live) == expect, "the model disagrees with the table"
        for id in IDS:
            # What is dead does not hold its keys; what lives does.
            pair.insert(id, {"ttl": -1})
        pair.check()
        pair.check_feeds(dice.choice)
        pair.end()


LONGEST = max(len(steps) for steps, _ in HISTORIES.values())
PLANS = ["dealt"]
if TORTURE:
    PLANS += [f"{what} always" for what in DISTURB]
    PLANS += [f"{what} {at}" for what in ("crash", "reap_and_restart") for at in range(LONGEST)]


def disturbances(history, plan):
    """What happens after each step of a history; nothing where the plan has no step."""
    count = len(HISTORIES[history][0])
    if plan == "dealt":
        dice = random.Random(f"{SEED} items {history}")
        chosen = [dice.choice([*DISTURB, None, None, None]) for _ in range(count)]
        return chosen if any(chosen) else ["reap_and_restart"] * count
    what, where = plan.split()
    return [what if where in ("always", str(at)) else None for at in range(count)]


@pytest.fixture(scope="module")
def disturbed(request):
    def one(history, plan):
        disturb = disturbances(history, plan)
        if any(disturb):
            try:
                run(history, disturb, True)
            except AssertionError as error:
                raise AssertionError(f"{error}, with {disturb}, SEED={SEED}") from error

    with ahead(request, one, "history", "plan") as result:
        yield result


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("history", HISTORIES)
def test_disturbed(disturbed, history, plan):
    disturbed(history, plan)


@pytest.mark.parametrize("history", HISTORIES)
def test_undisturbed(history):
    run(history, [None] * len(HISTORIES[history][0]), False)
