"""What a writer knows from outside: acknowledged states, and what an unanswered request may have done.

A writer has documents of its own and sends one request at a time, so after a crash each of its
documents is in the acknowledged state, or, if the unanswered request touches it, in the next one.
"""

import time
from dataclasses import dataclass

#: How far the database's clock and this process's may be apart, seconds.
SLACK = 0.25


@dataclass(frozen=True)
class State:
    """A document, or none (`body` None), and when it dies: not before `low`, surely by `high`."""

    body: dict | None
    low: float = float("inf")
    high: float = float("inf")

    def explains(self, found, begin, end):
        """Whether a read between these instants may have had this answer."""
        if self.body is None or found is None:
            may_be_absent = self.body is None or self.low - SLACK <= end
            return found is None and may_be_absent
        return found == self.body and begin < self.high + SLACK


ABSENT = State(None)


def whole(body, life, begin, end):
    """The state after a write between these instants; `life` is seconds, a date, or None."""
    if life is None:
        return State(body)
    if isinstance(life, float):
        return State(body, life, life)
    return State(body, int(begin) + life, int(end) + life)


class Ledger:
    """States of one writer's documents, by (collection, id)."""

    def __init__(self):
        self.acked = {}
        self.pending = {}
        #: The order in which an unanswered insertMany gave its documents.
        self.batch = []
        self.acks = 0

    def get(self, key):
        return self.acked.get(key, ABSENT)

    def intend(self, changes, batch=()):
        """Before the send: what each document will be, as functions of begin and end."""
        self.begin = time.time()
        self.pending = changes
        self.batch = list(batch)

    def acknowledge(self, applied=None):
        """After the reply; `applied` are those keys that the reply says were changed."""
        end = time.time()
        for key, change in self.pending.items():
            if applied is None or key in applied:
                self.acked[key] = change(self.begin, end)
        self.pending, self.batch = {}, []
        self.acks += 1

    def settle(self, found, begin, end, crashed):
        """Compares with what a restarted server has; answers what is wrong, and believes the rest.

        `found` maps keys to documents, `crashed` is when the server died.
        """
        wrong = []
        for key in self.acked.keys() | self.pending.keys():
            states = [self.get(key)]
            if key in self.pending:
                states.append(self.pending[key](self.begin, crashed))
            fitting = [state for state in states if state.explains(found.get(key), begin, end)]
            if not fitting:
                wrong.append(f"{key}: found {found.get(key)}, may be {states}")
            elif key in self.pending:
                # Where both fit it is dead or will be judged by the later one.
                self.acked[key] = fitting[-1]
        wrong += self.holes(found)
        self.pending, self.batch = {}, []
        return wrong

    def holes(self, found):
        """An ordered insertMany that got no answer has put in a beginning of its documents."""
        mortal = [key for key in self.batch if self.pending[key](self.begin, self.begin).low < 1e18]
        if mortal:
            return []
        there = [key in found for key in self.batch]
        if there == sorted(there, reverse=True):
            return []
        return [f"a later document of a batch without an earlier one: {self.batch} {there}"]
