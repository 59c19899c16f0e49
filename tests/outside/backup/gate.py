"""Steps of clients run concurrently; the manual clock moves only while no step is running, so that
each step has one instant, and each instant has a last step of every client."""

import bisect
import contextlib
import random
import threading
import time

from lib.server import date, millis
from pymongo.errors import PyMongoError


class Gate:
    """Synchronizes the clients with the thread that moves the clock."""

    def __init__(self, seed, clients, manual):
        self.clients, self.manual = clients, manual
        self.random = random.Random(f"{seed} gate")
        self.condition, self.under_way, self.alone = threading.Condition(), 0, False
        self.now = 0
        #: Instants at which no step was running, and the last step of each client at each of them.
        self.instants, self.marks = [], []
        self.thread, self.stopping = None, False

    @contextlib.contextmanager
    def step(self):
        """Runs a step, during which the clock does not move."""
        with self.condition:
            self.condition.wait_for(lambda: not self.alone)
            self.under_way += 1
        try:
            yield
        finally:
            with self.condition:
                self.under_way -= 1
                self.condition.notify_all()

    @contextlib.contextmanager
    def still(self):
        """Waits until no step is running and blocks new ones."""
        with self.condition:
            self.condition.wait_for(lambda: not self.alone)
            self.alone = True
            self.condition.wait_for(lambda: self.under_way == 0)
        try:
            yield
        finally:
            with self.condition:
                self.alone = False
                self.condition.notify_all()

    def mark(self, now_ms):
        """Records the last step of each client at this instant."""
        self.now = now_ms
        self.instants.append(now_ms)
        self.marks.append([client.book.last() for client in self.clients])

    def at(self, instant):
        """Returns the number of the mark that holds the state of an instant."""
        return bisect.bisect_right(self.instants, instant) - 1

    def is_final(self, mark):
        """Returns whether no step came at the instant of a mark after it; after a kill the clock
        may resume at the same instant."""
        instant = self.instants[mark]
        return self.at(instant) == mark and instant < self.now

    # The clock.

    def attach(self, server):
        """Called after a start of the server; its clock is at the last confirmed move or at an
        unconfirmed one."""
        self.now, self.stopping = server.now_ms(), False
        self.thread = threading.Thread(target=self.work, args=(server,), daemon=True)
        self.thread.start()

    def work(self, server):
        client = server.connect(retryReads=False, serverSelectionTimeoutMS=2_000)
        with contextlib.suppress(PyMongoError):
            while not self.stopping:
                time.sleep(self.random.uniform(0.02, 0.08))
                with self.still():
                    self.move(client)
        client.close()

    def move(self, client):
        if self.manual:
            self.mark(self.now)
            to = self.now + self.random.choice([1, 20, 300, 1_000, 2_500])
            client.admin.command({"ebbClock": 1, "set": date(to)})
            self.now = to
        else:
            self.mark(millis(client.admin.command({"ebbClock": 1})["now"]))
            # The next step must be at a later millisecond.
            time.sleep(0.005)

    def stop(self):
        self.stopping = True
        self.thread.join(20)
        assert not self.thread.is_alive(), "what moves the clock hangs"
