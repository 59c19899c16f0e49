"""A simple model of expiry: sweep whenever time or a setting changes; expired stays expired."""

from dataclasses import dataclass, field

from lib.server import date, millis


@dataclass
class Life:
    """One document from a write to the next."""

    body: dict
    ts: int


@dataclass
class Rule:
    """A TTL index on a date; `seconds` is None while it expires nothing."""

    field: str
    seconds: int | None
    partial: bool = False


@dataclass
class Model:
    """The live documents of one collection."""

    now: int
    live: dict = field(default_factory=dict)
    #: "off", or the number of the default TTL.
    default: object = "off"
    rules: dict = field(default_factory=dict)

    def put(self, id, body):
        self.live[id] = Life(body, self.now // 1000)
        self.sweep()

    def move(self, ms):
        self.now += ms
        self.sweep()

    def set_default(self, value):
        self.default = value
        self.sweep()

    def set_rule(self, name, rule):
        if rule is None:
            self.rules.pop(name, None)
        else:
            self.rules[name] = rule
        self.sweep()

    def sweep(self):
        self.live = {id: life for id, life in self.live.items() if not self.due(life)}

    def due(self, life):
        return self.due_by_default(life) or any(self.due_by(life, r) for r in self.rules.values())

    def due_by_default(self, life):
        if self.default == "off":
            return False
        ttl = life.body.get("ttl")
        if isinstance(ttl, int) and ttl > 0:
            seconds = ttl
        elif ttl == -1 or self.default == -1:
            return False
        else:
            seconds = self.default
        return life.ts + seconds <= self.now // 1000

    def due_by(self, life, rule):
        if rule.seconds is None or (rule.partial and life.body.get("p") is not True):
            return False
        value = life.body.get(rule.field)
        dates = [at for at in (value if isinstance(value, list) else [value]) if is_date(at)]
        return bool(dates) and min(map(millis, dates)) <= self.now - 1000 * rule.seconds


def is_date(value):
    return type(value) is type(date(0))
