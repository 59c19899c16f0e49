"""The data of a client of the backup load: collections or containers with their TTL settings, and
rows with the second of their last write, from which the live rows at each instant follow."""

import dataclasses


class Row:
    """One document or item. `ts` is the second of its last write, possibly learned from the
    reply."""

    def __init__(self, body, ts, ttl=None, at=None):
        self.body, self.ts, self.ttl, self.at = body, ts, ttl, at

    def deadline(self, default, date):
        """Returns the deadline in milliseconds, or None if the row never expires."""
        ends = []
        life = default if self.ttl is None else self.ttl
        if default is not None and life != -1:
            ends.append((self.ts + life) * 1_000)
        if date is not None and self.at is not None:
            ends.append(self.at + date * 1_000)
        return min(ends, default=None)


@dataclasses.dataclass(frozen=True)
class Held:
    """A collection: its default TTL (None: TTL is off), the seconds of its TTL index on dates
    (None: no such index), names of other indexes, rows by id."""

    default: int | None = None
    date: int | None = None
    indexes: frozenset = frozenset()
    rows: dict = dataclasses.field(default_factory=dict)

    def live(self, now_ms):
        """Returns the rows that have not expired."""
        found = {}
        for id, row in self.rows.items():
            end = row.deadline(self.default, self.date)
            if end is None or now_ms < end:
                found[id] = row
        return found

    def shown(self, now_ms):
        """Returns what a client sees of it."""
        bodies = {id: row.body for id, row in self.live(now_ms).items()}
        return bodies, self.default, self.date, self.indexes

    def changed(self, now_ms, **fields):
        """Returns a copy with other settings, without the rows that have expired by now."""
        return dataclasses.replace(self, rows=self.live(now_ms), **fields)

    def put(self, now_ms, **rows):
        return self.changed(now_ms).replace(rows)

    def replace(self, rows):
        return dataclasses.replace(self, rows={**self.rows, **rows})

    def without(self, now_ms, id):
        rows = self.live(now_ms)
        del rows[id]
        return dataclasses.replace(self, rows=rows)

    def moved(self, at_ms, seconds):
        """Returns the state after a restore with --rebase-ttl: live rows are written later."""
        rows = {
            id: Row(row.body, row.ts + seconds, row.ttl, row.at)
            for id, row in self.live(at_ms).items()
        }
        return dataclasses.replace(self, rows=rows)


class Entry:
    """One step of a client: the state after it, and the times of its request and reply by the clock
    of this process."""

    def __init__(self, state, begun):
        self.state, self.begun, self.answered = state, begun, None
        #: The server was killed, and after the restart the step turned out not to have been done.
        self.void = False

    def shown(self, now_ms):
        return {name: held.shown(now_ms) for name, held in self.state.items()}

    def moved(self, at_ms, seconds):
        state = {name: held.moved(at_ms, seconds) for name, held in self.state.items()}
        return Entry(state, self.begun)

    def count(self, now_ms):
        """Returns the number of live rows."""
        return sum(len(held.live(now_ms)) for held in self.state.values())


class Book:
    """All steps of one client, in order; the first is the empty state."""

    def __init__(self):
        self.entries = [Entry({}, 0.0)]
        self.entries[0].answered = 0.0

    def last(self):
        """Returns the number of the last step that is done."""
        at = len(self.entries) - 1
        while self.entries[at].void or self.entries[at].answered is None:
            at -= 1
        return at

    def begun(self):
        """Returns the number of the last step that was begun."""
        return len(self.entries) - 1

    def state(self):
        return self.entries[self.last()].state

    def settle(self, found, now_ms, at):
        """Determines after a kill whether the last step was done. Returns the error, if any."""
        last = self.last()
        pending = self.entries[last + 1 :]
        open_ones = [entry for entry in pending if not entry.void]
        done = bool(open_ones) and open_ones[-1].shown(now_ms) == found
        if not done and self.entries[last].shown(now_ms) != found:
            return f"it shows {found}, wanted {self.entries[last].shown(now_ms)}"
        for entry in open_ones:
            entry.void, entry.answered = not done, at if done else None
        return None
