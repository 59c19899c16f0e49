"""Counters that several clients increment concurrently, and the values that are possible after the
server was killed."""

import threading

from pymongo import WriteConcern

from crash.clients import OfDocuments, OfItems, Untiring

JOURNALED = WriteConcern(j=True)
DATABASE = "counting"


class Counter:
    """Requests sent and replies received since the last comparison."""

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
        """Returns the errors in the value after a restart, which becomes the new base value. Every
        reply must be a value between the old and the new one, and none may come twice. A request
        without a reply was counted once or not at all.
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


class Counting(Untiring):
    """A client that increments counters until its server stops."""

    def __init__(self, server, choose):
        self.choose = choose
        self.begin(type(self).__name__, server)

    def step(self):
        counter = self.choose()
        counter.send()
        counter.answer(self.count(counter.name))

    def count(self, name):
        raise NotImplementedError


class DocumentCounting(Counting, OfDocuments):
    """Increments by findAndModify with $inc, whose reply waits for the journal."""

    def open(self, server):
        super().open(server)
        database = self.client[DATABASE]
        self.counters = database.get_collection("counters", write_concern=JOURNALED)

    def count(self, name):
        reply = self.counters.find_one_and_update(
            {"_id": name}, {"$inc": {"n": 1}}, return_document=True
        )
        return reply["n"]


class ItemCounting(Counting, OfItems):
    """Increments by a patch with `incr`."""

    def open(self, server):
        super().open(server)
        self.items = self.client.container(DATABASE, "counters")

    def count(self, name):
        change = [{"op": "incr", "path": "/n", "value": 1}]
        return self.expect(self.items.patch(name, "a", change), 200).json["n"]


def make(server, documents, items):
    """Creates the counters, at zero."""
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
    """Returns the values of the counters by name."""
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
