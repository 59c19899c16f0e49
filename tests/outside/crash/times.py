"""The database's time as seen from outside: what it has reached surely, and what it cannot have."""

import random
import threading
import time

from lib.server import date
from pymongo.errors import PyMongoError

#: How far the system clock of the database and this process's may be apart, seconds.
SLACK = 0.25


class SystemTimes:
    """The machine's clock, give or take."""

    def low(self):
        return time.time() - SLACK

    def high(self):
        return time.time() + SLACK

    def attach(self, server):
        """A server has started."""

    def ended(self):
        return True

    def stop(self):
        """Nothing moves it but time."""

    stands = False


class ManualTimes:
    """A manual clock that one thread moves: the last move answered, and the last one asked for."""

    #: Between rounds nothing moves it.
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
        """A restart shows an instant that was asked for, none before one that was answered."""
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
