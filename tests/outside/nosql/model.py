"""The law of expiry for items, and what the two kinds of change feed have to tell of them."""

import itertools
import operator
from dataclasses import dataclass, field

from ghosts.model import Model


@dataclass(frozen=True)
class Event:
    """One entry of the feed of all versions; `second` is when it happened."""

    kind: str
    id: str
    current: object
    previous: object
    second: int

    def __str__(self):
        writes = [body and body["write"] for body in (self.previous, self.current)]
        return f"{self.kind} {self.id} at {self.second}, write {writes[0]} to {writes[1]}"


def runs(rows, key, name):
    """Rows with each run of the same key in the order of names."""
    return [row for _, run in itertools.groupby(rows, key) for row in sorted(run, key=name)]


def commit(event):
    """What one commit wrote is in no order; every delete is one of its own."""
    return event.current["commit"] if event.current else ("delete", event.previous["write"])


def settled(events):
    """What a feed has to keep to: the order of writes, that of deaths, and that of each item.

    A death is told before anybody looks and before its id is taken again, so beside writes of other
    items it may stand later than it was. Deaths of one second are in no order.
    """
    events = list(events)
    writes = [event for event in events if event.kind != "expired"]
    deaths = [event for event in events if event.kind == "expired"]
    by_id = operator.attrgetter("id")
    return [
        *runs(writes, commit, by_id),
        *runs(deaths, operator.attrgetter("second"), by_id),
        *sorted(events, key=by_id),
    ]


@dataclass
class Items(Model):
    """What lives in one container, and what has happened in it."""

    events: list = field(default_factory=list)
    #: The second in which the default was last changed.
    changed: int = 0

    def put(self, id, body):
        was = self.live.get(id)
        kind = "replace" if was else "create"
        self.tell(kind, id, body, was.body if was else None)
        super().put(id, body)

    def remove(self, id):
        self.tell("delete", id, None, self.live.pop(id).body)

    def tell(self, kind, id, current, previous):
        self.events.append(Event(kind, id, current, previous, self.now // 1000))

    def set_default(self, value):
        # A definition that is put again as it was changes nothing either.
        if value != self.default:
            self.changed = self.now // 1000
        super().set_default(value)

    def sweep(self):
        due = [(self.died(life), id, life) for id, life in self.live.items() if self.due(life)]
        for second, id, life in sorted(due, key=lambda one: one[:2]):
            self.events.append(Event("expired", id, None, life.body, second))
            del self.live[id]

    def died(self, life):
        ttl = life.body.get("ttl")
        own = type(ttl) is int and ttl > 0
        return max(life.ts + (ttl if own else self.default), self.changed)

    def latest(self, since):
        """The latest versions of what was written by later commits, in their order."""
        bodies = [life.body for life in self.live.values() if life.body["commit"] > since]
        return sorted(bodies, key=lambda body: (body["commit"], body["id"]))
