"""The process is stopped (SIGSTOP) for seconds, up to a minute with --torture, while clients read
and documents expire: no reply to a request sent after a deadline contains the document, even if it
was sent while the process was stopped; when it resumes, it is ready at once and everything expires
on time."""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from lib.prefetch import prefetched
from lib.seed import TORTURE

from clock.walled import Walled

pytestmark = pytest.mark.real_clock

#: Duration of each stop in seconds.
STOPS = [1, 2.5, 6] + ([20, 60] if TORTURE else [])
#: Seconds by which database time may be behind the wall clock.
BEHIND = 0.2
READERS = 4


class Reading:
    """Clients that read continuously, and their results: (sent at, ids)."""

    def __init__(self, walled):
        self.walled, self.over, self.seen = walled, threading.Event(), []
        self.pool = ThreadPoolExecutor(2 * READERS)
        self.readers = [
            self.pool.submit(self.read, look)
            for look in (self.documents, self.items)
            for _ in range(READERS)
        ]

    def documents(self):
        collection = self.walled.server.connect().db.c
        return lambda: {row["_id"] for row in collection.find()}

    def items(self):
        container = self.walled.items.through(self.walled.server.items.again())
        return lambda: set(container.rows("SELECT VALUE c.id FROM c"))

    def read(self, look):
        ask = look()
        while not self.over.is_set():
            sent = time.time()
            self.seen.append((sent, ask()))
            time.sleep(0.01)

    def end(self):
        self.over.set()
        for reader in self.readers:
            reader.result()
        self.pool.shutdown()


def stop(home, seconds):
    """Stops a server for this time, and checks its clients' results."""
    with Walled(home) as walled:
        walled.fill({"ever": None})
        collection, container = walled.server.client.db.c, walled.items
        deadlines = {}
        reading = Reading(walled)
        # They expire before, while and after the process is stopped.
        for life in range(1, round(seconds) + 4):
            id = f"life {life}"
            collection.insert_one({"_id": id, "ttl": life})
            made = container.create({"id": id, "pk": "a", "ttl": life})
            # The document was written before the item, so it expires no later.
            deadlines[id] = made.json["_ts"] + life
        time.sleep(0.5)
        walled.server.process.send_signal(signal.SIGSTOP)
        stopped = time.time()
        time.sleep(seconds)
        walled.server.process.send_signal(signal.SIGCONT)
        assert walled.comes(lambda: walled.server.ready()[0] == 200, 3.0), walled.server.ready()
        last = max(deadlines.values())
        while time.time() < last + 0.7:
            assert walled.server.ready() == (200, "ok\n")
            time.sleep(0.05)
        reading.end()
        late = [
            (id, sent - deadlines[id])
            for sent, ids in reading.seen
            for id in ids & deadlines.keys()
            if deadlines[id] + BEHIND <= sent
        ]
        assert late == []
        # Each was seen live, unless the process was stopped for its whole life.
        seen = set().union(*(ids for _, ids in reading.seen))
        later = stopped + seconds + 1
        assert seen >= {id for id, deadline in deadlines.items() if later < deadline}
        during = [sent for sent, _ in reading.seen if stopped <= sent < stopped + seconds]
        assert during, "nobody asked while it stood"
        assert reading.seen[-1][1] >= {"ever 0"} and walled.shows({"ever"})
        walled.server.end()


@pytest.fixture(scope="module")
def stopped(request, tmp_path_factory):
    run = lambda seconds: stop(tmp_path_factory.mktemp("stop"), seconds)  # noqa: E731
    with prefetched(request, run, "seconds") as result:
        yield result


@pytest.mark.parametrize("seconds", STOPS)
def test_a_stop_shows_nothing_that_has_expired(stopped, seconds):
    stopped(seconds)
