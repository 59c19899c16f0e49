"""A server with 512 MB receives writes while something reads one view for long: a backup, an
aggregation, `updateMany` of large documents, index builds. During this, writes are flushed to disk
as without the reader: memory stays within its limit, and no reader is aborted. WRITTEN is the
amount written beside each of them in megabytes (default 600; 4,000 with --torture).
"""

import os
import subprocess
import threading
import time

import pytest
from lib.seed import TORTURE
from lib.server import EBB_BIN, Server
from pymongo.errors import WriteError

MEMORY = 512 << 20
#: The limit: a fifth more than the setting.
MOST = MEMORY * 6 // 5
WRITTEN = int(os.environ.get("WRITTEN", 4_000 if TORTURE else 600))
#: Bytes of a document that is written during the read, and documents per insert.
SIZE, AT_ONCE = 500_000, 10
#: Documents that are read, and their size in bytes.
READ, LARGE = 150, 1_000_000
PATIENCE = 240
#: Error code of an operation that does not fit into memory now.
EXCEEDS_MEMORY = 365

#: For each document it takes far longer than the writers do.
FILTER = {"input": {"$range": [0, 200_000]}, "cond": {"$eq": ["$$this", 7]}}
SLOW = {"$expr": {"$gt": [{"$size": {"$filter": FILTER}}, 1]}}


@pytest.fixture(scope="module")
def server():
    with Server(data_dir=True, clock="system", flags=["--memory", str(MEMORY)]) as server:
        read = server.client["views"]["read"]
        for first in range(0, READ, AT_ONCE):
            read.insert_many(
                [{"_id": n, "n": 0, "s": os.urandom(LARGE)} for n in range(first, first + AT_ONCE)]
            )
        server.client["views"]["small"].insert_many([{"_id": n, "n": n} for n in range(2_000)])
        yield server
        server.end()


class Reader(threading.Thread):
    """Runs a function in a thread and keeps its result."""

    def __init__(self, work):
        super().__init__(daemon=True)
        self.work, self.done, self.problem = work, None, None
        self.stop = threading.Event()

    def run(self):
        try:
            self.done = self.work(self)
        except Exception as problem:
            self.problem = problem


def backup(server):
    def work(reader):
        """Reads a backup slowly until a signal, then the rest."""
        address = server.admin_url.removeprefix("http://").strip("/")
        command = [EBB_BIN, "backup", "-", "--admin-addr", address]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as taken:
            size = 0
            while part := taken.stdout.read1(1 << 18):
                size += len(part)
                reader.stop.wait(0.1)
            return taken.wait(PATIENCE), size

    return work


def aggregate(server):
    def work(_):
        return list(server.client["views"]["small"].aggregate([{"$match": SLOW}, {"$count": "n"}]))

    return work


def update_many(server):
    def work(_):
        return server.client["views"]["read"].update_many({}, {"$inc": {"n": 1}}).modified_count

    return work


def create_indexes(server):
    def work(_):
        for number in range(5):
            server.client["views"]["read"].create_index([("n", 1), (f"other{number}", 1)])
        return True

    return work


def write(server, megabytes):
    """Writes this much; returns the seconds that it took."""
    rows, began = server.client["views"]["written"], time.monotonic()
    for _ in range(0, megabytes * 1_000_000, SIZE * AT_ONCE):
        rows.insert_many([{"s": os.urandom(SIZE)} for _ in range(AT_ONCE)])
    return time.monotonic() - began


def check_memory(server, report, name, work):
    reader = Reader(work)
    reader.start()
    took = write(server, WRITTEN)
    held = server.metric("ebb_storage_held_memory_bytes")
    reader.stop.set()
    ended = not reader.is_alive()
    report("F17", WRITTEN, f"MB beside {name}", took=f"{took:.1f} s", ended_before=ended)
    most = server.most_rss()
    assert server.alive(), server.log.read_text(errors="replace")[-500:]
    assert most < MOST, f"{most >> 20} MiB were held beside {name}, {held} of them by views"
    return reader


def finish(server, reader):
    reader.join(PATIENCE)
    assert not reader.is_alive() and reader.problem is None, repr(reader.problem)
    server.client["views"]["written"].drop()
    assert server.most_rss() < MOST, f"{server.most_rss() >> 20} MiB were held"
    return reader.done


def test_a_backup_that_is_read_slowly(server, report):
    code, size = finish(server, check_memory(server, report, "a backup", backup(server)))
    assert code == 0
    assert size > READ * LARGE, f"{size} bytes"


def test_an_aggregation_of_one_view(server, report):
    reader = check_memory(server, report, "an aggregation", aggregate(server))
    oldest = server.metric("ebb_storage_oldest_view_seconds")
    assert not reader.is_alive() or oldest > 1, "the metric does not show the view"
    for running in server.client.admin.aggregate([{"$currentOp": {}}]):
        if running.get("command", {}).get("aggregate") == "small":
            server.client.admin.command("killOp", 1, op=running["opid"])
    reader.join(PATIENCE)
    assert not reader.is_alive()
    server.client["views"]["written"].drop()


def test_update_many_of_large_documents(server, report):
    assert finish(server, check_memory(server, report, "updateMany", update_many(server))) == READ
    # Also alone: each document is rewritten once more.
    for _ in range(3):
        alone = Reader(update_many(server))
        alone.start()
        assert finish(server, alone) == READ
    assert server.client["views"]["read"].count_documents({"n": 4}) == READ


def test_index_builds(server, report):
    assert finish(server, check_memory(server, report, "index builds", create_indexes(server)))
    assert server.client["views"]["read"].find({"n": 4}, {"_id": 1}).hint("n_1_other0_1").explain()


def test_what_keeps_too_much_of_the_disk_is_ended(report):
    flags = ["--memory", "256m", "--old-views-disk", "32m"]
    with Server(data_dir=True, clock="system", flags=flags) as server:
        rows = server.client["views"]["rows"]
        for first in range(0, READ, AT_ONCE):
            rows.insert_many(
                [{"_id": n, "s": os.urandom(SIZE)} for n in range(first, first + AT_ONCE)]
            )
        reader = Reader(slow_count(server))
        server.client["views"]["small"].insert_many([{"_id": n} for n in range(2_000)])
        reader.start()
        while not counts(server):
            time.sleep(0.01)
        # So that the backup has a view of its own: one that both share is ended, and counted, once.
        written_at_last(rows, 0)
        taken = Reader(backup(server))
        taken.start()
        deadline, rounds = time.monotonic() + PATIENCE, 0
        while server.metric("ebb_storage_ended_views_total") < 2 and time.monotonic() < deadline:
            for number in range(READ):
                written_at_last(rows, number)
            rounds += 1
        taken.stop.set()
        reader.join(PATIENCE)
        taken.join(PATIENCE)
        report("F17", rounds, "rounds until both were ended")
        assert getattr(reader.problem, "code", None) == 239, repr(reader.problem)
        assert "--old-views-disk" in str(reader.problem)
        code, _ = taken.done
        assert code != 0, "the backup is whole although its view was ended"
        assert rows.count_documents({}) == READ
        server.end()


def written_at_last(rows, number):
    """Updates a document; retries when the server has too little memory."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return rows.update_one({"_id": number}, {"$set": {"s": os.urandom(SIZE)}})
        except WriteError as error:
            assert error.code == EXCEEDS_MEMORY, error
            assert time.monotonic() < until, error
            time.sleep(0.05)


def counts(server):
    """Returns whether the slow count is running."""
    running = server.client.admin.aggregate([{"$currentOp": {}}])
    return any(it.get("command", {}).get("aggregate") == "small" for it in running)


def slow_count(server):
    def work(_):
        return server.client["views"]["small"].count_documents(SLOW)

    return work
