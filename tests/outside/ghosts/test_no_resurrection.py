"""Expired documents stay expired under later settings; and an older setting does not expire newer
documents. `lib.scenario` describes how each history is played.
"""

from lib.scenario import Scenarios, default, mortal, move, step
from lib.server import date

from ghosts.pair import Pair

S = 1000


def at(pair, ms):
    """Returns the date `ms` from now."""
    return date(pair.model.now + ms)


def dated(pair):
    pair.insert("old", {"at": at(pair, 0), "p": True})
    pair.insert("older", {"at": [at(pair, 90 * S), at(pair, -5 * S)], "p": True})
    pair.insert("new", {"at": at(pair, 40 * S), "p": True})
    pair.insert("none", {"p": True})


def rule(*args, **more):
    return step("rule", "at_1", *args, **more)


def insert_dated(id, ms):
    return lambda pair: pair.insert(id, {"at": at(pair, ms), "p": True})


#: name: (steps, ids live at the end)
HISTORIES = {
    "default raised": (
        [default(10), mortal, move(10), default(1_000), move(1)],
        {"pinned", "long"},
    ),
    "default raised before": (
        [default(10), mortal, move(9.9), default(1_000), move(1)],
        {"inherit", "pinned", "long"},
    ),
    "default lowered and raised": (
        [default(1_000), mortal, move(5), default(5), default(1_000), move(1)],
        {"ttl", "pinned", "long"},
    ),
    "default to -1": ([default(10), mortal, move(10), default(-1), move(1)], {"pinned", "long"}),
    "default from -1": (
        [default(-1), mortal, move(10), default(10), default(-1)],
        {"pinned", "long"},
    ),
    "off": ([default(10), mortal, move(10), default("off"), move(200)], {"pinned", "long"}),
    "off and on again": (
        [default(10), mortal, move(10), default("off"), move(1), default(1_000), move(1)],
        {"pinned", "long"},
    ),
    "off before, on after": (
        [default(10), mortal, move(9), default("off"), move(50), default(1_000)],
        {"inherit", "pinned", "long"},
    ),
    "off before, on with the same": (
        [default(10), mortal, move(9), default("off"), move(50), default(10)],
        {"pinned", "long"},
    ),
    "on late": ([mortal, move(50), default(20), default("off")], {"pinned", "long"}),
    "on late, long": ([mortal, move(50), default(60)], {"inherit", "pinned", "long"}),
    "a new life after the death": (
        [default(10), mortal, move(10), default(1_000), step("insert", "inherit", {}), move(20)],
        {"inherit", "pinned", "long"},
    ),
    "renewed in time": (
        [
            default(10),
            mortal,
            move(9),
            step("change", "inherit", {"x": 1}),
            move(9),
            default(1_000),
            move(2),
        ],
        {"inherit", "pinned", "long"},
    ),
    "ttl removed": (
        [default(1_000), mortal, move(9), step("change", "ttl", {"ttl": None}), move(50)],
        {"inherit", "ttl", "pinned", "long"},
    ),
    "ttl given late": (
        [
            default(1_000),
            mortal,
            move(9),
            step("change", "inherit", {"ttl": 3}),
            move(3),
            step("change", "inherit", {"ttl": -1}),
        ],
        {"pinned", "long"},
    ),
    "pinned at the deadline": (
        [
            default(10),
            mortal,
            move(10),
            step("change", "inherit", {"ttl": -1}),
            step("replace", "ttl", {"ttl": -1}),
        ],
        {"pinned", "long"},
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
        {"pinned", "long"},
    ),
    "date index longer": (
        [rule("at", 10), dated, move(10), rule("at", 1_000), move(1)],
        {"new", "none"},
    ),
    "date index dropped": ([rule("at", 10), dated, move(10), rule()], {"new", "none"}),
    "date index dropped and made again": (
        [rule("at", 10), dated, move(10), rule(), move(1), rule("at", 1_000)],
        {"new", "none"},
    ),
    "date index dropped before": (
        [rule("at", 10), dated, move(4.999), rule(), move(50)],
        {"old", "older", "new", "none"},
    ),
    "date index made late": ([dated, move(10), rule("at", 10), rule("at", 1_000)], {"new", "none"}),
    "date index made late, then off": ([dated, move(10), rule("at", 10), rule()], {"new", "none"}),
    "date index inert, converted, longer": (
        [rule("at"), dated, move(10), rule("at", 10), rule("at", 500)],
        {"new", "none"},
    ),
    "an old date under a longer rule": (
        [
            rule("at", 10),
            dated,
            move(10),
            rule("at", 1_000),
            insert_dated("late", -500 * S),
            move(1),
        ],
        {"new", "none", "late"},
    ),
    "an old date after the drop": (
        [rule("at", 10), dated, move(10), rule(), insert_dated("late", -500 * S), move(100)],
        {"new", "none", "late"},
    ),
    "an old date, dead on arrival": (
        [rule("at", 10), dated, insert_dated("late", -10 * S), rule("at", 1_000)],
        {"old", "older", "new", "none"},
    ),
    "the former id with an old date": (
        [rule("at", 10), dated, move(10), rule("at", 1_000), insert_dated("old", -500 * S)],
        {"new", "none", "old"},
    ),
    "a date moved in time": (
        [rule("at", 10), dated, lambda p: p.change("old", {"at": at(p, 100 * S)}), move(50)],
        {"old", "none"},
    ),
    "a date index of a dropped name": (
        [rule("at", 10), dated, move(10), rule(), rule("other", 10), move(1)],
        {"new", "none"},
    ),
    "partial, left in time": (
        [
            rule("at", 10, partial=True),
            dated,
            lambda p: p.change("old", {"p": False}),
            move(10),
            rule(),
        ],
        {"old", "new", "none"},
    ),
    "partial, left too late": (
        [
            rule("at", 10, partial=True),
            dated,
            move(10),
            lambda p: p.change("old", {"p": False}),
            rule(),
        ],
        {"new", "none"},
    ),
    "hidden": ([rule("at", 10, hidden=True), dated, move(10), rule()], {"new", "none"}),
    "both kinds of rule": (
        [default(30), rule("at", 10), dated, mortal, move(10), rule(), move(20), default("off")],
        {"pinned", "long"},
    ),
}
scenarios = Scenarios(HISTORIES, Pair, ("inherit", "ttl", "old", "older"))
disturbed, test_disturbed, test_undisturbed = scenarios.tests()
