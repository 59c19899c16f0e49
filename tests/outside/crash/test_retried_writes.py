"""Numbered writes over `kill -9` and lost connections: a client that sends a write again until it
gets a reply has made it exactly once. Half of the kills move the manual clock by 90 days first,
after which the receipts of a session must still be there."""

import os
import random
import threading
import time
import uuid

import bson
from badinput.wire import Wire, command, msg
from lib.seed import SEED, TORTURE
from lib.server import Server
from lib.wire import Silence

ROUNDS = int(os.environ.get("ROUNDS", 40 if TORTURE else 4))
CLIENTS = 4
DAY_MS = 24 * 60 * 60 * 1000


class Client:
    """A client with a session and a counter of its own, on which it makes writes of all kinds."""

    def __init__(self, number):
        self.number = number
        self.random = random.Random(SEED * 1000 + number)
        self.session = {"id": bson.Binary.from_uuid(uuid.UUID(int=self.random.getrandbits(128)))}
        self.writes = self.sum = self.inserted = self.repeats = 0

    def next_command(self):
        """Returns the next write, and a check of its reply."""
        add = self.random.randrange(1, 10)
        counter = {"_id": f"counter {self.number}"}
        edit = {"$inc": {"n": add}}
        kind = self.random.randrange(4)
        if kind == 0:
            batch = [{"client": self.number, "write": self.writes, "at": at} for at in range(add)]
            self.inserted += add
            return command(("insert", "c"), ("documents", batch)), lambda it: it["n"] == add
        self.sum += add
        if kind == 1:
            update = {"q": counter, "u": edit, "upsert": True}
            return command(("update", "c"), ("updates", [update])), lambda it: it["n"] == 1
        wanted = self.sum
        if kind == 2:
            fields = [("query", counter), ("update", edit), ("upsert", True), ("new", True)]
            return command(("findAndModify", "c"), *fields), lambda it: it["value"]["n"] == wanted
        half = {"q": counter, "u": {"$inc": {"n": add - 1}}, "upsert": True}
        rest = {"q": counter, "u": {"$inc": {"n": 1}}, "upsert": True}
        return command(("update", "c"), ("updates", [half, rest])), lambda it: it["n"] == 2

    def run(self, server, ended, changed):
        """Makes writes until `ended`; `changed` is set while a server accepts connections."""
        while not ended.is_set():
            body, is_right = self.next_command()
            body += [("lsid", self.session), ("txnNumber", bson.Int64(self.writes))]
            self.writes += 1
            reply = None
            while reply is None:
                changed.wait()
                reply = self.attempt(server.address, body)
            assert reply["ok"] == 1 and "writeErrors" not in reply, reply
            assert is_right(reply), f"SEED={SEED}, client {self.number}: {body}: {reply}"
            self.repeats += "retriedStmtIds" in reply or "retriedStmtId" in reply

    def attempt(self, address, body):
        """Sends a write once; returns the reply, or None if the connection was lost. Sometimes the
        client itself loses it, without waiting for the reply."""
        try:
            with Wire(address, timeout=1.0) as wire:
                wire.send(msg(body))
                if self.random.random() < 0.2:
                    time.sleep(self.random.random() * 0.01)
                    return None
                return wire.reply(within=20.0)
        except (OSError, Silence):
            time.sleep(0.01)
            return None


def test_each_write_is_made_once(report):
    clients = [Client(number) for number in range(CLIENTS)]
    chance = random.Random(SEED)
    with Server(data_dir=True) as server:
        ended, changed = threading.Event(), threading.Event()
        changed.set()
        failures = []

        def work(client):
            try:
                client.run(server, ended, changed)
            except BaseException as error:
                failures.append(error)
                raise

        threads = [threading.Thread(target=work, args=(client,)) for client in clients]
        for thread in threads:
            thread.start()
        for round in range(ROUNDS):
            time.sleep(chance.uniform(0.2, 1.0))
            if round % 2:
                server.advance(90 * DAY_MS)
            changed.clear()
            server.kill()
            server.start()
            changed.set()
        time.sleep(0.5)
        ended.set()
        for thread in threads:
            thread.join(60)
        assert not failures
        documents = server.client["test"]["c"]
        for client in clients:
            counter = documents.find_one({"_id": f"counter {client.number}"}) or {"n": 0}
            found = counter["n"], documents.count_documents({"client": client.number})
            assert found == (client.sum, client.inserted), f"SEED={SEED}, client {client.number}"
        server.end()
    writes, repeats = (sum(getattr(it, name) for it in clients) for name in ("writes", "repeats"))
    assert writes > 20
    assert repeats > 0
    report(
        "F1",
        ROUNDS,
        "numbered writes over kills and lost connections",
        seed=SEED,
        writes=writes,
        repeats=repeats,
    )
