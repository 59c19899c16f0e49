"""The oracle of expiry: from a document's `_ts`, its TTL and the database time that a reply
contains, it determines which documents the reply must contain and which it must not.

Times are milliseconds of database time. A deadline is a pair, the earliest and the latest possible
time, which are equal if the client knows `_ts`. A document is visible before its deadline and never
from then on, independently of the machine's clock and of kills of the server.
"""

import threading

#: States of a document that is being written, and of one whose write had no reply from a server
#: that has died: either may have changed or not, but the second does not change any more.
OPEN, UNANSWERED = object(), object()


class Oracle:
    """Known deadlines of the documents of one collection, by id; None for a deleted document."""

    def __init__(self, name):
        self.name, self.lock = name, threading.Lock()
        self.known, self.versions = {}, 0
        #: The latest database time of a completed reply.
        self.newest = 0
        self.wrong, self.reads, self.visible, self.expired = [], 0, 0, 0

    def intend(self, id):
        """Called before a write or delete of this document."""
        self.learn(id, OPEN)

    def learn(self, id, deadline):
        """Called after its reply, with the deadline, or None for a delete."""
        with self.lock:
            self.versions += 1
            self.known[id] = deadline, self.versions

    def begin(self):
        """Called before a read: returns the known state, valid for documents not written since."""
        with self.lock:
            return dict(self.known), self.newest

    def end(self, begun, now, rows, after=None):
        """Called after a read, with its database time and its documents' deadlines by id. If that
        time may be before the instant of the read, `after` is a time after it."""
        after = now if after is None else after
        before, least = begun
        with self.lock:
            held = {id: it for id, it in before.items() if self.known.get(id) == it}
            wrong = [] if now >= least else [f"the time went back from {least} to {now}"]
            for id, deadline in rows.items():
                if deadline[1] <= now:
                    wrong.append(f"{id} is shown at {now}, expired at {deadline}")
            for id, (deadline, _) in held.items():
                wrong += self.judge(id, deadline, now, after, rows)
            # A write without a reply is known to be done once its document is seen.
            for id, deadline in rows.items():
                if id in held and held[id][0] is UNANSWERED:
                    self.versions += 1
                    self.known[id] = deadline, self.versions
            self.newest = max(self.newest, now)
            self.reads += 1
            self.visible += len(rows)
            self.wrong += [f"{self.name}: {text}" for text in wrong]

    def judge(self, id, deadline, now, after, rows):
        """Checks one document that was not written during the read."""
        if deadline in (OPEN, UNANSWERED):
            return []
        if deadline is None:
            return [f"{id} is shown at {now}, was removed"] if id in rows else []
        earliest, latest = deadline
        if id in rows and rows[id][0] != earliest:
            return [f"{id} lives until {rows[id]}, was told {deadline}"]
        if after < earliest:
            return [] if id in rows else [f"{id} is missing at {now}, lives until {deadline}"]
        if now < latest:
            return []
        self.expired += 1
        return [f"{id} came back at {now}, expired at {deadline}"] if id in rows else []

    def died(self, older_than):
        """Called when the server has died: open writes stay without a reply. Forgets documents that
        expired long ago and have been checked often."""
        known, self.known = self.known, {}
        for id, (deadline, version) in known.items():
            if deadline in (OPEN, UNANSWERED):
                self.known[id] = UNANSWERED, version
            elif deadline is not None and deadline[1] > self.newest - older_than:
                self.known[id] = deadline, version
