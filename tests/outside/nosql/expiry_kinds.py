"""The kinds of expiry of items: the set-up of a container whose items expire at a known second."""

from collections.abc import Callable
from dataclasses import dataclass, field

OFF = None
STAY = [{"ttl": -1}, {"ttl": 1_000_000}, {"ttl": 2_147_483_647}]


@dataclass(frozen=True)
class Death:
    """One kind. An item with the fields `mortal` expires `after` seconds from its write."""

    name: str
    #: The default TTL of the container when the items are written.
    default: int | None
    mortal: dict
    after: int
    #: Steps before the deadline: (seconds after the write, step).
    steps: list = field(default_factory=list)
    #: A step when the clock is at the deadline.
    strike: Callable | None = None
    #: Fields of items that outlive the test, each in its own way.
    controls: list = field(default_factory=lambda: STAY)

    @property
    def patched(self):
        """Whether its items are written again after their creation."""
        return "patched" in self.name


def default(value):
    """Returns a step that gives all containers this default TTL."""
    return lambda matrix: matrix.set_default(value)


def patched(*operations):
    """Returns a step that patches all expiring items."""
    return lambda matrix: matrix.patch_mortals(list(operations))


def kinds():
    unbound = [{}, *STAY]
    own, longer = {"ttl": 10}, {"ttl": 1_000}
    set_ttl = patched({"op": "set", "path": "/ttl", "value": 10})
    drop_ttl = patched({"op": "remove", "path": "/ttl"})
    return [
        Death("default", 10, {}, 10),
        Death("own-no-default", -1, own, 10, controls=unbound),
        Death("own-shorter", 1_000, own, 10, controls=unbound),
        Death("own-longer", 3, own, 10),
        Death("default-lowered", 1_000, {}, 10, [(4, default(10))]),
        Death("default-lowered-at-once", 1_000, {}, 10, strike=default(5)),
        Death("switched-on", OFF, {}, 10, [(4, default(10))]),
        Death("switched-on-at-once", OFF, {}, 10, strike=default(5)),
        Death("switched-on-own", OFF, own, 10, [(4, default(-1))], controls=unbound),
        Death("off-and-on", 10, {}, 10, [(4, default(OFF)), (7, default(10))]),
        Death("off-and-on-late", 10, {}, 20, [(4, default(OFF))], default(10)),
        Death("patched-ttl", -1, longer, 13, [(3, set_ttl)], controls=unbound),
        Death("patched-unpinned", 10, {"ttl": -1}, 13, [(3, drop_ttl)]),
        # Items that have expired by the clock stay expired under later settings.
        Death("dead-then-off", 10, {}, 10, strike=default(OFF)),
        Death("dead-then-longer", 10, {}, 10, strike=default(1_000_000)),
    ]
