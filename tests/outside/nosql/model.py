"""The law of expiry for items, and what the two kinds of change feed have to tell of them."""

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


def settled(events):
    """Events with those deaths of one second, whose order is free, in the order of their ids."""
    result, deaths = [], []
    for event in [*events, None]:
        if deaths and (event is None or event.kind != "expired" or event.second != deaths[0].second):
            result += sorted(deaths, key=lambda one: one.id)
            deaths = []
        if event is not None:
            (deaths if event.kind == "expired" else result).append(event)
    return result


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
        """The latest versions of what was written after a write, in the order of writes."""
        bodies = [life.body for life in self.live.values() if life.body["write"] > since]
        return sorted(bodies, key=lambda body: body["write"])
