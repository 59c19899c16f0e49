"""Writers that number their writes, and readers that must see a prefix of them: without holes, and
at least everything that was acknowledged or read by anyone before the read started."""

import itertools
import threading
import time

from lib.ending import is_end
from lib.nosql import LATEST, RANGE, Client, if_none_match
from pymongo.errors import BulkWriteError, DuplicateKeyError, PyMongoError

DATABASE, NAME = "prefix", "c"
#: Seconds between two writes, and between two reads.
PAUSE, PACE = 0.002, 0.01
#: Number of documents in an occasional command with several.
MANY = 5
#: Status codes of the NoSQL API that are allowed while there is no owner.
NOT_NOW = (503, 408)


class Gone(Exception):
    """The node does not reply, or cannot serve the request now."""


class Numbers:
    """The numbers of one writer, which count from 0."""

    def __init__(self):
        #: Number of values that were sent, acknowledged, and seen by a completed read.
        self.sent = self.acked = self.seen = 0
        self.lock = threading.Lock()

    def least(self):
        with self.lock:
            return max(self.acked, self.seen)

    def wrong(self, found, least, from_=0):
        """Returns the error in the numbers read, which start at `from_`, or None. `least` is the
        count that had to be visible when the read started."""
        until = from_ + len(found)
        with self.lock:
            self.seen = max(self.seen, until)
            sent = self.sent
        if found != list(range(from_, until)):
            holes = sorted(set(range(from_, max(found) + 1)) - set(found))
            return f"no prefix: {holes[:10]} are missing of {from_} to {max(found)}, {found[-10:]}"
        return self.wrong_count(until, least, sent)

    def wrong_count(self, count, least, sent=None):
        with self.lock:
            self.seen = max(self.seen, count)
            sent = self.sent if sent is None else sent
        if count < least:
            return f"{count} are there, {least} were before"
        return f"{count} are there, {sent} were sent" if sent < count else None


class Worker:
    """A thread with a client of one node; it reconnects to the node's current address."""

    def __init__(self, node, name):
        self.node, self.name = node, name
        self.done, self.broken, self.wrong = 0, 0, []
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True, name=name)

    def work(self):
        while not self.over.is_set():
            client = None
            try:
                client = self.connect()
                while not self.over.is_set():
                    self.one(client)
                    self.done += 1
            except Gone:
                self.broken += 1
                self.over.wait(PACE)
            except Exception as error:
                self.wrong.append(repr(error))
                return
            finally:
                if client:
                    client.close()

    def end(self):
        self.over.set()
        self.thread.join(60)
        if self.thread.is_alive():
            self.wrong.append("hangs")
        return [f"{self.name}: {text}" for text in self.wrong]


class OfDocuments(Worker):
    """A worker with a client of the MongoDB API."""

    def connect(self):
        return self.node.connect_once()

    def one(self, client):
        try:
            self.ask(client[DATABASE][NAME])
        except PyMongoError as error:
            if not is_end(error) and "imeout" not in type(error).__name__:
                raise
            raise Gone from error


class OfItems(Worker):
    """A worker with a client of the NoSQL API."""

    def connect(self):
        return Client(self.node.items.address, timeout=20)

    def one(self, client):
        try:
            self.ask(client.container(DATABASE, NAME))
        except OSError as error:
            raise Gone from error

    def checked(self, reply, *expected):
        if reply.status in NOT_NOW:
            raise Gone
        assert reply.status in expected, reply
        return reply


class DocumentWriter(OfDocuments):
    """Sends a number until it is acknowledged, and then the next."""

    def __init__(self, node, numbers):
        super().__init__(node, f"document writer {node.name}")
        self.numbers = numbers

    def ask(self, collection):
        first = self.numbers.acked
        many = MANY if first % 50 == 0 else 1
        rows = [{"_id": n, "k": -n, "pad": "x" * 50} for n in range(first, first + many)]
        self.numbers.sent = max(self.numbers.sent, first + many)
        try:
            if many == 1:
                collection.insert_one(rows[0])
            else:
                collection.insert_many(rows, ordered=True)
        except (DuplicateKeyError, BulkWriteError) as error:
            # A number sent before without a reply exists already; the others are sent again.
            details = error.details.get("writeErrors", [error.details])
            if [one["code"] for one in details] != [11000]:
                raise
            many = details[0].get("index", 0) + 1
        self.numbers.acked = first + many
        time.sleep(PAUSE)


class ItemWriter(OfItems):
    """Does the same with items."""

    def __init__(self, node, numbers):
        super().__init__(node, f"item writer {node.name}")
        self.numbers = numbers

    def ask(self, container):
        number = self.numbers.acked
        self.numbers.sent = max(self.numbers.sent, number + 1)
        item = {"id": f"{number}", "pk": f"{number % 7}", "n": number}
        self.checked(container.create(item), 201, 409)
        self.numbers.acked = number + 1
        time.sleep(PAUSE)


def aggregated(collection):
    return [row["n"] for row in collection.aggregate([{"$count": "n"}])] or [0]


#: A batch size that returns everything at once, so that the result is of one instant.
ALL = 1_000_000
#: By name: read paths that return the numbers, sorted here if the path has no order.
LISTS = {
    "sorted by _id": lambda c: [row["_id"] for row in c.find().sort("_id")],
    "by an index": lambda c: sorted(
        row["_id"] for row in c.find({"k": {"$lte": 0}}, batch_size=ALL).hint("k_1")
    ),
    "sorted in memory": lambda c: [
        row["_id"] for row in c.find(batch_size=ALL).sort([("pad", 1), ("_id", 1)])
    ],
    "grouped": lambda c: sorted(
        next(iter(c.aggregate([{"$group": {"_id": 0, "all": {"$push": "$_id"}}}])), {"all": []})[
            "all"
        ]
    ),
}
COUNTS = {
    "estimated": lambda c: c.estimated_document_count(),
    "counted": lambda c: c.count_documents({}),
    "aggregated": lambda c: aggregated(c)[0],
}
QUERIES = {
    "in order": "SELECT VALUE c.n FROM c ORDER BY c.n",
    "without an order": "SELECT VALUE c.n FROM c WHERE c.n >= 0",
}


class DocumentReader(OfDocuments):
    """Reads by all paths in turn."""

    def __init__(self, node, numbers):
        super().__init__(node, f"document reader {node.name}")
        self.numbers = numbers
        self.turns = itertools.cycle([*LISTS, *COUNTS])

    def ask(self, collection):
        name, least = next(self.turns), self.numbers.least()
        if name in LISTS:
            wrong = self.numbers.wrong(LISTS[name](collection), least)
        else:
            wrong = self.numbers.wrong_count(COUNTS[name](collection), least)
        if wrong:
            self.wrong.append(f"{name}: {wrong}")
        time.sleep(PACE)


class ItemReader(OfItems):
    """Reads by queries, counts and the change feed, which continues after the last change read."""

    def __init__(self, node, numbers):
        super().__init__(node, f"item reader {node.name}")
        self.numbers = numbers
        self.turns = itertools.cycle([*QUERIES, "count", "feed"])
        #: Continuation of the change feed, and the number of items it has returned.
        self.after, self.shown = None, 0

    def ask(self, container):
        name, least = next(self.turns), self.numbers.least()
        if name == "count":
            [count] = self.page(container, "SELECT VALUE COUNT(1) FROM c")
            wrong = self.numbers.wrong_count(count, least)
        elif name == "feed":
            wrong = self.feed(container, least)
        else:
            found = self.page(container, QUERIES[name])
            wrong = self.numbers.wrong(found if "ORDER" in QUERIES[name] else sorted(found), least)
        if wrong:
            self.wrong.append(f"{name}: {wrong}")
        time.sleep(PACE)

    def page(self, container, query):
        """Returns all rows of a query from a single page, so that they are of one instant."""
        reply = self.checked(container.page(query, size=ALL), 200)
        assert not reply.continuation, "several pages"
        return reply.json["Documents"]

    def feed(self, container, least):
        """Reads the change feed until it has nothing new."""
        found, after, status = [], self.after, 200
        while status == 200:
            headers = {**LATEST, **RANGE, **(if_none_match(after) if after else {})}
            reply = container.client.call("GET", container.docs, None, headers)
            status, after = self.checked(reply, 200, 304).status, reply.etag
            found += [row["n"] for row in reply.json["Documents"]] if status == 200 else []
        wrong = self.numbers.wrong(found, least, self.shown)
        self.after, self.shown = after, self.shown + len(found)
        return wrong
