"""The record of names that all clients use: where an acknowledged document may be, and whether it
may be missing.

Document ids are never reused. A request that drops, renames or replaces a name is recorded with the
times of its begin and its end (infinite without a reply: it was done before the crash or never). A
document may be where renames can have moved it, and may be missing only if a request that drops was
in progress, or came, after its insertion had begun.
"""

import threading
import time
from dataclasses import dataclass

FOREVER = float("inf")
now = time.monotonic


@dataclass
class Insert:
    """An insertion of a document into a name: (API, database, collection)."""

    name: tuple
    begin: float
    end: float = FOREVER
    acked: bool = False
    refused: bool = False


@dataclass
class Change:
    """A request that deletes the documents of the names for which `gone` is true, or moves those of
    one name to another."""

    gone: object = None
    source: tuple | None = None
    target: tuple | None = None
    begin: float = 0.0
    end: float = FOREVER
    acked: bool = False
    refused: bool = False


class Shared:
    """The record of all clients; it is reset after each comparison."""

    def __init__(self):
        self.lock = threading.Lock()
        self.inserts, self.changes = {}, []

    def insert(self, ids, name):
        entry = [Insert(name, now()) for _ in ids]
        with self.lock:
            self.inserts.update(zip(ids, entry, strict=True))
        return entry

    def change(self, **what):
        entry = Change(begin=now(), **what)
        with self.lock:
            self.changes.append(entry)
        return [entry]

    @staticmethod
    def answer(entries, done=True):
        """Called for a reply: the request was done, or refused and therefore not done."""
        for entry in entries:
            entry.end, entry.acked, entry.refused = now(), done, not done

    def places(self, insert):
        """Returns the names where a document may be, each with its earliest time there."""
        reached, more = {insert.name: insert.begin}, True
        while more:
            more = False
            for change in self.changes:
                since = reached.get(change.source)
                if change.refused or since is None or change.end < since:
                    continue
                there = max(since, change.begin)
                if there < reached.get(change.target, FOREVER):
                    reached[change.target], more = there, True
        return reached

    def may_be_gone(self, reached):
        return any(
            change.gone and not change.refused and since <= change.end and change.gone(name)
            for name, since in reached.items()
            for change in self.changes
        )

    def is_gone(self, insert, reached):
        """Returns whether a document was never moved, and dropped after its insertion."""
        return len(reached) == 1 and any(
            change.acked and change.gone and change.gone(insert.name) and insert.end < change.begin
            for change in self.changes
        )

    def settle(self, found):
        """Returns the errors in the ids found by name, which then become the new initial state."""
        wrong, where = [], {}
        for name, ids in found.items():
            for id in ids:
                where.setdefault(id, []).append(name)
        for id, names in where.items():
            if id not in self.inserts:
                wrong.append(f"{id} is in {names}: nobody put it there, or it had gone")
        for id, insert in self.inserts.items():
            wrong += self.judge(id, insert, where.get(id, []))
        self.changes = []
        self.inserts = {id: Insert(names[0], 0.0, 0.0, True) for id, names in where.items()}
        return wrong

    def judge(self, id, insert, names):
        reached = self.places(insert)
        told = f"{id}, put into {insert.name}"
        if len(names) > 1:
            return [f"{told}, is there twice: {names}"]
        if names and insert.refused:
            return [f"{told}, was refused and is in {names}"]
        if names and names[0] not in reached:
            return [f"{told}, is in {names}"]
        if names and self.is_gone(insert, reached):
            return [f"{told}, was dropped and is there"]
        if not names and insert.acked and not self.may_be_gone(reached):
            return [f"{told}, is lost: it may be in {sorted(reached)}"]
        return []
