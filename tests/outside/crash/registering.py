"""Clients that read, insert, delete, and compare and swap single documents, and record the history
of their requests and replies."""

import contextlib
import random
import time

from lib.nosql import if_match
from lib.registers import UNKNOWN, Operation
from pymongo.errors import DuplicateKeyError

from crash.clients import OfDocuments, OfItems, Untiring

DATABASE = "registers"
KINDS = ["read", "read", "insert", "delete", "swap", "swap", "swap"]


class Registering(Untiring):
    """One client; it ends when its server does."""

    #: Keeps histories short.
    PAUSE = 0.003

    def __init__(self, server, name, seed, registers):
        self.registers, self.random = registers, random.Random(f"{seed} {name}")
        #: Operations by register, and the last value seen of each register.
        self.history, self.last, self.pending = [], {}, None
        self.values = 0
        self.begin(name, server)

    def step(self):
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
        """Records the pending write: it took effect before the server was dead, or never."""
        if self.pending and self.pending[1] != "read":
            self.keep(died, UNKNOWN)

    def ask(self, kind, id, value, old):
        """Sends an operation; returns its result in the form of a register's operation."""
        raise NotImplementedError


class DocumentRegistering(Registering, OfDocuments):
    """A client of the MongoDB API; it swaps by findAndModify."""

    def open(self, server):
        super().open(server)
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


class ItemRegistering(Registering, OfItems):
    """A client of the NoSQL API; it swaps by a replace on condition of the ETag."""

    def open(self, server):
        super().open(server)
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
