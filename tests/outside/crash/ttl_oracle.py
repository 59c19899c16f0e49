"""The oracle of expiry: from a document's `_ts`, the seconds that apply and the database time that
a reply itself tells, it says of every reply which documents have to be in it and which must not.

Times are milliseconds of database time. A deadline is two of them, the earliest and the latest that
it can be, which are one where a client is told `_ts`. A document is visible before its deadline and
never from then on, whatever the machine's clock says and however often the server was killed.
"""

import threading

#: A document that is being written, and one whose write had no answer from a server that has died:
#: either may be as before or not, but the second does not change any more.
OPEN, UNANSWERED = object(), object()


class Oracle:
    """What is known of the documents of one collection, by id: their deadlines, None for what is
    gone."""

    def __init__(self, name):
        self.name, self.lock = name, threading.Lock()
        self.known, self.versions = {}, 0
        #: The newest database time of a reply that has ended.
        self.newest = 0
        self.wrong, self.reads, self.visible, self.expired = [], 0, 0, 0

    def intend(self, id):
        """Before a write or a removal of this document."""
        self.learn(id, OPEN)

    def learn(self, id, deadline):
        """After its reply: the deadline, or None for a removal."""
        with self.lock:
            self.versions += 1
            self.known[id] = deadline, self.versions

    def begin(self):
        """Before a read: what holds until its end, if nobody writes meanwhile."""
        with self.lock:
            return dict(self.known), self.newest

    def end(self, begun, now, rows, after=None):
        """After a read: the database time that it tells, and deadlines of what it shows, by id.
        Where that time may be before the instant that it was judged at, `after` is after it."""
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
            # What had no answer and is seen is known from then on.
            for id, deadline in rows.items():
                if id in held and held[id][0] is UNANSWERED:
                    self.versions += 1
                    self.known[id] = deadline, self.versions
            self.newest = max(self.newest, now)
            self.reads += 1
            self.visible += len(rows)
            self.wrong += [f"{self.name}: {text}" for text in wrong]

    def judge(self, id, deadline, now, after, rows):
        """One document that nobody wrote meanwhile."""
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
        """The server has died: what is open stays unanswered. Forgets what has been expired for so
        long that it has been asked for often."""
        known, self.known = self.known, {}
        for id, (deadline, version) in known.items():
            if deadline in (OPEN, UNANSWERED):
                self.known[id] = UNANSWERED, version
            elif deadline is not None and deadline[1] > self.newest - older_than:
                self.known[id] = deadline, version
