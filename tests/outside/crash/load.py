"""A server under load with its ledgers: rounds of work, an end of some sort, and the comparison.

Both doors are written through at once, into one data directory.
"""

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
    """Writers of both doors, one of each that changes rules, and one that moves a manual clock."""

    def __init__(self, server):
        self.server = server
        self.rng = random.Random(f"{SEED} {server.clock}")
        self.times = ManualTimes(SEED) if server.clock == "manual" else SystemTimes()
        self.writers = [Writer(number, SEED, self.times) for number in range(WRITERS)]
        self.changer = Changer(SEED)
        self.item_writers = [ItemWriter(n, SEED, self.times) for n in range(ITEM_WRITERS)]
        self.item_changer = ItemChanger(SEED, self.times)
        build(server.client)
        build_items(server.items)
        self.follower = Follower(server.items)
        self.times.attach(server)

    def round(self, end):
        """Works for a while; `end` ends the server in the middle of it."""
        for writer in self.writers:
            writer.attach(self.server.address)
        for worker in [*self.item_writers, self.item_changer]:
            worker.attach(self.server.items.address)
        self.changer.attach(self.server)
        if self.times.stands:
            self.times.move(self.server)
        time.sleep(self.rng.uniform(0.1, 1.0))
        end()
        self.crashed = self.times.high()
        until = time.monotonic() + 15
        while not self.has_ended():
            assert time.monotonic() < until, "a client hangs after its server died"
            time.sleep(0.005)
        self.server.sound()

    def has_ended(self):
        clients = [*self.writers, self.changer, *self.item_writers, self.item_changer]
        return all(client.ended for client in clients) and self.times.ended()

    def compare(self):
        """What is wrong after a restart."""
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
