"""A disk that takes 50 ms for each sync, and one that stalls for two seconds: many writers share a
sync, and readers do not wait for them.

strace slows the syncs. It stops the server at these calls only, and test_control.py shows that
other calls take no longer.
"""

import threading
import time

import pytest
from bombs.probe import Probe, furnish
from lib.nosql import Client
from lib.server import Server
from lib.traced import Traced
from pymongo.errors import PyMongoError

#: Additional microseconds of each sync, number of writers, and seconds for which they write.
SLOW, WRITERS, SECONDS = 50_000, 64, 4.0
#: Minimum number of writes per sync: while one half of the writers waits for a sync, the other half
#: gathers for the next, so it is 32 minus the delays of a busy machine.
SHARED = 20
#: Every EVERYth sync takes two seconds longer.
STALL, EVERY = 2_000_000, 40
#: Maximum number of rounds of writes until one meets a stall.
ROUNDS = 8


class Writer:
    """A client of either API, in turn; it counts acknowledged writes until it is stopped."""

    def __init__(self, server, number, over):
        self.number, self.over = number, over
        self.acked, self.wrong, self.longest = [], [], 0.0
        self.documents = number % 2 == 0
        if self.documents:
            self.client = server.connect(retryWrites=False, maxPoolSize=1)
            self.rows = self.client["slow"]["rows"]
        else:
            self.client = Client(server.items.address, timeout=30)
            self.items = self.client.container("slow", "c")
        self.thread = threading.Thread(target=self.work, daemon=True)

    def work(self):
        try:
            while not self.over.is_set():
                id, began = f"{self.number}-{len(self.acked)}", time.monotonic()
                if self.documents:
                    self.rows.insert_one({"_id": id})
                else:
                    reply = self.items.create({"id": id, "pk": "a"})
                    assert reply.status == 201, reply
                self.acked.append(id)
                self.longest = max(self.longest, time.monotonic() - began)
        except (PyMongoError, OSError, AssertionError) as error:
            self.wrong.append(f"writer {self.number}: {error!r}")
        self.client.close()


def syncs(server):
    """Returns the number of syncs of the journal since the start."""
    text = server.trace().read_text(errors="replace")
    return sum(".journal>" in line for line in text.splitlines() if "fdatasync(" in line)


def write(server, writers, seconds, first=0):
    """Has this many clients write for this time, numbered from `first`; returns them."""
    over = threading.Event()
    found = [Writer(server, first + number, over) for number in range(writers)]
    for writer in found:
        writer.thread.start()
    time.sleep(seconds)
    over.set()
    for writer in found:
        writer.thread.join(30)
        assert not writer.thread.is_alive(), "a writer hangs"
    return found


def there(server):
    rows = {row["_id"] for row in server.client["slow"]["rows"].find({}, {"_id": 1})}
    items = server.items.container("slow", "c").rows("SELECT c.id FROM c", pk="a")
    return rows | {item["id"] for item in items}


@pytest.fixture
def control():
    """A server on a good disk, with the data that honest clients read."""
    with Server(nosql=True) as server:
        furnish(server)
        yield server


def begun(delays):
    """Returns a server whose syncs are delayed in this way."""
    server = Traced(["fdatasync"], f"fdatasync:{delays}", data_dir=True, nosql=True)
    server.start()
    furnish(server)
    assert server.items.create_database("slow").status == 201
    assert server.items.container("slow", "c").define().status == 201
    return server


def compared(server, writers):
    """Checks that everything that was acknowledged is present, also after SIGKILL."""
    acked = {id for writer in writers for id in writer.acked}
    assert [text for writer in writers for text in writer.wrong] == []
    assert acked <= there(server), "acknowledged, but not there"
    server.kill()
    server.sound()
    server.injected = None
    server.start()
    assert acked <= there(server), "acknowledged, and lost"
    server.end()
    return acked


def read_meanwhile(told, part, least):
    """Checks that reads did not wait for syncs: this statistic ("median" or "longest") is less than
    half of the minimum time of a sync in seconds, more than a busy machine delays."""
    for name in ("mongo", "nosql"):
        assert told[name]["problems"] == []
        assert told[name][part] < least / 2, f"point reads at {name}: {told}"


def test_slow_syncs(control, report):
    server = begun(f"delay_exit={SLOW}")
    try:
        with Probe(server, control) as probe:
            before = syncs(server)
            probe.told()
            writers = write(server, WRITERS, SECONDS)
            told, count = probe.told(), syncs(server) - before
        acked = compared(server, writers)
        each = len(acked) / count
        report(
            "F9",
            count,
            "syncs of 50 ms",
            acknowledged=len(acked),
            writes_a_sync=f"{each:.0f}",
            **{
                f"p99_of_reads_{name}": f"{told[name]['p99'] * 1000:.1f} ms"
                for name in ("mongo", "nosql", "control")
            },
        )
        assert SECONDS / 0.07 / 2 < count < SECONDS / 0.05 * 2, f"{count} syncs in {SECONDS} s"
        assert each >= SHARED, f"{each:.1f} writes share a sync"
        read_meanwhile(told, "median", SLOW / 1e6)
    finally:
        server.close()


def test_a_stall(control, report):
    """For two seconds nothing can be made durable: writers wait, readers do not, and no request is
    refused."""
    server = begun(f"delay_exit={STALL}:when={EVERY}+{EVERY}")
    try:
        with Probe(server, control) as probe:
            probe.told()
            writers, longest = [], 0.0
            for _ in range(ROUNDS):
                writers += write(server, 8, SECONDS, len(writers))
                longest = max(writer.longest for writer in writers)
                if longest >= STALL / 1e6:
                    break
            told = probe.told()
        acked = compared(server, writers)
        report(
            "F9",
            1,
            "stalls of 2 s",
            acknowledged=len(acked),
            longest_write=f"{longest:.1f} s",
            p99_of_reads=f"{told['mongo']['p99'] * 1000:.1f} ms",
        )
        assert longest >= STALL / 1e6, "no write met the stall"
        read_meanwhile(told, "longest", STALL / 1e6)
    finally:
        server.close()
