"""The race of items, with the default TTL and with their own `ttl`; the feed of all versions is
checked too."""

import time

from lib import race as races
from lib.nosql import ALL_VERSIONS
from lib.server import AT_ONCE, Server

#: name: (default TTL, properties of an item)
KINDS = {"default": (1, {}), "own": (-1, {"ttl": 1})}
VERSIONS = {"changeFeedPolicy": {"retentionDuration": 10_080, "retainPreviousImages": True}}


class Client(races.Racer):
    """One process with a client of its own."""

    def __init__(self, server, clock, kind, number, until):
        super().__init__(server, clock, kind, number, until)
        self.container = server.items.again().container("race", kind)

    def fields(self):
        return [{"op": "set", "path": "/n", "value": self.random.random()}]

    def renew(self, id, fields):
        reply = self.container.patch(f"{id}", "ab"[id % 2], fields)
        assert reply.status in (200, 404), reply
        return reply.json["life"] if reply.status == 200 else None

    def begin(self, id, life):
        reply = self.container.create(
            {"id": f"{id}", "pk": "ab"[id % 2], "k": id, "life": life, **KINDS[self.kind][1]}
        )
        assert reply.status in (201, 409), reply

    def point(self, id):
        return self.random.choice([self.read_one, self.ask])(id)

    def read_one(self, id):
        reply = self.container.read(f"{id}", "ab"[id % 2])
        assert reply.status in (200, 404), reply
        return reply.json["life"] if reply.status == 200 else None

    def ask(self, id):
        rows = self.container.rows(f"SELECT VALUE c.life FROM c WHERE c.k = {id}")
        assert len(rows) < 2, f"two lives of {id}: {rows}"
        return rows[0] if rows else None

    def scans(self):
        c = self.container
        return (
            c.rows,
            lambda: c.rows("SELECT * FROM c"),
            lambda: c.changes()[0],
            lambda: c.rows("SELECT * FROM c WHERE c.k >= 0"),
            lambda: c.rows("SELECT * FROM c ORDER BY c.k", size=5),
            lambda: c.rows("SELECT c.k, c.life FROM c GROUP BY c.k, c.life"),
        )

    def follow(self):
        """Reads expirations from the feed: a life that was reported as expired is expired."""
        etag = self.container.changes("*", ALL_VERSIONS)[1]
        while self.goes_on():
            begin = time.monotonic()
            rows, etag = self.container.changes(etag, ALL_VERSIONS)
            end = time.monotonic()
            for row in rows:
                if row["metadata"]["operationType"] == "delete":
                    self.seen.append((row["previous"]["life"], False, begin, end, "feed"))
            time.sleep(0.02)

    def shift(self):
        """Changes the default TTL and switches it off and on: expired stays expired."""
        while self.goes_on():
            default = self.random.choice([1, 2, -1, None])
            more = {} if default is None else {"defaultTtl": default}
            reply = self.container.redefine(**VERSIONS, **more)
            assert reply.status == 200, reply
            time.sleep(self.random.random() * 0.05)

    def move(self):
        while self.goes_on():
            seconds = self.random.choice(races.MOVES) / 1000
            self.server.admin("/_ebb/clock", {"advance_seconds": seconds})


def told_once(container, before):
    """Checks all versions of all items, from the start: lives start and end in turn."""
    there = set()
    for row in container.changes(before, ALL_VERSIONS)[0]:
        metadata = row["metadata"]
        kind, id = metadata["operationType"], metadata.get("id") or row["current"]["id"]
        assert (kind == "create") == (id not in there), f"{kind} of {id}: {row}"
        (there.discard if kind == "delete" else there.add)(id)


def race(disk, clock, shifting, seconds):
    """Runs a race and checks it."""
    with Server(data_dir=disk, clock=clock, flags=AT_ONCE, nosql=True) as server:
        server.items.create_database("race")
        made = {kind: server.items.container("race", kind) for kind in KINDS}
        before = {}
        for kind, container in made.items():
            assert container.define(**VERSIONS, defaultTtl=KINDS[kind][0]).status == 201
            before[kind] = container.changes("*", ALL_VERSIONS)[1]
        server.items.close()
        tasks = [*races.TASKS, "follow", *["shift"] * shifting]
        found = races.run(Client, KINDS, tasks, server, clock, seconds)
        for kind, container in made.items():
            told_once(container, before[kind])
        server.end()
    races.judge_all(found)
