"""The ledger of a writer: acknowledged states, and possible effects of a request without a reply. A
writer has documents of its own and sends one request at a time, so after a crash each of its
documents is in the acknowledged state, or, if the request without a reply concerns it, in the next
one.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class State:
    """A document or none, and bounds of its expiry: not before `low`, surely by `high`."""

    body: dict | None
    low: float = float("inf")
    high: float = float("inf")

    def explains(self, found, begin, end):
        """Returns whether a read between these instants may have returned `found`."""
        if self.body is None or found is None:
            may_be_absent = self.body is None or self.low <= end
            return found is None and may_be_absent
        return found == self.body and begin < self.high


ABSENT = State(None)


@dataclass(frozen=True)
class Life:
    """How long a document lives: a time from its write, or until an instant, or perhaps longer."""

    seconds: int | None = None
    until: float | None = None
    #: The TTL setting is being changed: the document expires no earlier, and perhaps never.
    perhaps: bool = False

    def state(self, body, begin, end):
        """Returns the state after a write between these instants."""
        low = high = float("inf")
        if self.seconds is not None:
            low, high = int(begin) + self.seconds, int(end) + self.seconds
        if self.until is not None:
            low = high = self.until
        return State(body, low, float("inf") if self.perhaps else high)


class Ledger:
    """States of one writer's documents, by (collection, id)."""

    def __init__(self, times):
        self.times = times
        self.acked = {}
        self.pending = {}
        #: The keys of an insertMany without a reply, in its order.
        self.batch = []
        #: Whether the request without a reply is atomic.
        self.atomic = False
        self.acks = 0

    def get(self, key):
        return self.acked.get(key, ABSENT)

    def intend(self, changes, batch=(), atomic=False):
        """Called before a send; `changes` maps documents to functions of begin and end."""
        self.begin = self.times.low()
        self.pending = changes
        self.batch = list(batch)
        self.atomic = atomic

    def acknowledge(self, applied=None):
        """Called after the reply; `applied` are the changed keys, None for all."""
        end = self.times.high()
        for key, change in self.pending.items():
            if applied is None or key in applied:
                self.acked[key] = change(self.begin, end)
        self.pending, self.batch = {}, []
        self.acks += 1

    def gone(self, key):
        """Called when a reply reports the document missing, as it stays until a write."""
        self.acked[key] = ABSENT

    def settle(self, found, begin, end, crashed):
        """Compares with the data of a restarted server; returns the errors, and keeps the data as
        the new state. `found` maps keys to documents, `crashed` is the time at which the server
        died. Absent documents are expired from now on, whichever setting is made later.
        """
        wrong = self.half(found, begin, end, crashed)
        for key in self.acked.keys() | self.pending.keys():
            states = [self.get(key)]
            if key in self.pending:
                states.append(self.pending[key](self.begin, crashed))
            fitting = [state for state in states if state.explains(found.get(key), begin, end)]
            if not fitting:
                wrong.append(f"{key}: found {found.get(key)}, may be {states}")
            else:
                # If both fit, the document is absent, or the later state is checked next.
                self.acked[key] = fitting[-1] if key in found else ABSENT
        wrong += self.holes(found)
        self.pending, self.batch = {}, []
        return wrong

    def half(self, found, begin, end, crashed):
        """Returns an error if an atomic request without a reply was done in part."""
        done, undone = [], []
        for key in self.pending if self.atomic else ():
            was, will_be = self.get(key), self.pending[key](self.begin, crashed)
            fits = [state.explains(found.get(key), begin, end) for state in (was, will_be)]
            if fits == [False, True]:
                done.append(key)
            if fits == [True, False]:
                undone.append(key)
        return [f"half a batch: {done} done, {undone} not"] if done and undone else []

    def holes(self, found):
        """Returns an error unless the pending ordered insertMany inserted a prefix."""
        mortal = [key for key in self.batch if self.pending[key](self.begin, self.begin).low < 1e18]
        if mortal:
            return []
        there = [key in found for key in self.batch]
        if there == sorted(there, reverse=True):
            return []
        return [f"a later document of a batch without an earlier one: {self.batch} {there}"]
