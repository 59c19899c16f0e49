"""The storm of bounds: many clients exceed every bound of what the server keeps for clients and
collections, while other clients create, fill, rename, change and drop everything that has a name,
with little memory. A round ends by SIGKILL, by SIGTERM, or when all clients have left. Then every
acknowledged write can be read, nothing expired is visible, no bound was passed, and after the
clients have left, the server holds nothing for them. ROUNDS is the number of rounds (default 3; 30
with --torture), SEED seeds them.
"""

import os
import random
import threading
import time
import traceback

from lib.seed import SEED, TORTURE
from lib.server import Server

from storm import bounds, bounds_of_data, bounds_of_time
from storm.check import compare
from storm.client import Ended, Refused
from storm.documents import Documents
from storm.items import Items
from storm.shared import Shared

ROUNDS = int(os.environ.get("ROUNDS", 30 if TORTURE else 3))
#: The value of --memory, and the factor by which resident memory may exceed it.
MEMORY, BEYOND = 256 << 20, 1.2
#: Part of the memory of operations that pages kept for their queries may hold.
KEPT_PAGES = 16
#: Milliseconds by which the clock moves in all rounds: less than any setting of the clients that
#: create and drop.
MOVED = 2_400_000
#: Seconds after which a storm hangs.
PATIENCE = 600
PARTS = (
    bounds.Statistics,
    bounds.Log,
    bounds.Cursors,
    bounds.Views,
    bounds.Pages,
    bounds_of_data.Keys,
    bounds_of_data.Large,
    bounds_of_time.Feeds,
    bounds_of_time.Lives,
)
FLAGS = [
    *("--memory", str(MEMORY)),
    *("--slow-ms", "0"),
    *("--max-cursors", str(bounds.CURSORS)),
    *("--old-views-disk", str(bounds.Views.BYTES)),
]
#: Metrics that are 0 when no client does anything.
REST = (
    "ebb_mongo_cursors",
    "ebb_temporary_bytes",
    "ebb_storage_oldest_view_seconds",
    "ebb_storage_oldest_view_kept_bytes",
    "ebb_storage_held_memory_bytes",
    "ebb_store_refusing",
)


class Scarce:
    """A client that creates and drops stops when memory is refused, or its view was ended: whether
    all parts of its request were done is unknown."""

    def ask(self, *request):
        # Leaves processors to the clients that exceed bounds.
        time.sleep(0.02)
        try:
            return super().ask(*request)
        except Refused as refused:
            if refused.code in (bounds.NO_MEMORY, bounds.VIEW_ENDED):
                raise Ended from refused
            raise


class ScarceDocuments(Scarce, Documents):
    """One of the MongoDB API."""


class ScarceItems(Scarce, Items):
    """One of the NoSQL API."""


class Storm:
    """A server, the clients that exceed bounds, and the clients that create and drop."""

    def __init__(self, server):
        self.server, self.rng, self.shared = server, random.Random(SEED), Shared()
        self.over, self.wrong, self.leaves = threading.Event(), [], False
        self.clock = server.now_ms()
        self.latest = self.clock
        kinds = [ScarceDocuments] * 2 + [ScarceItems] * 2
        self.clients = [
            kind(number, SEED, self.shared, server) for number, kind in enumerate(kinds)
        ]
        assert server.items.create_database(bounds.DATABASE).status == 201
        self.parts = [part(self) for part in PARTS]
        for part in self.parts:
            part.fill()

    def guarded(self, part, number, seed):
        try:
            part.work(number, random.Random(seed))
        except Ended:
            if not self.is_ending:
                self.wrong.append(f"a client of {type(part).__name__} was disconnected")
        except Exception:
            text = traceback.format_exc(limit=-3)
            self.wrong.append(f"{type(part).__name__}, client {number}: {text}")

    def round(self, number, end):
        """Works until every bound was exceeded, then ends in this way."""
        self.over.clear()
        self.leaves, self.is_ending = end == "leave", False
        self.latest += MOVED // ROUNDS
        before = {name: self.server.metric(name) for name in ("ebb_mongo_connections",)}
        threads = []
        for part in self.parts:
            part.exceeded.clear()
            part.begin()
            for client in range(part.CLIENTS):
                seed = f"{SEED} {number} {type(part).__name__} {client}"
                threads.append(
                    threading.Thread(target=self.guarded, args=(part, client, seed), daemon=True)
                )
        gate = threading.Barrier(len(self.clients))
        for client in self.clients:
            client.begin(gate, f"new{number}")
        for thread in threads:
            thread.start()
        self.wait(threads)
        self.is_ending = True
        self.end(end)
        self.wrong += self.bounded() if end == "leave" else []
        for thread in threads:
            thread.join(PATIENCE)
            assert not thread.is_alive(), "a client hangs after its server ended"
        until = time.monotonic() + PATIENCE
        while not all(client.ended for client in self.clients):
            assert time.monotonic() < until, "a client hangs"
            time.sleep(0.005)
        if end == "leave":
            self.rest(before)

    def wait(self, threads):
        """Waits until every bound was exceeded, or a client has observed an error."""
        until = time.monotonic() + PATIENCE
        while not all(part.exceeded.is_set() for part in self.parts) and not self.wrong:
            left = [type(part).__name__ for part in self.parts if not part.exceeded.is_set()]
            assert time.monotonic() < until, f"not exceeded: {left}"
            time.sleep(0.01)
        self.wrong += self.bounded()

    def bounded(self):
        """Returns the errors in the memory that the server holds."""
        most = self.server.most_rss()
        wrong = [] if most <= MEMORY * BEYOND else [f"{most >> 20} MB were resident"]
        names = ("ebb_memory_operations_peak_bytes", "ebb_memory_operations_limit_bytes")
        peak, limit = (self.server.metric(name) for name in names)
        return wrong if peak <= MEMORY // 2 else [*wrong, f"operations held {peak} of {limit}"]

    def end(self, end):
        if end == "kill":
            self.server.kill()
        elif end == "stop":
            self.server.process.terminate()
            code = self.server.process.wait(PATIENCE)
            if code:
                self.wrong.append(f"exit {code} on SIGTERM")
        self.over.set()
        for client in self.clients:
            client.stopping = True

    def rest(self, before):
        """Waits until the server holds nothing for clients that have left."""
        until = time.monotonic() + PATIENCE
        while odd := self.unrest(before):
            assert time.monotonic() < until, f"the server is not at rest: {odd}"
            time.sleep(0.1)

    def unrest(self, before):
        figures = {name: self.server.metric(name) for name in REST}
        odd = {name: value for name, value in figures.items() if value}
        for name, value in before.items():
            if self.server.metric(name) > value:
                odd[name] = self.server.metric(name)
        held = self.server.metric("ebb_memory_operations_bytes")
        if held > MEMORY // 2 // KEPT_PAGES + (256 << 10):
            odd["ebb_memory_operations_bytes"] = held
        return odd

    def check(self):
        """Returns the errors in the closed directory and after a new start."""
        verified = self.server.verify()
        self.server.start()
        names = [bounds.DATABASE, *(name for part in self.parts for name in part.databases())]
        wrong = compare(self.server, self.clients, self.shared, names)
        for part in self.parts:
            wrong += [f"{type(part).__name__}: {text}" for text in part.check()]
        if verified.returncode:
            wrong.append(f"verify: {verified.stdout[-500:]}{verified.stderr[-500:]}")
        return wrong


def test_every_bound_holds_in_a_storm():
    with Server(data_dir=True, nosql=True, flags=FLAGS, log_level="info") as server:
        storm = Storm(server)
        ends = [["leave", "kill", "stop"][number % 3] for number in range(ROUNDS)]
        storm.rng.shuffle(ends)
        for number, end in enumerate(ends):
            storm.round(number, end)
            if end == "leave":
                server.leave()
            wrong = storm.wrong or storm.check()
            told = f"SEED={SEED}, round {number} ({end}), {len(wrong)} things:\n"
            assert not wrong, told + "\n".join(wrong[:12])
        feeds = next(part for part in storm.parts if isinstance(part, bounds_of_time.Feeds))
        wrong = feeds.outlive()
        assert not wrong, f"SEED={SEED}: {wrong[:5]}"
        server.end()
