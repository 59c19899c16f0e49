"""A reply about items that expire during the request contains the items live at one instant. One
client moves the clock a second at a time without waiting, while others read. Deadlines are spread
over ids and keys, so a result that mixes two instants matches no single instant.
"""

import random

import pytest
from lib import instant
from lib.instant import PAD, Clock
from lib.marks import ON_DISK
from lib.nosql import LATEST
from lib.seed import SEED, TORTURE
from lib.server import AT_ONCE, Server

COUNT = 900
#: Seconds over which the items expire, equally many in each.
SPAN = 450 if TORTURE else 100
assert COUNT % SPAN == 0
ALL_OF_THEM = {"x-ms-max-item-count": "1000"}


class Items:
    """`deadline[k]` is the second in which the item with this key expires."""

    def __init__(self, server, kind):
        rng = random.Random(f"{SEED} items {kind}")
        keys = list(range(COUNT))
        rng.shuffle(keys)
        self.clock = Clock(server)
        assert server.items.create_database("i").status == 201
        self.container = server.items.container("i", "i")
        default = SPAN + 1 if kind == "default" else -1
        assert self.container.define(defaultTtl=default).status == 201
        # Items expire in the order of `keys`, equally many in each second.
        each = COUNT // SPAN
        self.deadline = {k: SPAN + 1 + at // each for at, k in enumerate(keys)}
        for second in range(SPAN if kind == "default" else 1):
            self.clock.to(second)
            some = keys[second * each : (second + 1) * each] if kind == "default" else keys
            self.write([self.body(kind, k) for k in some])
        self.clock.to(SPAN)

    def body(self, kind, k):
        more = {"ttl": self.deadline[k]} if kind == "own" else {}
        return {"id": f"i{k}", "pk": "abc"[k % 3], "k": k, "pad": PAD, "same": 1, **more}

    def write(self, bodies):
        for at in range(0, len(bodies), 100):
            reply = self.container.bulk(
                [
                    {
                        "operationType": "Create",
                        "resourceBody": body,
                        "partitionKey": f'["{body["pk"]}"]',
                    }
                    for body in bodies[at : at + 100]
                ]
            )
            assert {one["statusCode"] for one in reply.json} == {201}, reply

    def alive(self, second):
        return [k for k in range(COUNT) if second < self.deadline[k]]


class Reader(instant.Reader):
    """Reads by queries and the feed over a connection of its own."""

    def __init__(self, items, number, ended):
        super().__init__(items.clock, number, ended)
        self.items = items
        self.container = items.container.through(items.container.client.again())

    def questions(self):
        return [self.count, self.total, self.group, self.whole, self.top, self.paged, self.changes]

    def ask(self, query, **more):
        """Returns rows, the token of the next page, and the seconds that they may belong to."""
        reply, seconds = self.timed(lambda: self.container.page(query, **more))
        assert reply.status == 200, reply
        return reply.json["Documents"], reply.continuation, seconds

    def one(self, what, query, expect):
        rows, after, seconds = self.ask(query)
        assert after is None and len(rows) == 1, (rows, after)
        self.judge(what, rows[0], seconds, expect)

    def count(self):
        where = self.random.choice(["", " WHERE c.k >= 0", " WHERE c.pad > ''"])
        self.one(
            "count",
            f"SELECT VALUE COUNT(1) FROM c{where}",
            lambda second: len(self.items.alive(second)),
        )

    def total(self):
        def expect(second):
            alive = self.items.alive(second)
            return {"n": len(alive), "s": sum(alive)}

        self.one("sum and count", "SELECT COUNT(1) AS n, SUM(c.k) AS s FROM c", expect)

    def group(self):
        rows, after, seconds = self.ask(
            "SELECT c.pk, COUNT(1) AS n FROM c GROUP BY c.pk", headers=ALL_OF_THEM
        )
        assert after is None
        found = [sum(row["n"] for row in rows)]
        self.judge("groups", found, seconds, lambda second: [len(self.items.alive(second))])

    def whole(self):
        order = self.random.choice(["", " ORDER BY c.k"])
        rows, after, seconds = self.ask(f"SELECT VALUE c.k FROM c{order}", headers=ALL_OF_THEM)
        assert after is None, "a page of numbers is not full"
        self.judge(f"all{order}", sorted(rows), seconds, self.items.alive)

    def top(self):
        rows, _, seconds = self.ask("SELECT TOP 20 VALUE c.k FROM c ORDER BY c.k DESC")
        self.judge("top", rows, seconds, lambda second: self.items.alive(second)[::-1][:20])

    def changes(self):
        reply, seconds = self.timed(
            lambda: self.container.client.call(
                "GET", self.container.docs, None, {**LATEST, **ALL_OF_THEM}
            )
        )
        found = sorted(row["k"] for row in reply.json["Documents"]) if reply.status == 200 else []
        if len(reply.body) < 1_000_000:
            self.judge("changes", found, seconds, self.items.alive)

    def paged(self):
        """Checks each page by its own instant, between its first and last key."""
        size, last, after = self.random.choice([7, 60, 400]), -1, None
        while True:
            rows, after, seconds = self.ask(
                "SELECT VALUE c.k FROM c ORDER BY c.k", size=size, after=after
            )
            self.parts += 1
            end = rows[-1] + 1 if rows and after else COUNT if after is None else last + 1
            begin = last + 1
            self.judge(
                "page",
                rows,
                seconds,
                lambda second, part=range(begin, end): [
                    k for k in self.items.alive(second) if k in part
                ],
            )
            if after is None or self.ended.is_set():
                return
            last = end - 1


@ON_DISK
@pytest.mark.parametrize("kind", ["default", "own"])
def test_an_answer_is_of_one_instant(kind, disk):
    with Server(data_dir=disk, flags=AT_ONCE, nosql=True) as server:
        items = Items(server, kind)
        readers = instant.watched(
            items.clock, lambda *which: Reader(items, *which), range(SPAN, 2 * SPAN + 2)
        )
        assert items.container.rows("SELECT VALUE COUNT(1) FROM c") == [0]
        server.end()
    instant.judge(readers)
