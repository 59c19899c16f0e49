"""Histories of single documents, through all nodes while owners are killed, paused, cut off and
handed over, are linearizable: each operation took effect once, at some moment between request and
reply, and every reply reflects that moment. OPERATIONS is the minimum number of operations.
"""

import contextlib
import os
import random
import threading
import time

import pymongo
from lib.cluster import Cluster, Node
from lib.ending import is_end
from lib.island import IslandNode
from lib.registers import FOREVER, UNKNOWN, Operation, wrong
from lib.seed import SEED, TORTURE
from pymongo.errors import DuplicateKeyError, PyMongoError

from cluster.faults import FAULTS

OPERATIONS = int(os.environ.get("OPERATIONS", 100_000 if TORTURE else 1_500))
#: Number of registers in use at a time, and seconds after which other registers are used, which
#: keeps histories short.
REGISTERS, SECONDS = 8, 2.0
CLIENTS = 5
STRUCK = [
    "kill -9 of the owner",
    "owner cut from Cassandra",
    "hand-over",
    "SIGSTOP of the owner",
    "owner does not hear Cassandra",
]


class Client:
    """One thread that works through one node. A request without a reply is recorded as such."""

    def __init__(self, number, cluster):
        self.number, self.cluster = number, cluster
        self.random = random.Random(f"{SEED} {number}")
        self.history, self.wrong, self.values = [], [], 0
        #: The last value seen, by register.
        self.last = {}
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def connect(self):
        nodes = self.cluster.serving()
        return pymongo.MongoClient(
            *nodes[self.number % len(nodes)].address,
            directConnection=True,
            retryWrites=False,
            retryReads=False,
            serverSelectionTimeoutMS=1_000,
            socketTimeoutMS=5_000,
        )

    def work(self):
        while not self.over.is_set():
            with self.connect() as client:
                try:
                    while not self.over.wait(0.002):
                        self.one(client["registers"]["r"])
                except PyMongoError as error:
                    if not is_end(error) and "imeout" not in type(error).__name__:
                        self.wrong.append(repr(error))
                    self.over.wait(0.02)

    def one(self, collection):
        turn = int(time.monotonic() / SECONDS)
        id = f"{turn}-{self.random.randrange(REGISTERS)}"
        kind = self.random.choice(["read", "read", "insert", "delete", "swap", "swap", "swap"])
        self.values += 1
        value, old = f"{self.number}-{self.values}", self.last.get(id) or "nothing"
        begin = time.monotonic()
        try:
            answer = self.ask(collection, kind, id, value, old)
        except BaseException:
            if kind != "read":
                self.keep(id, Operation(kind, begin, FOREVER, UNKNOWN, value, old))
            raise
        self.keep(id, Operation(kind, begin, time.monotonic(), answer, value, old))
        if kind == "read":
            self.last[id] = answer

    def keep(self, id, operation):
        self.history.append((id, operation))

    @staticmethod
    def ask(collection, kind, id, value, old):
        if kind == "read":
            found = collection.find_one({"_id": id})
            return found and found["v"]
        if kind == "delete":
            return collection.delete_one({"_id": id}).deleted_count == 1
        if kind == "insert":
            with contextlib.suppress(DuplicateKeyError):
                collection.insert_one({"_id": id, "v": value})
                return True
            return False
        found = collection.find_one_and_update({"_id": id, "v": old}, {"$set": {"v": value}})
        return found is not None


def strike(cluster, name):
    fault = FAULTS[name](cluster)
    next(fault)
    time.sleep(1)
    next(fault)
    next(fault, None)
    cluster.whole()


def test_registers_are_linearizable(capsys):
    with Cluster([IslandNode, Node, Node]) as cluster:
        clients = [Client(number, cluster) for number in range(CLIENTS)]
        rounds, chosen = 0, random.Random(SEED)
        while rounds < 2 or sum(len(client.history) for client in clients) < OPERATIONS:
            strike(cluster, STRUCK[rounds] if rounds < 1 else chosen.choice(STRUCK))
            rounds += 1
        for client in clients:
            client.over.set()
        for client in clients:
            client.thread.join(30)
            assert not client.thread.is_alive(), "a client hangs"
    registers = {}
    for client in clients:
        assert client.wrong == []
        for id, operation in client.history:
            registers.setdefault(id, []).append(operation)
    found = wrong(registers)
    assert found == [], f"SEED={SEED}, {found[0]}"
    total = sum(len(history) for history in registers.values())
    unknown = sum(one.answer is UNKNOWN for history in registers.values() for one in history)
    with capsys.disabled():
        print(
            f"\n{total} operations on {len(registers)} registers, {unknown} unanswered, "
            f"{rounds} faults"
        )
