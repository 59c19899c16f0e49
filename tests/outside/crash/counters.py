"""Counters that several clients count up at the same time, and what is certain of each of them
after the server was killed."""

import http.client
import threading

from lib import ending
from lib.nosql import Client
from pymongo import WriteConcern
from pymongo.errors import PyMongoError

JOURNALED = WriteConcern(j=True)
DATABASE = "counting"


class Counter:
    """What was sent and what was answered since the last comparison."""

    def __init__(self, name, value=0):
        self.name, self.value = name, value
        self.lock = threading.Lock()
        self.forget()

    def forget(self):
        self.sent, self.answers = 0, []

    def send(self):
        with self.lock:
            self.sent += 1

    def answer(self, value):
        with self.lock:
            self.answers.append(value)

    def settle(self, found):
        """What is wrong with the value that a restarted server has; from now on that is the value.

        Every answer is one of the values between the old and the new one, and none comes twice.
        What was not answered was counted once or not at all.
        """
        wrong, answers = [], self.answers
        told = f"{self.name} is {found}, was {self.value}"
        last = max(answers, default=self.value)
        if found < last:
            wrong.append(f"{told}: {last} was acknowledged and is lost")
        if found < self.value + len(answers):
            wrong.append(f"{told}: {len(answers)} were acknowledged, so some are lost")
        if found > self.value + self.sent:
            wrong.append(f"{told}: only {self.sent} were sent")
        if len(set(answers)) != len(answers):
            wrong.append(f"{told}: two requests had the same answer")
        if answers and min(answers) <= self.value:
            wrong.append(f"{told}: {min(answers)} was answered once more")
        self.value = found
        self.forget()
        return wrong


class Counting:
    """A client that counts until its server ends."""

    def __init__(self, server, choose):
        self.choose, self.wrong = choose, []
        self.open(server)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            while True:
                counter = self.choose()
                counter.send()
                counter.answer(self.count(counter.name))
        except Exception as error:
            if not self.is_end(error):
                self.wrong.append(f"{type(self).__name__}: {error!r}")
        self.close()

    def open(self, server):
        raise NotImplementedError

    def count(self, name):
        raise NotImplementedError

    def is_end(self, error):
        raise NotImplementedError

    def close(self):
        raise NotImplementedError


class DocumentCounting(Counting):
    """By findAndModify with $inc, whose reply waits for the journal."""

    def open(self, server):
        self.client = server.connect(
            retryWrites=False, maxPoolSize=1, serverSelectionTimeoutMS=2_000
        )
        database = self.client[DATABASE]
        self.counters = database.get_collection("counters", write_concern=JOURNALED)

    def count(self, name):
        reply = self.counters.find_one_and_update(
            {"_id": name}, {"$inc": {"n": 1}}, return_document=True
        )
        return reply["n"]

    def is_end(self, error):
        return isinstance(error, PyMongoError) and ending.is_end(error)

    def close(self):
        self.client.close()


class ItemCounting(Counting):
    """By a patch with `incr`."""

    def open(self, server):
        self.client = Client(server.items.address, timeout=20)
        self.items = self.client.container(DATABASE, "counters")

    def count(self, name):
        reply = self.items.patch(name, "a", [{"op": "incr", "path": "/n", "value": 1}])
        if reply.status in (500, 503) and ending.tells_end(str(reply)):
            raise ConnectionError("the server ends")
        assert reply.status == 200, reply
        return reply.json["n"]

    def is_end(self, error):
        return isinstance(error, (ConnectionError, http.client.HTTPException, TimeoutError))

    def close(self):
        self.client.close()


def make(server, documents, items):
    """Counters at zero."""
    if documents:
        rows = [{"_id": name, "n": 0} for name in documents]
        server.client[DATABASE]["counters"].insert_many(rows)
    if items:
        container = server.items.container(DATABASE, "counters")
        assert server.items.create_database(DATABASE).status == 201
        assert container.define().status == 201
        for name in items:
            assert container.create({"id": name, "pk": "a", "n": 0}).status == 201


def read(server, documents, items):
    """What the counters stand at, by name."""
    found = {}
    if documents:
        rows = server.client[DATABASE]["counters"].find()
        found |= {row["_id"]: row["n"] for row in rows}
    container = server.items.container(DATABASE, "counters")
    for name in items:
        reply = container.read(name, "a")
        assert reply.status == 200, f"{name}: {reply}"
        found[name] = reply.json["n"]
    return found
