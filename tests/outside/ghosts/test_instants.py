"""A scan while everything around it dies and is reaped returns exactly what lived at its instant.

One client moves the clock a second at a time and never waits; others read meanwhile. Deadlines are
spread over ids and keys, so an answer that mixes two instants is none that any instant has.
"""

import random
import threading

import pytest

from lib.seed import SEED, TORTURE
from lib.server import Server, date

COUNT = 3_000
#: Seconds over which they die, as many in each; the clock stops a little earlier.
SPAN = 750 if TORTURE else 150
assert COUNT % SPAN == 0
READERS = 3
PAD = "x" * 300
KINDS = ("explicit", "inherit", "date")
FIRST = -1


class Clock:
    """What is sure about the time: moves that were answered, and moves that were asked for."""

    def __init__(self, server):
        self.server = server
        self.start = server.now_ms() // 1000
        self.done = self.asked = 0

    def to(self, second):
        self.asked = second
        self.server.move_to((self.start + second) * 1000)
        self.done = second


class Documents:
    """`deadline[id]` is the second in which it dies, from the start of the clock."""

    def __init__(self, server, kind):
        dice = random.Random(f"{SEED} {kind}")
        ids = list(range(COUNT))
        dice.shuffle(ids)
        self.keys = dice.sample(range(COUNT), COUNT)
        self.clock = Clock(server)
        self.collection = server.client["i"]["i"]
        self.collection.create_index("k")
        # Documents die in the order of `ids`, so many in each second.
        each = COUNT // SPAN
        self.deadline = {id: SPAN + 1 + at // each for at, id in enumerate(ids)}
        self.make(kind, ids, each)
        self.clock.to(SPAN)
        self.by_key = sorted(self.deadline, key=lambda id: self.keys[id])

    def make(self, kind, ids, each):
        if kind == "date":
            self.collection.create_index("at", expireAfterSeconds=1)
        else:
            default = SPAN + 1 if kind == "inherit" else -1
            self.collection.create_index("_ts", expireAfterSeconds=default)
        for second in range(SPAN if kind == "inherit" else 1):
            self.clock.to(second)
            some = ids[second * each:(second + 1) * each] if kind == "inherit" else ids
            self.collection.insert_many([self.document(kind, id) for id in some])

    def document(self, kind, id):
        body = {"_id": id, "k": self.keys[id], "pad": PAD}
        if kind == "explicit":
            body["ttl"] = self.deadline[id]
        if kind == "date":
            body["at"] = date((self.clock.start + self.deadline[id] - 1) * 1000)
        return body

    def alive(self, second, id):
        return second < self.deadline[id]

    def ids(self, second):
        return [id for id in range(COUNT) if self.alive(second, id)]


class Reader(threading.Thread):
    """Asks in many ways until the clock stands; `wrong` are answers that no instant explains."""

    def __init__(self, documents, number, ended):
        super().__init__(daemon=True)
        self.documents, self.ended = documents, ended
        self.random = random.Random(SEED + number)
        self.db = documents.collection.database
        self.wrong, self.asked, self.batches = [], 0, 0

    def run(self):
        ways = [self.scan, self.by_index, self.group, self.counted, self.sorted, self.joined,
                lambda: self.cursor(None), lambda: self.cursor("k")]
        try:
            while not self.ended.is_set():
                self.random.choice(ways)()
                self.asked += 1
        except Exception as error:
            self.wrong.append(repr(error))

    def ask(self, command, *args, **more):
        """The reply, and which seconds it may be from."""
        begin = self.documents.clock.done
        reply = self.db.command(command, *args, **more)
        return reply, range(begin, self.documents.clock.asked + 1)

    def judge(self, what, found, seconds, expect):
        if not any(expect(second) == found for second in seconds):
            near = {second: expect(second) for second in seconds}
            if isinstance(found, list):
                near = {second: set(ids) ^ set(found) for second, ids in near.items()}
            self.wrong.append(f"{what} at {seconds}, SEED={SEED}: {found}, differs by {near}")

    def whole(self, what, order=sorted, **more):
        reply, seconds = self.ask("find", "i", projection={"pad": 0}, batchSize=COUNT + 1,
                                  **{"filter": {}, **more})
        assert reply["cursor"]["id"] == 0
        found = [row["_id"] for row in reply["cursor"]["firstBatch"]]
        self.judge(what, order(found), seconds, self.documents.ids)

    def scan(self):
        self.whole("scan", list)

    def by_index(self):
        self.whole("index", filter={"k": {"$gte": 0}}, hint="k_1")

    def sorted(self):
        self.whole("sort", sort={"pad": 1, "k": -1})

    def group(self):
        group = {"_id": None, "n": {"$sum": 1}, "ids": {"$push": "$_id"}}
        reply, seconds = self.ask("aggregate", "i", pipeline=[{"$group": group}], cursor={})
        rows = reply["cursor"]["firstBatch"]
        found = sorted(rows[0]["ids"]) if rows else []
        assert not rows or rows[0]["n"] == len(found)
        self.judge("group", found, seconds, self.documents.ids)

    def counted(self):
        query = self.random.choice([{}, {"k": {"$gte": 0}}, {"pad": PAD}])
        reply, seconds = self.ask("count", "i", query=query)
        self.judge(f"count {query}", reply["n"], seconds, lambda s: len(self.documents.ids(s)))

    def joined(self):
        """Both halves of a $facet are of one instant."""
        facet = {"$facet": {"n": [{"$count": "n"}], "ids": [{"$group": {
            "_id": None, "ids": {"$push": "$_id"}}}]}}
        reply, seconds = self.ask("aggregate", "i", pipeline=[facet], cursor={})
        [row] = reply["cursor"]["firstBatch"]
        found = sorted(row["ids"][0]["ids"]) if row["ids"] else []
        assert [len(found)] * bool(found) == [one["n"] for one in row["n"]]
        self.judge("facet", found, seconds, self.documents.ids)

    def cursor(self, hint):
        """Each batch is what lived at its own instant between its first and last key."""
        size = self.random.choice([7, 60, 400])
        order = self.documents.by_key if hint else range(COUNT)
        place = {id: at for at, id in enumerate(order)}
        more = {"filter": {"k": {"$gte": 0}}, "hint": "k_1"} if hint else {"filter": {}}
        reply, seconds = self.ask(
            "find", "i", projection={"pad": 0}, batchSize=size, **more)
        rows, last = reply["cursor"]["firstBatch"], FIRST
        while True:
            self.batches += 1
            ended = reply["cursor"]["id"] == 0
            ids = [row["_id"] for row in rows]
            end = COUNT if ended else place[ids[-1]] + 1 if ids else last + 1
            span = [order[at] for at in range(last + 1, end)]
            self.judge(f"batch by {hint or '_id'}", ids, seconds,
                       lambda second: [id for id in span if self.documents.alive(second, id)])
            if ended or self.ended.is_set():
                return
            last = end - 1
            reply, seconds = self.ask(
                "getMore", reply["cursor"]["id"], collection="i", batchSize=size)
            rows = reply["cursor"]["nextBatch"]


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_of_one_instant(kind, disk):
    with Server(data_dir=disk, flags=["--reap-delay", "0"]) as server:
        documents = Documents(server, kind)
        ended = threading.Event()
        readers = [Reader(documents, number, ended) for number in range(READERS)]
        for reader in readers:
            reader.start()
        for step, second in enumerate(range(SPAN, 2 * SPAN + 2)):
            # However slow the machine is, there are so many questions for each move.
            while sum(reader.asked for reader in readers) < step / 2:
                assert all(one.is_alive() for one in readers), [one.wrong for one in readers]
                ended.wait(0.001)
            documents.clock.to(second)
        ended.set()
        for reader in readers:
            reader.join(30)
        server.wait_until_reaped(("i", "i"))
        assert documents.collection.count_documents({}) == 0
        assert server.ttl_metrics()["deletedDocuments"] > COUNT // 2
        assert server.stop() == 0
        assert not disk or server.verify().returncode == 0
    assert [text for reader in readers for text in reader.wrong][:5] == []
    assert sum(reader.batches for reader in readers) > 5, "hardly a cursor was read"
