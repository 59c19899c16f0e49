"""A server on a disk whose power is cut, round after round, and all its writers."""

import pathlib
import random
import time

from crash.items import ITEM_WRITERS
from crash.load import Load
from crash.workload import WRITERS
from lib.seed import SEED
from lib.server import spawn

from power.workers import (
    DocumentMover,
    ItemMover,
    Loader,
    PowerChanger,
    PowerItemChanger,
    PowerItemWriter,
    PowerTimes,
    PowerWriter,
)

#: Range of the seconds until the power is cut: usually, and during a large load.
USUALLY, LOADED = (0.05, 0.8), (0.3, 4.0)
#: Probabilities of a large load, and of another cut while the server starts.
LOADS, TWICE = 0.12, 0.2
#: Maximum number of seconds from then until the server is killed.
KILLED = 0.3
DOCUMENT_MOVERS, ITEM_MOVERS = 3, 2


class PowerLoad(Load):
    """The load of the crash tests, and movers and a loader."""

    def __init__(self, server, disk):
        super().__init__(server)
        self.disk = disk
        if server.clock == "manual":
            self.times = PowerTimes(SEED)
            self.times.attach(server)
        self.rng = random.Random(f"{SEED} {disk.kind}")
        times = self.times
        self.writers = [PowerWriter(number, SEED, times) for number in range(WRITERS)]
        self.item_writers = [PowerItemWriter(n, SEED, times) for n in range(ITEM_WRITERS)]
        self.changer, self.item_changer = PowerChanger(SEED), PowerItemChanger(SEED, times)
        self.movers = [DocumentMover(n, SEED, times) for n in range(DOCUMENT_MOVERS)]
        self.movers += [ItemMover(n, SEED, times) for n in range(ITEM_MOVERS)]
        reply = server.items.create_database("moving")
        assert reply.status == 201, reply
        self.loader = Loader(SEED, times)
        self.loads = False
        self.starts_cut = 0
        self.slowest = 0.0

    def round(self):
        """Works for a while; then the power is cut."""
        server, rng = self.server, self.rng
        # Closing it later would wait for the server.
        server.client.close()
        for writer in self.writers:
            writer.attach(server.address)
        for worker in [*self.item_writers, self.item_changer]:
            worker.attach(server.items.address)
        self.changer.attach(server)
        self.loads = rng.random() < LOADS
        for worker in [*self.movers, *([self.loader] if self.loads else [])]:
            worker.attach(server)
        if self.times.stands:
            self.times.move(server)
        time.sleep(rng.uniform(*(LOADED if self.loads else USUALLY)))
        self.disk.cut()
        time.sleep(rng.choice([0.0, rng.uniform(0.0, KILLED)]))
        server.kill()
        self.crashed = self.times.high()
        until = time.monotonic() + 20
        while not self.has_ended():
            assert time.monotonic() < until, "a client hangs after its server died"
            time.sleep(0.005)
        self.disk.renew()

    def has_ended(self):
        more = [*self.movers, *([self.loader] if self.loads else [])]
        return all(worker.ended for worker in more) and super().has_ended()

    def start(self):
        """Starts on the remaining data; sometimes verifies it first, or after the first start, or
        cuts the power once more during the start."""
        server, rng = self.server, self.rng
        while rng.random() < TWICE:
            self.cut_a_start()
        first = rng.random() < 0.5
        if first:
            server.sound()
        began = time.monotonic()
        server.start()
        self.slowest = max(self.slowest, time.monotonic() - began)
        if not first and rng.random() < 0.5:
            server.leave()
            server.sound()
            server.start()

    def cut_a_start(self):
        server = self.server
        self.starts_cut += 1
        with open(server.home / f"log-cut-{self.starts_cut}", "wb") as log:
            command = server.command_line(server.home / f"ready-cut-{self.starts_cut}")
            process = spawn(command, log)
        time.sleep(self.rng.uniform(0.0, 0.4))
        code = process.poll()
        self.disk.cut()
        time.sleep(self.rng.choice([0.0, 0.05]))
        process.kill()
        process.wait(10)
        assert code is None, f"a start ended with {code}: {pathlib.Path(log.name).read_text()}"
        self.disk.renew()

    def compare(self):
        wrong = super().compare()
        for worker in [*self.movers, self.loader]:
            wrong += worker.check(self.server)
        return wrong

    def all_acks(self):
        return self.acks() + self.item_acks() + sum(it.acks for it in [*self.movers, self.loader])

    def refusals(self):
        return sum(it.refusals for it in [*self.writers, *self.item_writers, *self.movers])

    def trails(self):
        """Returns the last recorded steps of each worker."""
        workers = [*self.writers, *self.item_writers, *self.movers, self.loader]
        return "\n".join(
            f"{worker.name}:\n  " + "\n  ".join(getattr(worker, "trail", ())) for worker in workers
        )
