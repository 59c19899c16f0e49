"""Expired items stay expired under any later default TTL; and an older one does not expire newer
items. `lib.scenario` describes how each history is played.
"""

from lib.scenario import Scenarios, default, mortal, move, step

from nosql.pair import Pair


def change(id, **fields):
    return step("change", id, fields)


def strange(pair):
    """Inserts items with meaningless values while TTL is off."""
    pair.insert("zero", {"ttl": 0})
    pair.insert("text", {"ttl": "5"})


LASTING = {"pinned", "long"}
#: name: (steps, ids live at the end)
HISTORIES = {
    "longer": ([default(10), mortal, move(10), default(1_000), move(1)], LASTING),
    "longer in time": (
        [default(10), mortal, move(9.9), default(1_000), move(1)],
        LASTING | {"inherit"},
    ),
    "shorter": ([default(1_000), mortal, move(5), default(5), move(1)], LASTING | {"ttl"}),
    "shorter and longer": (
        [default(1_000), mortal, move(5), default(5), default(1_000), move(1)],
        LASTING | {"ttl"},
    ),
    "to -1": ([default(10), mortal, move(10), default(-1), move(1)], LASTING),
    "to -1 in time": ([default(10), mortal, move(9), default(-1), move(50)], LASTING | {"inherit"}),
    "from -1": ([default(-1), mortal, move(10), default(10), default(-1)], LASTING),
    "-1 alone": ([default(-1), mortal, move(50)], LASTING | {"inherit"}),
    "off": ([default(10), mortal, move(10), default("off"), move(200)], LASTING),
    "off in time": (
        [default(10), mortal, move(9), default("off"), move(200)],
        LASTING | {"inherit", "ttl"},
    ),
    "off and on again": (
        [default(10), mortal, move(10), default("off"), move(1), default(1_000), move(1)],
        LASTING,
    ),
    "off in time, on after": (
        [default(10), mortal, move(9), default("off"), move(50), default(1_000)],
        LASTING | {"inherit"},
    ),
    "off in time, on with the same": (
        [default(10), mortal, move(9), default("off"), move(50), default(10)],
        LASTING,
    ),
    "off in time, on with -1": (
        [default(10), mortal, move(9), default("off"), move(50), default(-1)],
        LASTING | {"inherit"},
    ),
    "on late": ([mortal, move(50), default(20), default("off")], LASTING),
    "on late, long": ([mortal, move(50), default(60)], LASTING | {"inherit"}),
    "on late with -1": (
        [mortal, move(50), default(-1), default("off"), move(1), default(1)],
        LASTING,
    ),
    "strange values": (
        [strange, move(5), default(20), move(14), default("off"), move(90), default(200)],
        {"zero", "text"},
    ),
    "strange values, late": ([strange, move(20), default(20), default("off")], set()),
    "a new life": (
        [default(10), mortal, move(10), default(1_000), step("insert", "inherit", {}), move(20)],
        LASTING | {"inherit"},
    ),
    "a new life while off": (
        [
            default(10),
            mortal,
            move(10),
            default("off"),
            step("insert", "inherit", {}),
            move(100),
            default(200),
        ],
        {"pinned", "inherit"},
    ),
    "an upsert of the dead": (
        [default(10), mortal, move(10), step("replace", "ttl", {}, True), move(9), default(100)],
        LASTING | {"ttl"},
    ),
    "a batch over the dead": (
        [
            default(10),
            mortal,
            move(10),
            step("batch", ["inherit"], {"ttl": -1}, "Create"),
            move(50),
        ],
        LASTING | {"inherit"},
    ),
    "renewed in time": (
        [default(10), mortal, move(9), change("inherit", x=1), move(9), default(1_000), move(2)],
        LASTING | {"inherit"},
    ),
    "ttl removed": (
        [default(1_000), mortal, move(9), change("ttl", ttl=None), move(50)],
        LASTING | {"inherit", "ttl"},
    ),
    "ttl given late": (
        [
            default(1_000),
            mortal,
            move(9),
            change("inherit", ttl=3),
            move(3),
            change("inherit", ttl=-1),
        ],
        LASTING,
    ),
    "pinned too late": (
        [
            default(10),
            mortal,
            move(10),
            change("inherit", ttl=-1),
            step("replace", "ttl", {"ttl": -1}),
        ],
        LASTING,
    ),
    "deleted and made again": (
        [
            default(10),
            mortal,
            move(5),
            step("delete", "inherit"),
            step("insert", "inherit", {}),
            move(9),
            default("off"),
        ],
        LASTING | {"inherit"},
    ),
    "many changes": (
        [
            default(30),
            mortal,
            move(9),
            default(5),
            default(-1),
            move(1),
            default("off"),
            default(40),
            move(20),
            default(1_000),
        ],
        LASTING,
    ),
    "the same default again": (
        [default(10), mortal, move(10), default(10), default(10), move(1)],
        LASTING,
    ),
}
IDS = ("inherit", "ttl", "pinned", "long", "zero", "text")


def look(pair, rng):
    """Compares items and feeds in addition to the comparison after every step."""
    pair.check_items(IDS)
    pair.check_feeds(rng.choice)


scenarios = Scenarios(HISTORIES, Pair, IDS, "items ", look)
disturbed, test_disturbed, test_undisturbed = scenarios.tests()
