"""The model of expiry for items, and of the entries that both kinds of change feed must have."""

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
    """Returns the rows with each run of the same key sorted by name."""
    return [row for _, run in itertools.groupby(rows, key) for row in sorted(run, key=name)]


def commit(event):
    """Returns an event's commit: its writes are unordered; a delete is its own commit."""
    return event.current["commit"] if event.current else ("delete", event.previous["write"])


def settled(events):
    """Returns the events in a normalized order that keeps the order of writes, of expirations and
    of each item. An expiration is reported before any read and before its id is used again, so
    relative to other items' writes it may be late. Those of the same second are unordered.
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
    """The live items of one container, and their past events."""

    events: list = field(default_factory=list)
    #: The second in which the default TTL was last changed.
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
        # Replacing the definition with an identical one changes nothing either.
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
        """Returns the latest versions of the items that later commits wrote, in their order."""
        bodies = [life.body for life in self.live.values() if life.body["commit"] > since]
        return sorted(bodies, key=lambda body: (body["commit"], body["id"]))
