"""A scan during which documents expire and are reaped returns exactly those live at its instant.
One client moves the clock a second at a time without waiting, while others read. Deadlines are
spread over ids and keys, so a result that mixes two instants matches no single instant.
"""

import random

import pytest
from lib import instant
from lib.instant import PAD, Clock
from lib.marks import ON_DISK
from lib.seed import SEED, TORTURE
from lib.server import AT_ONCE, Server, date

COUNT = 3_000
#: Seconds over which the documents expire, equally many in each; the clock stops a little earlier.
SPAN = 750 if TORTURE else 150
assert COUNT % SPAN == 0
KINDS = ("explicit", "inherit", "date")
FIRST = -1


class Documents:
    """`deadline[id]` is the second of its expiry, counted from the start of the clock."""

    def __init__(self, server, kind):
        rng = random.Random(f"{SEED} {kind}")
        ids = list(range(COUNT))
        rng.shuffle(ids)
        self.keys = rng.sample(range(COUNT), COUNT)
        self.clock = Clock(server)
        self.collection = server.client["i"]["i"]
        self.collection.create_index("k")
        # Documents expire in the order of `ids`, equally many in each second.
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
            some = ids[second * each : (second + 1) * each] if kind == "inherit" else ids
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


class Reader(instant.Reader):
    """Reads by commands of a client."""

    def __init__(self, documents, number, ended):
        super().__init__(documents.clock, number, ended)
        self.documents = documents
        self.db = documents.collection.database
        # A cursor belongs to a session, and readers share a client: each has a session of its own.
        self.session = self.db.client.start_session(causal_consistency=False)

    def questions(self):
        return [
            self.scan,
            self.by_index,
            self.group,
            self.counted,
            self.sorted,
            self.joined,
            lambda: self.cursor(None),
            lambda: self.cursor("k"),
        ]

    def ask(self, command, *args, **more):
        """Returns the reply, and the seconds that it may belong to."""
        return self.timed(lambda: self.db.command(command, *args, session=self.session, **more))

    def whole(self, what, order=sorted, **more):
        reply, seconds = self.ask(
            "find", "i", projection={"pad": 0}, batchSize=COUNT + 1, **{"filter": {}, **more}
        )
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
        """Checks that both branches of a $facet are of one instant."""
        facet = {
            "$facet": {
                "n": [{"$count": "n"}],
                "ids": [{"$group": {"_id": None, "ids": {"$push": "$_id"}}}],
            }
        }
        reply, seconds = self.ask("aggregate", "i", pipeline=[facet], cursor={})
        [row] = reply["cursor"]["firstBatch"]
        found = sorted(row["ids"][0]["ids"]) if row["ids"] else []
        assert [len(found)] * bool(found) == [one["n"] for one in row["n"]]
        self.judge("facet", found, seconds, self.documents.ids)

    def cursor(self, hint):
        """Checks each batch by its own instant, between its first and last key."""
        size = self.random.choice([7, 60, 400])
        order = self.documents.by_key if hint else range(COUNT)
        place = {id: at for at, id in enumerate(order)}
        more = {"filter": {"k": {"$gte": 0}}, "hint": "k_1"} if hint else {"filter": {}}
        reply, seconds = self.ask("find", "i", projection={"pad": 0}, batchSize=size, **more)
        rows, last = reply["cursor"]["firstBatch"], FIRST
        while True:
            self.parts += 1
            ended = reply["cursor"]["id"] == 0
            ids = [row["_id"] for row in rows]
            end = COUNT if ended else place[ids[-1]] + 1 if ids else last + 1
            span = [order[at] for at in range(last + 1, end)]
            self.judge(
                f"batch by {hint or '_id'}",
                ids,
                seconds,
                lambda second, span=span: [id for id in span if self.documents.alive(second, id)],
            )
            if ended or self.ended.is_set():
                return
            last = end - 1
            reply, seconds = self.ask(
                "getMore", reply["cursor"]["id"], collection="i", batchSize=size
            )
            rows = reply["cursor"]["nextBatch"]


@ON_DISK
@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_of_one_instant(kind, disk):
    with Server(data_dir=disk, flags=AT_ONCE) as server:
        documents = Documents(server, kind)
        readers = instant.watched(
            documents.clock, lambda *which: Reader(documents, *which), range(SPAN, 2 * SPAN + 2)
        )
        server.wait_until_reaped(("i", "i"))
        assert documents.collection.count_documents({}) == 0
        assert server.ttl_metrics()["deletedDocuments"] > COUNT // 2
        server.end()
    instant.judge(readers)
