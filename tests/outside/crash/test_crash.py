"""kill -9 under load: every acknowledged write is there afterwards, nothing is there by half, and
`ebb verify` finds no difference. `--torture` runs 300 rounds."""

import os
import random
import threading
import time

import pymongo
import pytest
from pymongo.errors import PyMongoError

from lib.server import Server
from crash.ledger import Ledger

ROUNDS = int(os.environ.get("ROUNDS", "300" if os.environ.get("TORTURE") == "1" else "12"))
SEED = int(os.environ.get("SEED", random.randrange(1 << 30)))
WRITERS = 8
KEYS = 40


class Writer(threading.Thread):
    """Writes its own keys until the server is gone."""

    def __init__(self, server, ledger, number, seed):
        super().__init__(daemon=True)
        self.ledger, self.number = ledger, number
        self.random = random.Random(seed)
        self.client = server.connect(serverSelectionTimeoutMS=200, retryWrites=False)
        self.count = 0

    def run(self):
        database = self.client.get_database("torture")
        try:
            while True:
                self.step(database)
        except PyMongoError:
            pass
        finally:
            self.client.close()

    def step(self, database):
        self.count += 1
        key = f"{self.number}-{self.random.randrange(KEYS)}"
        value = f"{self.number}:{time.monotonic_ns()}:{self.count}"
        held = self.ledger.sure.get(key)
        chance = self.random.random()
        coll = database.docs
        if held is None:
            self.write(key, value, lambda: coll.insert_one(self.document(key, value)))
        elif chance < 0.15:
            self.write(key, None, lambda: coll.delete_one({"_id": key}))
        elif chance < 0.6:
            change = {"$set": {"value": value, "unique": value}}
            self.write(key, value, lambda: coll.update_one({"_id": key}, change))
        else:
            replacement = self.document(key, value)
            self.write(key, value, lambda: coll.find_one_and_replace({"_id": key}, replacement))
        if chance < 0.05:
            many = [{"_id": f"m-{value}-{n}", "ttl": 2} for n in range(20)]
            database.many.insert_many(many, ordered=False)
        database.counters.find_one_and_update(
            {"_id": self.number}, {"$inc": {"n": 1}}, upsert=True
        )
        self.ledger.acknowledge(f"counter-{self.number}", self.count)

    def document(self, key, value):
        return {"_id": key, "value": value, "unique": value, "tags": [value, key]}

    def write(self, key, value, act):
        self.ledger.intend(key, value)
        act()
        self.ledger.acknowledge(key, value)


def prepare(server):
    database = server.client.torture
    database.docs.create_index("unique", unique=True)
    database.docs.create_index([("tags", 1), ("value", -1)])
    database.many.create_index("_ts", expireAfterSeconds=3)


def found(server):
    database = server.client.torture
    documents = {doc["_id"]: doc for doc in database.docs.find()}
    for key, doc in documents.items():
        assert doc["value"] == doc["unique"], doc
        assert database.docs.find_one({"unique": doc["value"]}, hint="unique_1")["_id"] == key
        by_tag = {"tags": doc["tags"][0], "value": doc["value"]}
        assert database.docs.count_documents(by_tag, hint="tags_1_value_-1") == 1
    assert database.docs.estimated_document_count() == len(documents)
    return {key: doc["value"] for key, doc in documents.items()}


def test_nothing_acknowledged_is_lost():
    chance = random.Random(SEED)
    ledger = Ledger()
    server = Server(data_dir=True, clock="system", flags=["--reap-delay", "0"])
    acknowledged = 0
    with server:
        prepare(server)
        for round_number in range(ROUNDS):
            context = f"seed {SEED} round {round_number}"
            writers = [Writer(server, ledger, n, chance.random()) for n in range(WRITERS)]
            before = {n: counter(server, n) for n in range(WRITERS)}
            for writer in writers:
                writer.start()
            time.sleep(chance.uniform(0.1, 1.0))
            server.kill()
            for writer in writers:
                writer.join(30)
            verified = server.verify()
            assert verified.returncode == 0, context + verified.stdout + verified.stderr
            server.start()
            counters = {
                n: ledger.sure.pop(f"counter-{n}", 0) for n in range(WRITERS)
            }
            for n, sure in counters.items():
                assert before[n] + sure <= counter(server, n), f"{context}: a counter lost"
            problems = ledger.settle(found(server))
            assert problems == [], f"{context}: {problems[:5]}"
            acknowledged += sum(writer.count for writer in writers)
    assert ROUNDS * 10 < acknowledged, "hardly anything was written"
    print(f"{ROUNDS} rounds, {acknowledged} acknowledged operations, 0 lost")


def counter(server, number):
    doc = server.client.torture.counters.find_one({"_id": number})
    return doc["n"] if doc else 0


def test_a_polite_end_under_load_is_clean():
    with Server(data_dir=True, clock="system") as server:
        ledger = Ledger()
        prepare(server)
        writers = [Writer(server, ledger, n, n) for n in range(4)]
        for writer in writers:
            writer.start()
        time.sleep(0.3)
        assert server.stop(within=10) == 0
        for writer in writers:
            writer.join(30)
        assert server.verify().returncode == 0


@pytest.mark.parametrize("clock", ["system", "manual"])
def test_a_directory_that_is_in_use_is_refused(clock):
    with Server(data_dir=True, clock=clock) as server:
        second = Server(data_dir=server.data_dir, clock=clock)
        began = time.monotonic()
        with pytest.raises(AssertionError, match=r"exit 3.*in use"):
            second.start()
        assert time.monotonic() - began < 5
        assert server.client.admin.command("ping")["ok"] == 1


def test_foreign_newer_damaged_and_other_clock_directories_are_refused():
    with Server(data_dir=True) as server:
        server.client.test.c.insert_many([{"_id": n, "x": "y" * 500} for n in range(500)])
        assert server.stop() == 0
        other = Server(data_dir=server.data_dir, clock="system")
        with pytest.raises(AssertionError, match=r"exit 3.*clock"):
            other.start()
        mark = server.data_dir / "EBB"
        text = mark.read_text()
        mark.write_text(text.replace("format 1", "format 9"))
        with pytest.raises(AssertionError, match=r"exit 3.*another version"):
            server.start()
        mark.write_text("something else")
        with pytest.raises(AssertionError, match=r"exit 3.*not a data directory"):
            server.start()
        mark.write_text(text)
        server.start()
        assert server.client.test.c.count_documents({}) == 500
    foreign = Server(data_dir=True)
    foreign.data_dir.mkdir()
    (foreign.data_dir / "thesis.txt").write_text("x")
    with pytest.raises(AssertionError, match=r"exit 3.*something else"):
        foreign.start()
    foreign.close()


def test_the_same_instant_shows_after_a_restart():
    with Server(data_dir=True) as server:
        server.advance(1234)
        before = server.now_ms()
        server.kill()
        server.start()
        assert server.now_ms() == before
        with pytest.raises(pymongo.errors.OperationFailure):
            server.move_to(before - 1)
