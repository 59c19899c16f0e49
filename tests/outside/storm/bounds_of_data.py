"""Clients that exceed the bounds of stored and written data: client encryption keys, memory for
writes of large documents. Each records the acknowledged writes."""

import hashlib
import os
import threading
import time

from bson.raw_bson import RawBSONDocument
from lib import nosql

from storm.bounds import CHANGED, DATABASE, Part, ask, call
from storm.client import Ended, Refused

#: The database with the newest client keys; a number follows.
KEYS = "bounds-keys"


class Keys(Part):
    """More client encryption keys than a database may have, created by several clients at once."""

    CLIENTS = 3
    #: Keys of a database, attempts to create one, and completed databases that exceed the bound.
    MOST, ATTEMPTS, DATABASES = 20, 27, 3

    def fill(self):
        self.lock, self.attempts = threading.Lock(), 0
        #: By number of the database.
        self.databases_held = {}

    def begin(self):
        with self.lock:
            # Clients of an earlier run may have left a database half filled.
            self.attempts += -self.attempts % self.ATTEMPTS
        self.full = 0

    def work(self, number, random):
        client = self.items()
        while self.goes_on():
            with self.lock:
                at, key = divmod(self.attempts, self.ATTEMPTS)
                self.attempts += 1
                held = self.databases_held.setdefault(
                    at, {"keys": {}, "unknown": {}, "refused": 0, "dropped": ""}
                )
            try:
                self.create(client, at, f"k{key}", held)
                if random.random() < 0.3:
                    self.wrap_again(client, at, held, random)
                if len(held["keys"]) + held["refused"] == self.ATTEMPTS:
                    self.complete(client, at, held)
            except Refused:
                # Other than the attempt itself, which is repeated.
                continue
        client.close()

    @staticmethod
    def body(key):
        metadata = {"type": "custom", "name": "n", "value": "v", "algorithm": "RSA-OAEP"}
        return {
            "id": key,
            "encryptionAlgorithm": "AEAD_AES_256_CBC_HMAC_SHA256",
            "wrappedDataEncryptionKey": os.urandom(24).hex(),
            "keyWrapMetadata": metadata,
        }

    def create(self, client, at, key, held):
        body, path = self.body(key), f"dbs/{KEYS}{at}/clientencryptionkeys"
        held["unknown"][key] = [body["wrappedDataEncryptionKey"]]
        while True:
            try:
                reply = call(client, "POST", path, body, allowed=(403, 404))
                if reply.status != 404:
                    break
                call(client, "POST", "dbs", {"id": f"{KEYS}{at}"}, allowed=(409,))
            except Refused:
                time.sleep(0.01)
        with self.lock:
            values = held["unknown"].pop(key)
            if reply.status == 201:
                held["keys"][key] = values
            else:
                assert len(held["keys"]) + len(held["unknown"]) >= self.MOST, "refused too early"
                held["refused"] += 1

    def wrap_again(self, client, at, held, random):
        """Replaces a key by the same key encrypted differently."""
        with self.lock:
            if not held["keys"]:
                return
            key = random.choice(sorted(held["keys"]))
            body = self.body(key)
            held["keys"][key].append(body["wrappedDataEncryptionKey"])
        # Others may have dropped the database.
        call(client, "PUT", f"dbs/{KEYS}{at}/clientencryptionkeys/{key}", body, allowed=(404,))

    def complete(self, client, at, held):
        """Called when every attempt was answered. Every other database is deleted."""
        with self.lock:
            if held["dropped"]:
                return
            assert len(held["keys"]) == self.MOST, f"{len(held['keys'])} keys were created"
            self.full += 1
            if self.full >= self.DATABASES:
                self.exceeded.set()
            held["dropped"] = "asked" if at % 4 else "kept"
        key = min(held["keys"])
        path = f"dbs/{KEYS}{at}/clientencryptionkeys/{key}"
        assert call(client, "DELETE", path, allowed=(405,)).status == 405
        if held["dropped"] == "asked":
            call(client, "DELETE", f"dbs/{KEYS}{at}", allowed=(404,))
            held["dropped"] = "done"

    def check(self):
        wrong = []
        for at, held in self.databases_held.items():
            path = f"dbs/{KEYS}{at}/clientencryptionkeys"
            reply = self.server.items.call("GET", path)
            if reply.status == 404:
                if held["dropped"] not in ("asked", "done") and held["keys"]:
                    wrong.append(f"{KEYS}{at} is lost")
                held["keys"], held["unknown"] = {}, {}
                continue
            if held["dropped"] == "done":
                wrong.append(f"{KEYS}{at} was dropped and still exists")
            found = {
                it["id"]: it["wrappedDataEncryptionKey"]
                for it in reply.json["ClientEncryptionKeys"]
            }
            legal = {**held["keys"], **held["unknown"]}
            lost = held["keys"].keys() - found.keys() if held["dropped"] != "asked" else set()
            odd = {key for key, value in found.items() if value not in legal.get(key, [])}
            if lost or odd or len(found) > self.MOST:
                wrong.append(f"{KEYS}{at}: {len(found)} keys, lost {lost}, odd {odd}")
            held["keys"], held["unknown"] = {key: [value] for key, value in found.items()}, {}
            if at + 4 * self.DATABASES < len(self.databases_held):
                assert self.server.items.call("DELETE", f"dbs/{KEYS}{at}").status == 204
                held["dropped"] = "done"
        return wrong

    def databases(self):
        return [f"{KEYS}{at}" for at in self.databases_held]


class Large(Part):
    """Writers of documents above 1 MiB, which wait in order for memory: together they need several
    times the available memory. At the same time the collection is renamed back and forth, and
    another one with such documents is created and dropped."""

    CLIENTS = 7
    PAUSE = 2.0
    SIZES = (*[2_200_000] * 3, 5_000_000)
    NAMES = ("large", "larger")
    #: Acknowledged increments that count as exceeding: several rounds of all writers.
    WRITES = 16
    #: Increments between two renames: an increment starts again when the name changes.
    WRITES_OF_A_NAME = 4

    def fill(self):
        self.digests = {}
        for id, size in enumerate(self.SIZES):
            text = os.urandom(size)
            self.digests[id] = hashlib.sha256(text).digest()
            self.rows[self.NAMES[0]].insert_one({"_id": id, "n": 0, "m": -id, "text": text})
        #: Increments that were acknowledged, and those without a reply, by document.
        self.done, self.unknown = dict.fromkeys(self.digests, 0), dict.fromkeys(self.digests, 0)
        container = self.server.items.container(DATABASE, "large")
        assert container.define().status == 201
        item = {"id": "a", "pk": "a", "n": 0, "text": os.urandom(600_000).hex()}
        assert container.create(item).status == 201
        self.patched, self.patched_unknown = 0, 0

    def begin(self):
        self.writes = 0

    def work(self, number, random):
        tasks = {0: self.carry_and_pass_by, 1: self.patch}
        step = tasks.get(number, self.increase)
        # Documents are not decoded, as that would take longer than the server does.
        with self.connect(document_class=RawBSONDocument) as client:
            items = self.items()
            while self.goes_on():
                try:
                    step(client[DATABASE], items, random)
                except Refused:
                    time.sleep(0.01)
            items.close()

    def carry_and_pass_by(self, rows, _, random):
        """Renames the collection to its other name. Creates another one with a large document that
        is written in it, and drops it."""
        before = self.writes
        passing = rows["passing"]
        row = {"_id": 0, "n": 0, "text": os.urandom(1_500_000)}
        ask(lambda: passing.insert_one(row), 11000)
        found = ask(lambda: passing.update_one({"_id": 0}, {"$inc": {"n": 1}}), *CHANGED)
        assert found.matched_count == 1
        if random.random() < 0.5:
            ask(passing.drop, *CHANGED)
        while self.writes < before + self.WRITES_OF_A_NAME and self.goes_on():
            time.sleep(0.01)
        source = next(name for name in self.NAMES if name in ask(rows.list_collection_names))
        target = self.NAMES[1 - self.NAMES.index(source)]
        ask(lambda: rows[source].rename(target), *CHANGED)

    def patch(self, _, items, random):
        """Increments a property of a large item."""
        body = {"operations": [{"op": "incr", "path": "/n", "value": 1}]}
        headers = {"content-type": "application/json-patch+json", **nosql.of_partition("a")}
        self.patched_unknown += 1
        try:
            call(items, "PATCH", f"dbs/{DATABASE}/colls/large/docs/a", body, headers)
            self.patched += 1
        except Ended:
            raise
        except Refused:
            pass
        self.patched_unknown -= 1

    def increase(self, rows, _, random):
        """Increments one document, the first in an order, or all."""
        kind, id = random.choice(["one", "one", "first", "all"]), random.randrange(len(self.SIZES))
        large, change = rows[random.choice(self.NAMES)], {"$inc": {"n": 1}}
        ids = sorted(self.digests) if kind == "all" else [id]
        if kind == "first":
            ids = [len(self.SIZES) - 1]
        self.count(self.unknown, ids, 1)
        try:
            if kind == "one":
                done = ask(lambda: large.update_one({"_id": id}, change), *CHANGED)
                done = done.matched_count
            elif kind == "first":
                found = ask(
                    lambda: large.find_one_and_update(
                        {}, change, sort=[("m", 1)], projection={"_id": 1}
                    ),
                    *CHANGED,
                )
                done = int(found is not None)
            else:
                done = ask(lambda: large.update_many({}, change), *CHANGED).matched_count
        except Refused:
            # Of many documents the first may have been written.
            if kind != "all":
                self.count(self.unknown, ids, -1)
            raise
        if done == len(ids):
            self.count(self.done, ids, 1)
        if done in (0, len(ids)):
            self.count(self.unknown, ids, -1)
        with self.lock:
            self.writes += done
            if self.writes >= self.WRITES:
                self.exceeded.set()

    def count(self, counts, ids, more):
        with self.lock:
            for id in ids:
                counts[id] += more

    def check(self):
        wrong, found = [], {}
        present = [name for name in self.NAMES if name in self.rows.list_collection_names()]
        for name in present:
            for id in self.digests:
                row = self.rows[name].find_one({"_id": id})
                if row:
                    found.setdefault(id, []).append(row)
        for id, digest in self.digests.items():
            rows, least = found.get(id, []), self.done[id]
            if len(rows) != 1 or hashlib.sha256(rows[0]["text"]).digest() != digest:
                wrong.append(f"{len(rows)} large documents {id} in {present}, or another text")
            elif not least <= rows[0]["n"] <= least + self.unknown[id]:
                wrong.append(f"{rows[0]['n']} of {least} increments, {self.unknown[id]} unknown")
            else:
                self.done[id], self.unknown[id] = rows[0]["n"], 0
        [n] = self.server.items.container(DATABASE, "large").rows("SELECT VALUE c.n FROM c")
        if not self.patched <= n <= self.patched + self.patched_unknown:
            wrong.append(f"{n} of {self.patched} patches, {self.patched_unknown} unknown")
        self.patched, self.patched_unknown = n, 0
        return wrong
