"""A client that works through every fault: it appends numbers to lists and reads the time through
one node. Its ledger records acknowledged writes and when replies arrived."""

import threading
import time
from itertools import pairwise

from lib.server import millis
from pymongo.errors import PyMongoError

#: Maximum length of a list.
LONGEST = 200
PACE = 0.01


class Probe:
    """One client of one node; it reconnects to the node's current address."""

    def __init__(self, node, database="probe"):
        self.node, self.database = node, database
        self.name = node.name
        #: By name of the list: all sent numbers, and the acknowledged ones.
        self.sent, self.acked = {}, {}
        #: Times of the acknowledgements.
        self.acks = []
        #: Instants of the database, each with the times before the request and after the reply.
        self.instants = []
        self.wrong, self.numbers = [], 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.work, daemon=True, name=f"probe {self.name}")

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join(60)

    def connect(self):
        return self.node.connect_once()

    def work(self):
        while not self.over.is_set():
            client = self.connect()
            try:
                while not self.over.wait(PACE):
                    self.append(client[self.database]["lists"])
                    self.ask(client.admin)
            except PyMongoError:
                self.over.wait(PACE)
            except Exception as error:
                self.wrong.append(f"probe {self.name}: {error!r}")
                return
            finally:
                client.close()

    def append(self, collection):
        """Appends the next number; it is sent once, even if there is no reply."""
        self.numbers += 1
        number, name = self.numbers, f"{self.name}-{self.numbers // LONGEST}"
        self.sent.setdefault(name, []).append(number)
        found = collection.find_one_and_update(
            {"_id": name}, {"$push": {"numbers": number}}, upsert=True, return_document=True
        )
        self.acks.append(time.monotonic())
        self.acked.setdefault(name, []).append(number)
        self.judge(name, found["numbers"], self.acked[name])

    def ask(self, admin):
        begin = time.monotonic()
        now = millis(admin.command("hello")["localTime"])
        self.instants.append((begin, time.monotonic(), now))

    def judge(self, name, numbers, acked):
        """Checks a list: it has every number that was acknowledged before the read, in order, none
        twice, and none that was not sent."""
        sent = self.sent.get(name, [])
        there = set(numbers)
        told = f"list {name}"
        if len(there) != len(numbers):
            self.wrong.append(f"{told}: a number twice: {numbers}")
        if there - set(sent):
            self.wrong.append(f"{told}: {sorted(there - set(sent))} were never sent")
        if lost := [number for number in acked if number not in there]:
            self.wrong.append(f"{told}: acknowledged and lost: {lost}")
        known = set(acked)
        if [number for number in numbers if number in known] != acked:
            self.wrong.append(f"{told}: in another order: {numbers}, acknowledged {acked}")

    def compare(self, client):
        """Checks all lists as a node shows them now."""
        acked = {name: list(numbers) for name, numbers in list(self.acked.items())}
        rows = client[self.database]["lists"].find({"_id": {"$regex": f"^{self.name}-"}})
        found = {row["_id"]: row["numbers"] for row in rows}
        for name in acked.keys() | found.keys():
            self.judge(name, found.get(name, []), acked.get(name, []))

    def gap(self, since, until):
        """Returns the longest interval without an acknowledgement between two times."""
        inside = [at for at in self.acks if since <= at <= until]
        edges = [since, *inside, until]
        return max(later - sooner for sooner, later in pairwise(edges))


def backwards(instants, slack=0):
    """Returns the instants, of all probes, received after a later one had been received."""
    wrong, latest = [], None
    # Merges replies in the order of their ends with requests in the order of their begins.
    ended = sorted(instants, key=lambda one: one[1])
    at = 0
    for begin, _, now in sorted(instants):
        while at < len(ended) and ended[at][1] < begin:
            if latest is None or latest < ended[at][2]:
                latest = ended[at][2]
            at += 1
        if latest is not None and now + slack < latest:
            wrong.append(f"the time was {latest} and then {now}")
    return wrong
