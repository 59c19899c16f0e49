"""The server's reports of slow operations and of the metrics of the last day, while collections are
created, filled, renamed and dropped, and the server is stopped, killed and started at the same
time: each report is complete and bounded, and so are the files."""

import http.client
import itertools
import json
import threading
import urllib.error

import pymongo.errors
import pytest
from lib.server import Server

#: Restarts, every other one a kill; and collections that are created and dropped before each.
RESTARTS, MORE_RESTARTS = 4, 40
COLLECTIONS, MORE_COLLECTIONS = 100, 500
CLIENTS = 3
#: Maximum number of slow operations that are kept.
MOST = 200


class Storm:
    """Clients that create and drop collections, and one that reads the reports."""

    def __init__(self, server):
        self.server, self.over, self.problems = server, threading.Event(), []
        self.gone, self.told = itertools.count(), 0
        self.enough = threading.Semaphore(0)
        works = [(self.come_and_go, at) for at in range(CLIENTS)] + [(self.ask,)]
        self.threads = [
            threading.Thread(target=self.guarded, args=work, daemon=True) for work in works
        ]
        for thread in self.threads:
            thread.start()

    def guarded(self, work, *more):
        """Repeats a function, also after connection errors."""
        away = (pymongo.errors.PyMongoError, urllib.error.URLError, http.client.HTTPException)
        while not self.over.is_set():
            try:
                work(*more)
            except (*away, ConnectionError, json.JSONDecodeError):
                continue
            except Exception as problem:
                self.problems.append(repr(problem))
                return

    def come_and_go(self, at):
        """Repeatedly creates a collection, fills, renames and drops it."""
        with self.server.connect(maxPoolSize=1, appname=f"client {at}") as client:
            while not self.over.is_set():
                n = next(self.gone)
                made = client.app[f"made-{n}"]
                made.insert_many([{"n": i, "secret": "planted"} for i in range(5)])
                assert made.count_documents({"secret": "planted"}) == 5
                made.rename(f"renamed-{n}")
                client.app.drop_collection(f"renamed-{n}")
                self.enough.release()

    def ask(self):
        judged(self.server)
        self.told += 1

    def end(self):
        self.over.set()
        for thread in self.threads:
            thread.join(120)
        assert not self.problems, self.problems
        assert not any(thread.is_alive() for thread in self.threads)


def judged(server):
    """Reads and checks both reports; returns the number of slow operations."""
    slow = server.admin("/_ebb/slow")["operations"]
    assert len(slow) <= MOST
    assert {it["client"] for it in slow} <= {"", *(f"client {at}" for at in range(CLIENTS))}
    assert not slow or slow[-1]["at"] <= slow[0]["at"]
    assert all(it["span_ms"] >= 0 for it in server.admin("/_ebb/figures")["samples"])
    return len(slow)


@pytest.fixture
def server():
    with Server(data_dir=True, flags=["--slow-ms", "0"]) as server:
        yield server
        server.end()


def test_what_is_told_stays_whole_and_bounded(server, torture):
    restarts, collections = (RESTARTS, COLLECTIONS)
    if torture:
        restarts, collections = (MORE_RESTARTS, MORE_COLLECTIONS)
    storm = Storm(server)
    for run in range(restarts):
        for _ in range(collections):
            assert storm.enough.acquire(timeout=60), storm.problems
        told = storm.told
        assert run == 0 or told > 0
        if run % 2 == 0:
            server.kill()
            server.start()
            continue
        server.restart()
        assert judged(server) == MOST, "what was told before an orderly end is told after it"
        for file in (server.data_dir / "figures").iterdir():
            written = file.read_text()
            assert "planted" not in written
            if file.name.startswith("slow-"):
                assert len(written.splitlines()) <= MOST
    storm.end()
