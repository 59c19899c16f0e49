"""Bounds of database time from outside: certainly reached, and certainly not passed."""

import random
import threading
import time

from lib.server import date
from pymongo.errors import PyMongoError

#: Maximum difference between the database's system clock and that of this process, in seconds.
SLACK = 0.25


class SystemTimes:
    """Bounds from the machine's clock."""

    def low(self):
        return time.time() - SLACK

    def high(self):
        return time.time() + SLACK

    def attach(self, server):
        """Called after a start of the server."""

    def ended(self):
        return True

    def stop(self):
        """Does nothing: only time moves this clock."""

    stands = False


class ManualTimes:
    """A manual clock moved by one thread: between the last confirmed and requested moves."""

    #: The clock does not move between rounds.
    stands = True

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.done = self.asked = None
        self.thread = None
        self.stopping = False

    def low(self):
        return self.done / 1000

    def high(self):
        return self.asked / 1000

    def attach(self, server):
        """Called after a start: the time must be a requested one, not before a confirmed one."""
        now = server.now_ms()
        assert self.done is None or self.done <= now <= self.asked, (self.done, now, self.asked)
        self.done = self.asked = now

    def move(self, server):
        self.stopping = False
        self.thread = threading.Thread(target=self.work, args=(server,), daemon=True)
        self.thread.start()

    def work(self, server):
        client = server.connect(retryReads=False, serverSelectionTimeoutMS=2_000)
        try:
            while not self.stopping:
                self.asked += self.random.choice([1, 10, 100, 300])
                client.admin.command({"ebbClock": 1, "set": date(self.asked)})
                self.done = self.asked
                time.sleep(self.random.random() * 0.02)
        except PyMongoError:
            pass
        client.close()

    def stop(self):
        self.stopping = True

    def ended(self):
        return self.thread is None or not self.thread.is_alive()
