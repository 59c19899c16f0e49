"""A server under load with its ledgers: rounds of work, a crash or stop, and the comparison. Both
APIs write at the same time, into one data directory.
"""

import itertools
import random
import time

from lib.seed import SEED

from crash.changer import Changer
from crash.check import compare
from crash.check_items import Follower, compare_items
from crash.items import ITEM_WRITERS, ItemChanger, ItemWriter, build as build_items
from crash.times import ManualTimes, SystemTimes
from crash.workload import WRITERS, Writer, build


class Load:
    """Writers and a changer of settings for each API, and a mover of a manual clock."""

    def __init__(self, server, writers=WRITERS, item_writers=ITEM_WRITERS, times=None):
        self.server = server
        self.rng = random.Random(f"{SEED} {server.clock}")
        usual = ManualTimes(SEED) if server.clock == "manual" else SystemTimes()
        self.times = times or usual
        self.writers = [Writer(number, SEED, self.times) for number in range(writers)]
        self.changer = Changer(SEED)
        self.item_writers = [ItemWriter(n, SEED, self.times) for n in range(item_writers)]
        self.item_changer = ItemChanger(SEED, self.times)
        build(server.client)
        build_items(server.items)
        self.follower = Follower(server.items)
        self.times.attach(server)

    def begin(self, *servers):
        """Starts all clients, distributed over these servers in turn."""
        servers = itertools.cycle(servers)
        for writer in self.writers:
            writer.attach(next(servers).address)
        for worker in [*self.item_writers, self.item_changer]:
            worker.attach(next(servers).items.address)
        self.changer.attach(next(servers))
        if self.times.stands:
            self.times.move(next(servers))

    def round(self, end):
        """Works for a while, during which `end` kills or stops the server."""
        self.begin(self.server)
        time.sleep(self.rng.uniform(0.1, 1.0))
        end()
        self.crashed = self.times.high()
        self.wait(15)
        self.server.sound()

    def wait(self, within):
        """Waits until all clients have ended."""
        until = time.monotonic() + within
        while not self.has_ended():
            assert time.monotonic() < until, "a client hangs after its server died"
            time.sleep(0.005)

    def stop(self, within):
        """Stops all clients while the server keeps running."""
        for client in self.clients():
            client.stopping = True
        self.times.stop()
        self.wait(within)
        self.crashed = self.times.high()

    def clients(self):
        return [*self.writers, self.changer, *self.item_writers, self.item_changer]

    def has_ended(self):
        return all(client.ended for client in self.clients()) and self.times.ended()

    def compare(self):
        """Returns all errors after a restart."""
        self.times.attach(self.server)
        database = self.server.client["torture"]
        wrong = self.changer.wrong + self.item_changer.wrong
        wrong += compare(database, self.times, self.writers, self.crashed)
        return wrong + compare_items(
            self.server, self.times, self.item_writers, self.follower, self.crashed
        )

    def acks(self):
        return sum(writer.ledger.acks for writer in self.writers)

    def item_acks(self):
        return sum(writer.ledger.acks for writer in self.item_writers)
