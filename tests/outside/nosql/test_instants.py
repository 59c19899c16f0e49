"""An answer about items that die while it is made is what lived at one instant.

One client moves the clock a second at a time and never waits; others ask meanwhile. Deadlines are
spread over ids and keys, so an answer that mixes two instants is none that any instant has.
"""

import random
import threading

import pytest

from lib.seed import SEED, TORTURE
from lib.server import Server

COUNT = 900
#: Seconds over which they die, as many in each.
SPAN = 450 if TORTURE else 100
assert COUNT % SPAN == 0
READERS = 3
PAD = "x" * 300
ALL_OF_THEM = {"x-ms-max-item-count": "1000"}


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


class Items:
    """`deadline[k]` is the second in which the item with this key dies."""

    def __init__(self, server, kind):
        dice = random.Random(f"{SEED} items {kind}")
        keys = list(range(COUNT))
        dice.shuffle(keys)
        self.clock = Clock(server)
        assert server.items.create_database("i").status == 201
        self.container = server.items.container("i", "i")
        default = SPAN + 1 if kind == "default" else -1
        assert self.container.define(defaultTtl=default).status == 201
        # Items die in the order of `keys`, so many in each second.
        each = COUNT // SPAN
        self.deadline = {k: SPAN + 1 + at // each for at, k in enumerate(keys)}
        for second in range(SPAN if kind == "default" else 1):
            self.clock.to(second)
            some = keys[second * each:(second + 1) * each] if kind == "default" else keys
            self.write([self.body(kind, k) for k in some])
        self.clock.to(SPAN)

    def body(self, kind, k):
        more = {"ttl": self.deadline[k]} if kind == "own" else {}
        return {"id": f"i{k}", "pk": "abc"[k % 3], "k": k, "pad": PAD, "same": 1, **more}

    def write(self, bodies):
        for at in range(0, len(bodies), 100):
            reply = self.container.bulk([
                {"operationType": "Create", "resourceBody": body,
                 "partitionKey": f'["{body["pk"]}"]'} for body in bodies[at:at + 100]])
            assert {one["statusCode"] for one in reply.json} == {201}, reply

    def alive(self, second):
        return [k for k in range(COUNT) if second < self.deadline[k]]


class Reader(threading.Thread):
    """Asks in many ways until the clock stands; `wrong` are answers that no instant explains."""

    def __init__(self, items, number, ended):
        super().__init__(daemon=True)
        self.items, self.ended = items, ended
        self.random = random.Random(SEED + number)
        self.container = items.container.through(items.container.client.again())
        self.wrong, self.asked, self.pages = [], 0, 0

    def run(self):
        ways = [self.count, self.total, self.group, self.whole, self.top, self.paged, self.changes]
        try:
            while not self.ended.is_set():
                self.random.choice(ways)()
                self.asked += 1
        except Exception as error:
            self.wrong.append(repr(error))

    def ask(self, query, **more):
        """Rows, the token of the next page, and which seconds they may be from."""
        begin = self.items.clock.done
        reply = self.container.page(query, **more)
        seconds = range(begin, self.items.clock.asked + 1)
        assert reply.status == 200, reply
        return reply.json["Documents"], reply.continuation, seconds

    def judge(self, what, found, seconds, expect):
        if not any(expect(second) == found for second in seconds):
            near = {second: expect(second) for second in seconds}
            if isinstance(found, list):
                near = {second: sorted(set(ks) ^ set(found))[:9] for second, ks in near.items()}
            self.wrong.append(f"{what} at {seconds}, SEED={SEED}: {str(found)[:200]}, by {near}")

    def one(self, what, query, expect):
        rows, after, seconds = self.ask(query)
        assert after is None and len(rows) == 1, (rows, after)
        self.judge(what, rows[0], seconds, expect)

    def count(self):
        where = self.random.choice(["", " WHERE c.k >= 0", " WHERE c.pad > ''"])
        self.one("count", f"SELECT VALUE COUNT(1) FROM c{where}",
                 lambda second: len(self.items.alive(second)))

    def total(self):
        def expect(second):
            alive = self.items.alive(second)
            # The sum of nothing is undefined.
            return {"n": len(alive), **({"s": sum(alive)} if alive else {})}
        self.one("sum and count", "SELECT COUNT(1) AS n, SUM(c.k) AS s FROM c", expect)

    def group(self):
        rows, after, seconds = self.ask(
            "SELECT c.pk, COUNT(1) AS n FROM c GROUP BY c.pk", headers=ALL_OF_THEM)
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
        begin = self.items.clock.done
        reply = self.container.client.call("GET", self.container.docs, None, {
            "a-im": "Incremental Feed", "x-ms-max-item-count": "1000"})
        seconds = range(begin, self.items.clock.asked + 1)
        found = sorted(row["k"] for row in reply.json["Documents"]) if reply.status == 200 else []
        if len(reply.body) < 1_000_000:
            self.judge("changes", found, seconds, self.items.alive)

    def paged(self):
        """Each page is what lived at its own instant between its first and last key."""
        size, last, after = self.random.choice([7, 60, 400]), -1, None
        while True:
            rows, after, seconds = self.ask(
                "SELECT VALUE c.k FROM c ORDER BY c.k", size=size, after=after)
            self.pages += 1
            end = rows[-1] + 1 if rows and after else COUNT if after is None else last + 1
            begin = last + 1
            self.judge("page", rows, seconds, lambda second: [
                k for k in self.items.alive(second) if begin <= k < end])
            if after is None or self.ended.is_set():
                return
            last = end - 1


@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
@pytest.mark.parametrize("kind", ["default", "own"])
def test_an_answer_is_of_one_instant(kind, disk):
    with Server(data_dir=disk, flags=["--reap-delay", "0"], nosql=True) as server:
        items = Items(server, kind)
        ended = threading.Event()
        readers = [Reader(items, number, ended) for number in range(READERS)]
        for reader in readers:
            reader.start()
        for step, second in enumerate(range(SPAN, 2 * SPAN + 2)):
            # However slow the machine is, there are so many questions for each move.
            while sum(reader.asked for reader in readers) < step / 2:
                assert all(one.is_alive() for one in readers), [one.wrong for one in readers]
                ended.wait(0.001)
            items.clock.to(second)
        ended.set()
        for reader in readers:
            reader.join(30)
        assert items.container.rows("SELECT VALUE COUNT(1) FROM c") == [0]
        assert server.stop() == 0
        assert not disk or server.verify().returncode == 0
    assert [text for reader in readers for text in reader.wrong][:5] == []
    assert sum(reader.pages for reader in readers) > 5, "hardly a query was paged"
