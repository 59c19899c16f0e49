"""Clients that read, insert, remove, and compare and swap single documents, and keep the history of
what they asked and were answered."""

import contextlib
import http.client
import random
import threading
import time

from lib import ending
from lib.nosql import Client, if_match
from lib.registers import UNKNOWN, Operation
from pymongo.errors import DuplicateKeyError, PyMongoError

DATABASE = "registers"
KINDS = ["read", "read", "insert", "delete", "swap", "swap", "swap"]
#: Seconds between two requests of a client: a history is to stay short.
PAUSE = 0.003


class Registering:
    """One client, which ends when its server does."""

    def __init__(self, server, name, seed, registers):
        self.name, self.registers = name, registers
        self.random = random.Random(f"{seed} {name}")
        #: Operations by register, and of each the value that was seen last.
        self.history, self.last, self.pending = [], {}, None
        self.values, self.wrong = 0, []
        self.open(server)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            while True:
                self.one()
                time.sleep(PAUSE)
        except Exception as error:
            if not self.is_end(error):
                self.wrong.append(f"{self.name}: {error!r}")
        self.close()

    def one(self):
        id, kind = self.random.choice(self.registers), self.random.choice(KINDS)
        old = self.last.get(id)
        if kind == "swap" and old is None:
            kind = "read"
        self.values += 1
        value = f"{self.name}-{self.values}"
        self.pending = id, kind, time.monotonic(), value, old
        answer = self.ask(kind, id, value, old)
        self.keep(time.monotonic(), answer)
        if kind == "read":
            self.last[id] = answer

    def keep(self, end, answer):
        id, kind, begin, value, old = self.pending
        self.history.append((id, Operation(kind, begin, end, answer, value, old)))
        self.pending = None

    def ended(self, died):
        """Its server had died at this moment: what has no answer was done before or never."""
        if self.pending and self.pending[1] != "read":
            self.keep(died, UNKNOWN)

    def open(self, server):
        raise NotImplementedError

    def ask(self, kind, id, value, old):
        """The answer, as an operation of a register has it."""
        raise NotImplementedError

    def is_end(self, error):
        raise NotImplementedError

    def close(self):
        self.client.close()


class DocumentRegistering(Registering):
    """At the MongoDB API; it swaps by findAndModify."""

    def open(self, server):
        self.client = server.connect(
            retryWrites=False, retryReads=False, maxPoolSize=1, serverSelectionTimeoutMS=2_000
        )
        self.collection = self.client[DATABASE]["r"]

    def ask(self, kind, id, value, old):
        if kind == "read":
            found = self.collection.find_one({"_id": id})
            return found and found["v"]
        if kind == "delete":
            return self.collection.delete_one({"_id": id}).deleted_count == 1
        if kind == "insert":
            with contextlib.suppress(DuplicateKeyError):
                self.collection.insert_one({"_id": id, "v": value})
                return True
            return False
        among = {"_id": id, "v": old}
        return self.collection.find_one_and_update(among, {"$set": {"v": value}}) is not None

    def is_end(self, error):
        return isinstance(error, PyMongoError) and ending.is_end(error)


class ItemRegistering(Registering):
    """At the NoSQL API; it swaps by replacing the item of an ETag, which belongs to one value."""

    def open(self, server):
        self.client = Client(server.items.address, timeout=20)
        self.items = self.client.container(DATABASE, "r")
        self.etags = {}

    def ask(self, kind, id, value, old):
        body = {"id": id, "pk": "a", "v": value}
        if kind == "read":
            reply = self.expect(self.items.read(id, "a"), 200, 404)
            if reply.status == 404:
                return None
            found = reply.json["v"]
            self.etags[found] = reply.etag
            return found
        if kind == "delete":
            return self.expect(self.items.delete(id, "a"), 204, 404).status == 204
        if kind == "insert":
            return self.expect(self.items.create(body), 201, 409).status == 201
        condition = if_match(self.etags[old])
        return self.expect(self.items.replace(body, condition), 200, 404, 412).status == 200

    @staticmethod
    def expect(reply, *statuses):
        if reply.status in (500, 503) and ending.tells_end(str(reply)):
            raise ConnectionError("the server ends")
        assert reply.status in statuses, f"{reply}, expected {statuses}"
        return reply

    def is_end(self, error):
        return isinstance(error, (ConnectionError, http.client.HTTPException, TimeoutError))
