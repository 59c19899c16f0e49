"""What a writer knows: acknowledged states, and what an unanswered request may have done.

A writer has documents of its own and sends one request at a time, so after a crash each of its
documents is in the acknowledged state, or, if the unanswered request touches it, in the next one.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class State:
    """A document, or none (`body` None), and when it dies: not before `low`, surely by `high`."""

    body: dict | None
    low: float = float("inf")
    high: float = float("inf")

    def explains(self, found, begin, end):
        """Whether a read between these instants may have had this answer."""
        if self.body is None or found is None:
            may_be_absent = self.body is None or self.low <= end
            return found is None and may_be_absent
        return found == self.body and begin < self.high


ABSENT = State(None)


@dataclass(frozen=True)
class Life:
    """How long a document lives: from its write or until an instant, or perhaps longer."""

    seconds: int | None = None
    until: float | None = None
    #: The rule is being changed: it dies then at the earliest, and perhaps never.
    perhaps: bool = False

    def state(self, body, begin, end):
        """The state after a write between these instants."""
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
        #: The order in which an unanswered insertMany gave its documents.
        self.batch = []
        #: An unanswered request changes all or nothing.
        self.atomic = False
        self.acks = 0

    def get(self, key):
        return self.acked.get(key, ABSENT)

    def intend(self, changes, batch=(), atomic=False):
        """Before the send: what each document will be, as functions of begin and end."""
        self.begin = self.times.low()
        self.pending = changes
        self.batch = list(batch)
        self.atomic = atomic

    def acknowledge(self, applied=None):
        """After the reply; `applied` are those keys that the reply says were changed."""
        end = self.times.high()
        for key, change in self.pending.items():
            if applied is None or key in applied:
                self.acked[key] = change(self.begin, end)
        self.pending, self.batch = {}, []
        self.acks += 1

    def gone(self, key):
        """A reply said that it is not there; so it stays, until it is written again."""
        self.acked[key] = ABSENT

    def settle(self, found, begin, end, crashed):
        """Compares with what a restarted server has; answers what is wrong, and believes the rest.

        `found` maps keys to documents, `crashed` is when the server died. What is not there is
        dead from now on, whichever rule is made later.
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
                # Where both fit it is dead or will be judged by the later one.
                self.acked[key] = fitting[-1] if key in found else ABSENT
        wrong += self.holes(found)
        self.pending, self.batch = {}, []
        return wrong

    def half(self, found, begin, end, crashed):
        """An unanswered request of which a part was done, where that may not be."""
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
        """An ordered insertMany that got no answer has put in a beginning of its documents."""
        mortal = [key for key in self.batch if self.pending[key](self.begin, self.begin).low < 1e18]
        if mortal:
            return []
        there = [key in found for key in self.batch]
        if there == sorted(there, reverse=True):
            return []
        return [f"a later document of a batch without an earlier one: {self.batch} {there}"]
