"""A race of items at the deadline: writers renew them within milliseconds of it, beside readers.

Like `ghosts.race`: every life has a name, and no client may see a life dead and then, in an
operation that begins later, alive. What all versions tell is judged too.
"""

import multiprocessing
import random
import time

from ghosts.race import judge
from lib.nosql import ALL_VERSIONS
from lib.seed import SEED
from lib.server import Server

IDS = 24
WRITERS, READERS = 3, 3
#: Milliseconds by which a manual clock moves.
MOVES = (1, 3, 10, 100, 400)
#: name: (default, properties of an item)
KINDS = {"default": (1, {}), "own": (-1, {"ttl": 1})}
VERSIONS = {"changeFeedPolicy": {"retentionDuration": 10_080}}


class Client:
    """One process: what it saw is `(life, alive, begin, end)`."""

    def __init__(self, server, clock, kind, number, until):
        self.server, self.clock, self.kind = server, clock, kind
        self.number, self.until = number, until
        self.client = server.items.again()
        self.container = self.client.container("race", kind)
        self.random = random.Random(SEED * 100 + number)
        self.seen, self.last, self.lives = [], {}, 0

    def goes_on(self):
        return time.monotonic() < self.until

    def saw(self, id, life, begin, end):
        """A life alive, or none; the one last seen is then dead."""
        last = self.last.pop(id, None)
        if last not in (None, life):
            self.seen.append((last, False, begin, end))
        if life is not None:
            self.last[id] = life
            self.seen.append((life, True, begin, end))

    def body(self, id, life):
        return {"id": f"{id}", "pk": "ab"[id % 2], "k": id, "life": life, **KINDS[self.kind][1]}

    def write(self):
        """Renews by patch or upsert; an item that is not there begins a life."""
        while self.goes_on():
            id = self.random.randrange(IDS)
            begin = time.monotonic()
            reply = self.container.patch(
                f"{id}", "ab"[id % 2],
                [{"op": "set", "path": "/n", "value": self.random.random()}])
            assert reply.status in (200, 404), reply
            found = reply.json["life"] if reply.status == 200 else None
            self.saw(id, found, begin, time.monotonic())
            if found is None:
                self.lives += 1
                life = f"{self.kind}-{self.number}-{self.lives}"
                reply = self.container.create(self.body(id, life))
                assert reply.status in (201, 409), reply
            self.wait()

    def wait(self):
        """Meets the second's edge, where items die."""
        rest = -time.time() % 1
        if self.clock == "system" and rest > 0.01:
            time.sleep(min(rest - 0.01, 0.05))

    def read(self):
        c = self.container
        scans = (
            lambda: c.rows(), lambda: c.rows("SELECT * FROM c"), lambda: c.changes()[0],
            lambda: c.rows("SELECT * FROM c WHERE c.k >= 0"),
            lambda: c.rows("SELECT * FROM c ORDER BY c.k", size=5),
            lambda: c.rows("SELECT c.k, c.life FROM c GROUP BY c.k, c.life"),
        )
        while self.goes_on():
            begin = time.monotonic()
            if self.random.random() < 0.8:
                id = self.random.randrange(IDS)
                life = self.random.choice([self.point, self.ask])(id)
                self.saw(id, life, begin, time.monotonic())
            else:
                # A later page is an operation of its own; only the whole span is known.
                rows = {row["k"]: row["life"] for row in self.random.choice(scans)()}
                end = time.monotonic()
                for id in range(IDS):
                    self.saw(id, rows.get(id), begin, end)
            self.wait()

    def point(self, id):
        reply = self.container.read(f"{id}", "ab"[id % 2])
        assert reply.status in (200, 404), reply
        return reply.json["life"] if reply.status == 200 else None

    def ask(self, id):
        rows = self.container.rows(f"SELECT VALUE c.life FROM c WHERE c.k = {id}")
        assert len(rows) < 2, f"two lives of {id}: {rows}"
        return rows[0] if rows else None

    def follow(self):
        """Deaths as they are told: a life that has been told dead is dead."""
        etag = self.container.changes("*", ALL_VERSIONS)[1]
        while self.goes_on():
            begin = time.monotonic()
            rows, etag = self.container.changes(etag, ALL_VERSIONS)
            end = time.monotonic()
            for row in rows:
                if row["metadata"]["operationType"] == "delete":
                    self.seen.append((row["previous"]["life"], False, begin, end))
            time.sleep(0.02)

    def shift(self):
        """Moves the default to and fro, switches it off and on: it kills for ever."""
        while self.goes_on():
            default = self.random.choice([1, 2, -1, None])
            more = {} if default is None else {"defaultTtl": default}
            reply = self.container.redefine(**VERSIONS, **more)
            assert reply.status == 200, reply
            time.sleep(self.random.random() * 0.05)

    def move(self):
        """Moves a manual clock; two of these would be in each other's way."""
        while self.goes_on():
            seconds = self.random.choice(MOVES) / 1000
            self.server.admin("/_ebb/clock", {"advance_seconds": seconds})


def work(task, server, clock, kind, number, until, results):
    client = Client(server, clock, kind, number, until)
    try:
        getattr(client, task)()
        results.put((task, client.seen))
    except Exception as error:
        results.put((task, repr(error)))


def told_once(container, before):
    """All versions of all items, from the beginning: lives begin and end in turn."""
    there = set()
    for row in container.changes(before, ALL_VERSIONS)[0]:
        metadata = row["metadata"]
        kind, id = metadata["operationType"], metadata.get("id") or row["current"]["id"]
        assert (kind == "create") == (id not in there), f"{kind} of {id}: {row}"
        (there.discard if kind == "delete" else there.add)(id)


def race(disk, clock, shifting, seconds):
    """Runs a race and judges it."""
    flags = ["--reap-delay", "0"]
    with Server(data_dir=disk, clock=clock, flags=flags, nosql=True) as server:
        server.items.create_database("race")
        made = {kind: server.items.container("race", kind) for kind in KINDS}
        before = {}
        for kind, container in made.items():
            assert container.define(**VERSIONS, defaultTtl=KINDS[kind][0]).status == 201
            before[kind] = container.changes("*", ALL_VERSIONS)[1]
        server.items.close()
        tasks = ["write"] * WRITERS + ["read"] * READERS + ["follow"] + ["shift"] * shifting
        jobs = [(task, kind) for kind in KINDS for task in tasks]
        jobs += [("move", "own")] * (clock == "manual")
        until = time.monotonic() + seconds
        found = run(jobs, server, clock, until, seconds)
        for kind, container in made.items():
            told_once(container, before[kind])
        assert server.stop() == 0
        if disk:
            verified = server.verify()
            assert verified.returncode == 0, verified.stdout + verified.stderr
    assert [seen for _, seen in found if isinstance(seen, str)] == []
    judge([one for _, seen in found for one in seen])


def run(jobs, server, clock, until, seconds):
    """All jobs, each in a process of its own; what they saw."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    workers = []
    for number, (task, kind) in enumerate(jobs):
        args = (task, server, clock, kind, number, until, results)
        workers.append(context.Process(target=work, args=args, daemon=True))
        workers[-1].start()
    found = [results.get(timeout=seconds + 60) for _ in workers]
    for worker in workers:
        worker.join(10)
    return found
