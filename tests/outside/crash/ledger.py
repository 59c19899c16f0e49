"""What writers meant and what was acknowledged, kept outside the server: the oracle of crashes."""

import threading


class Ledger:
    """Documents of one run by id. Each id is written by one thread, one operation at a time."""

    def __init__(self):
        self.lock = threading.Lock()
        #: id -> last acknowledged value; None: acknowledged as removed.
        self.sure = {}
        #: id -> values that an unanswered operation may have left.
        self.maybe = {}

    def intend(self, key, value):
        with self.lock:
            self.maybe[key] = {value}

    def acknowledge(self, key, value):
        with self.lock:
            self.sure[key] = value
            self.maybe.pop(key, None)

    def settle(self, found):
        """After a restart: what is there is what counts from now on."""
        problems = []
        with self.lock:
            for key in set(self.sure) | set(self.maybe) | set(found):
                allowed = {self.sure.get(key)} | self.maybe.get(key, set())
                if found.get(key) not in allowed:
                    problems.append((key, found.get(key), allowed))
            self.sure = dict(found)
            self.maybe.clear()
        return problems
