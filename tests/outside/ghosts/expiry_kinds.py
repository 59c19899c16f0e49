"""The kinds of expiry: how a collection is set up so that a document expires at a known instant."""

from collections.abc import Callable
from dataclasses import dataclass, field

from lib.server import date

SECOND = 1000


def whole(ms):
    """Rounds down to full seconds, like `_ts`."""
    return ms // SECOND * SECOND


@dataclass(frozen=True)
class Death:
    """One kind. `mortal(now)` are the fields of a document that expires at `deadline(now)`."""

    name: str
    indexes: list
    mortal: Callable
    deadline: Callable
    #: Fields of documents that outlive the test, each in its own way.
    controls: list = field(default_factory=lambda: [{}])


def on_ts(n):
    return {"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": n}


def on_date(n, **more):
    return {"key": {"at": 1}, "name": "at_1", "expireAfterSeconds": n, **more}


def far(now):
    return date(now + 1_000_000 * SECOND)


def kinds():
    """Returns all kinds; `now` is the instant of the insert in milliseconds."""
    stay = [{"ttl": -1}, {"ttl": 1_000_000}, {"ttl": 2_147_483_647}]
    no_date = [{}, {"at": "2000-01-01"}, {"at": 0}]
    old = date(0)
    return [
        Death("inherit", [on_ts(10)], lambda now: {}, lambda now: whole(now) + 10_000, stay),
        Death(
            "inherit-bad-ttl",
            [on_ts(10)],
            lambda now: {"ttl": 20.5},
            lambda now: whole(now) + 10_000,
            stay,
        ),
        Death(
            "inherit-descending",
            [{"key": {"_ts": -1}, "name": "t", "expireAfterSeconds": 10}],
            lambda now: {},
            lambda now: whole(now) + 10_000,
            stay,
        ),
        Death(
            "explicit-infinite",
            [on_ts(-1)],
            lambda now: {"ttl": 10},
            lambda now: whole(now) + 10_000,
            [{}, *stay],
        ),
        Death(
            "explicit-shorter",
            [on_ts(1_000)],
            lambda now: {"ttl": 10.0},
            lambda now: whole(now) + 10_000,
            [{}, *stay],
        ),
        Death(
            "explicit-longer",
            [on_ts(3)],
            lambda now: {"ttl": 10},
            lambda now: whole(now) + 10_000,
            stay,
        ),
        Death(
            "date",
            [on_date(10)],
            lambda now: {"at": date(now + 123)},
            lambda now: now + 10_123,
            no_date,
        ),
        Death(
            "date-zero",
            [on_date(0)],
            lambda now: {"at": date(now + 7_001)},
            lambda now: now + 7_001,
            no_date,
        ),
        Death(
            "date-array",
            [on_date(10)],
            lambda now: {"at": [far(now), "x", date(now + 456), True]},
            lambda now: now + 10_456,
            [*no_date, {"at": []}, {"at": ["x", 1]}],
        ),
        Death(
            "date-partial",
            [on_date(10, partialFilterExpression={"p": True})],
            lambda now: {"at": date(now), "p": True},
            lambda now: now + 10_000,
            [{"at": old, "p": False}, {"at": old}],
        ),
        Death(
            "date-hidden",
            [on_date(10, hidden=True)],
            lambda now: {"at": date(now + 999)},
            lambda now: now + 10_999,
            no_date,
        ),
        Death(
            "date-before-ts",
            [on_ts(1_000), on_date(10)],
            lambda now: {"at": date(now + 1)},
            lambda now: now + 10_001,
            [{"ttl": -1}, {"ttl": -1, "at": "x"}],
        ),
        Death(
            "ts-before-date",
            [on_ts(10), on_date(1_000)],
            lambda now: {"at": date(now)},
            lambda now: whole(now) + 10_000,
            [{"ttl": -1}, {"ttl": -1, "at": "x"}],
        ),
    ]
