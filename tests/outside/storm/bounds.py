"""Clients that exceed the bounds of what the server keeps in memory for clients and collections:
statistics of collections, log lines, cursors, views, pages of NoSQL queries."""

import contextlib
import http.client
import subprocess
import threading
import time

from lib import nosql
from lib.ending import is_end, tells_end
from lib.seed import TORTURE
from lib.server import EBB_BIN
from pymongo.errors import BulkWriteError, PyMongoError

from storm.client import Ended, Refused

#: The database of these clients in both APIs.
DATABASE = "bounds"
#: Documented error codes: no cursor may be opened, memory is scarce, the view was ended.
TOO_MANY_CURSORS, NO_MEMORY, VIEW_ENDED = 146, 365, 239
#: Error codes of requests whose collection others rename or drop: missing, in use, changed.
CHANGED = (26, 48, 175)
#: Value of --max-cursors.
CURSORS = 150


def ask(request, *codes):
    """Returns the reply of a request of the MongoDB API. Raises Refused for these error codes, and
    when memory is scarce or the view was ended, as may happen to every request."""
    try:
        return request()
    except PyMongoError as error:
        if is_end(error):
            raise Ended from error
        code = getattr(error, "code", None)
        if isinstance(error, BulkWriteError) and error.details["writeErrors"]:
            code = error.details["writeErrors"][0]["code"]
        if code in (NO_MEMORY, VIEW_ENDED, *codes):
            raise Refused(code, str(error)) from error
        raise


def call(client, method, path, body=None, headers=(), allowed=()):
    """Returns the reply of a request of the NoSQL API, which must succeed or have an allowed
    status. Raises Refused if memory is scarce or the request conflicts with others."""
    try:
        reply = client.call(method, path, body, headers)
    except (ConnectionError, TimeoutError, http.client.HTTPException) as error:
        raise Ended from error
    text = reply.body.decode(errors="replace")
    if reply.status in (500, 503) and (tells_end(text) or "stopping" in text):
        raise Ended
    if reply.status in (449, 503):
        raise Refused(reply.status, text)
    assert reply.status < 400 or reply.status in allowed, f"{method} {path}: {reply}"
    return reply


class Part:
    """The clients that exceed one bound, each in a thread."""

    CLIENTS = 1
    #: Seconds that a client waits before each step once the bound was exceeded.
    PAUSE = 0.3

    def __init__(self, storm):
        self.storm, self.server = storm, storm.server
        self.lock = threading.Lock()
        #: Set once the bound was exceeded since the server's start.
        self.exceeded = threading.Event()

    def fill(self):
        """Called once, before the clients."""

    def begin(self):
        """Called after each start, before the clients."""

    def work(self, number, random):
        """Works until the server ends or the storm ends."""
        raise NotImplementedError

    def check(self):
        """Returns the errors in a restarted server that no client uses."""
        return []

    def databases(self):
        """Returns the names of databases besides `DATABASE`."""
        return []

    def goes_on(self):
        """Returns whether clients continue; slows down clients that have exceeded their bound."""
        if self.exceeded.is_set():
            time.sleep(self.PAUSE)
        return not self.storm.over.is_set()

    @contextlib.contextmanager
    def connect(self, **options):
        client = self.server.connect(retryWrites=False, retryReads=False, maxPoolSize=1, **options)
        try:
            yield client
        finally:
            if self.storm.leaves:
                client.close()
            else:
                # Closing tries for ten seconds to end the sessions at a server that has died.
                threading.Thread(target=client.close, daemon=True).start()

    def items(self):
        return nosql.Client(self.server.items.address, timeout=120)

    @property
    def rows(self):
        return self.server.client[DATABASE]


class Statistics(Part):
    """Commands on more collections than statistics are kept for. Each client renames its collection
    again and again, and uses it under every name."""

    CLIENTS = 4
    #: Collections with statistics, and names used beyond that in a round that clients leave: only
    #: then are they looked at.
    MOST, MORE = 5_000, 200
    #: Names used in another round.
    FEW = MOST + MORE if TORTURE else 400
    #: Share of the names on which commands of all nine categories run.
    WHOLE = 1.0 if TORTURE else 0.02
    DOCUMENTS = ({"_id": 0, "n": 0}, {"_id": 1, "n": 1}, {"_id": 2, "n": 2})

    def fill(self):
        #: The possible names of each client's collection.
        self.names = [[f"name{number}-0"] for number in range(self.CLIENTS)]
        self.given = 0
        for [name] in self.names:
            self.rows[name].insert_many([dict(row) for row in self.DOCUMENTS])

    def begin(self):
        self.first = self.given

    def work(self, number, random):
        with self.connect() as client:
            while self.goes_on():
                [old], new = self.names[number], self.new_name(number)
                self.names[number] = [old, new]
                try:
                    self.rename(client.admin, old, new)
                except Refused:
                    self.names[number] = [old]
                    continue
                self.names[number] = [new]
                try:
                    self.use(client[DATABASE], new, old, random)
                except Refused:
                    continue
                most = self.MOST + self.MORE if self.storm.leaves else self.FEW
                if self.given - self.first >= most:
                    self.exceeded.set()

    def new_name(self, number):
        with self.lock:
            self.given += 1
            return f"name{number}-{self.given}"

    @staticmethod
    def rename(admin, old, new):
        command = {"renameCollection": f"{DATABASE}.{old}", "to": f"{DATABASE}.{new}"}
        ask(lambda: admin.command(command))

    def use(self, rows, new, old, random):
        self.run(rows, {"find": new, "limit": 1, "singleBatch": True})
        chance = random.random()
        if chance < self.WHOLE:
            self.use_whole(rows, new)
        if chance < 0.01:
            self.look(rows, new, old)

    def run(self, rows, command):
        return ask(lambda: rows.command(command), TOO_MANY_CURSORS)

    def use_whole(self, rows, name):
        """Runs a command of each category: the statistics have a histogram of each."""
        first = self.run(rows, {"find": name, "batchSize": 1})["cursor"]["id"]
        for command in (
            {"getMore": first, "collection": name},
            {"insert": name, "documents": [{"_id": 9, "n": 9}]},
            {"update": name, "updates": [{"q": {"_id": 9}, "u": {"$inc": {"n": 1}}}]},
            {"findAndModify": name, "query": {"_id": 9}, "update": {"$inc": {"n": 1}}},
            {"delete": name, "deletes": [{"q": {"_id": 9}, "limit": 1}]},
            {"count": name},
            {"collStats": name},
            {"createIndexes": name, "indexes": [{"key": {"n": 1}, "name": "n_1"}]},
            {"dropIndexes": name, "index": "n_1"},
        ):
            self.run(rows, command)

    def look(self, rows, new, old):
        """Checks that this collection is counted although many others were, and that `top` shows no
        collection under its former name."""
        stage = {"$collStats": {"latencyStats": {"histograms": True}}}
        [stats] = ask(lambda: list(rows[new].aggregate([stage])), TOO_MANY_CURSORS)
        reads = stats["latencyStats"]["reads"]
        assert reads["ops"] >= 1, f"{new} is not counted"
        assert sum(it["count"] for it in reads["histogram"]) == reads["ops"], reads
        totals = ask(lambda: rows.client.admin.command("top"), TOO_MANY_CURSORS)["totals"]
        assert f"{DATABASE}.{new}" in totals
        assert f"{DATABASE}.{old}" not in totals
        assert len(totals) < 200, f"{len(totals)} collections in top"

    def check(self):
        wrong, all_names = [], self.rows.list_collection_names()
        for number, names in enumerate(self.names):
            found = [name for name in all_names if name.startswith(f"name{number}-")]
            if len(found) != 1 or found[0] not in names:
                wrong.append(f"{found} instead of one of {names}")
                continue
            self.names[number] = found
            rows = list(self.rows[found[0]].find({"_id": {"$lt": 9}}))
            if rows != list(self.DOCUMENTS):
                wrong.append(f"{found[0]} has {rows}")
            self.rows[found[0]].delete_many({"_id": 9})
            self.rows[found[0]].drop_indexes()
        return wrong


class Log(Part):
    """More log lines than are kept, some of them longer than the limit of a line. Other clients
    write lines too, since every operation counts as slow."""

    LINES, BYTES = 1_024, 1_024
    #: Characters that a log line shows with several bytes each.
    NAME, APP = "\x01" * 200, "\x7f" * 120

    def fill(self):
        self.rows[self.NAME].insert_one({"_id": 0})

    def begin(self):
        self.last = 0

    def work(self, number, random):
        with self.connect(appname=self.APP) as client:
            while self.goes_on():
                try:
                    self.step(client)
                except Refused:
                    continue

    def step(self, client):
        for _ in range(1 if self.exceeded.is_set() else 20):
            ask(lambda: client[DATABASE][self.NAME].find_one({"_id": 0}))
        total, lines = self.look(client)
        assert self.last <= total, f"{total} lines after {self.last}"
        self.last = total
        if total > self.LINES and max(len(line) for line in lines) == self.BYTES:
            self.exceeded.set()

    def look(self, client):
        reply = ask(lambda: client.admin.command("getLog", "global"))
        total, lines = reply["totalLinesWritten"], reply["log"]
        assert len(lines) == min(total, self.LINES), f"{len(lines)} lines of {total}"
        assert all(len(line.encode()) <= self.BYTES for line in lines), "a line is too long"
        return total, lines

    def check(self):
        """The lines are those since the start."""
        total, lines = self.look(self.server.client)
        ready = sum('"ready"' in line for line in lines)
        return [] if ready == 1 or total > self.LINES else [f"{ready} starts in the log"]


class Cursors(Part):
    """More cursors than may be open, left behind after their first batch. Some hold much memory,
    and are ended when others need it."""

    CLIENTS = 2
    TEXT = "x" * 8_000

    def fill(self):
        self.rows["cursors"].insert_many(
            [{"_id": n, "n": -n % 41, "text": self.TEXT} for n in range(40)]
        )

    def work(self, number, random):
        with self.connect() as client:
            rows, opened = client[DATABASE]["cursors"], []
            while self.goes_on():
                try:
                    opened.append(self.open(rows, random))
                except Refused as refused:
                    if refused.code != TOO_MANY_CURSORS:
                        continue
                    self.exceeded.set()
                    random.shuffle(opened)
                    for _ in range(len(opened) // 2):
                        self.finish(opened.pop(), random)
            for found, _ in opened:
                ask(found.close)

    @staticmethod
    def open(rows, random):
        """Opens a cursor; with a sort it holds the rest of the collection."""
        found = rows.find({}, batch_size=2)
        if random.random() < 0.5:
            found = found.sort("n", 1)
        first = ask(lambda: next(found), TOO_MANY_CURSORS)
        return found, [first["_id"]]

    @staticmethod
    def finish(cursor, random):
        """Reads a cursor to its end, or closes it."""
        found, ids = cursor
        if random.random() < 0.7:
            return ask(found.close)
        try:
            # 43: it was closed to free memory.
            ids += [row["_id"] for row in ask(lambda: list(found), 43)]
        except Refused:
            return None
        assert sorted(ids) == list(range(40)), f"a cursor returned {ids}"
        return None


class Views(Part):
    """Long reads of one view, for which the server would keep more replaced versions than it may:
    the oldest view is ended."""

    CLIENTS = 2
    PAUSE = 2.0
    #: Value of --old-views-disk.
    BYTES = 8 << 20
    #: Slow reads that were ended.
    ENDED = 2

    def fill(self):
        # It takes far longer than the writers do, but not between two reads, which fail in the end.
        condition = {"input": {"$range": [0, 3_000]}, "cond": {"$eq": ["$$this", 7]}}
        self.slow = {"$expr": {"$gt": [{"$size": {"$filter": condition}}, 1]}}
        self.rows["slow"].insert_many([{"_id": n} for n in range(5_000)])

    def begin(self):
        self.ended = 0

    def work(self, number, random):
        # A read that continues would hold up clients that are to leave.
        while self.goes_on() and not (self.storm.leaves and self.exceeded.is_set()):
            if number:
                self.ended += self.count()
                if self.ended >= self.ENDED:
                    self.exceeded.set()
            else:
                self.backup()

    def count(self):
        """Returns whether a slow read was ended."""
        with self.connect() as client:
            try:
                rows = client[DATABASE]["slow"]
                ask(lambda: rows.count_documents(self.slow))
            except Refused as refused:
                return refused.code == VIEW_ENDED
        return False

    def backup(self):
        """Reads a backup slowly. It fails if its view is ended."""
        address = self.server.admin_url.removeprefix("http://").strip("/")
        command = [EBB_BIN, "backup", "-", "--admin-addr", address]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=subprocess.DEVNULL, bufsize=0) as taken:
            try:
                while taken.stdout.read(1 << 18) and not self.storm.over.is_set():
                    time.sleep(0.1)
            finally:
                taken.kill()


class Pages(Part):
    """More queries whose next page is kept than may be: clients leave them, and continue some."""

    CLIENTS = 3
    #: Kept pages, and rows of each query.
    MOST, ROWS = 256, 60
    #: Pages of a query that are read before it is left. From the second page on the rest is kept.
    LEFT_AFTER = 2
    #: Columns of each query: a number that makes it another query, and a text with which the kept
    #: pages need more memory than they may take.
    MORE = "{k} AS k, '" + "x" * 1_000 + "' AS text"
    QUERIES = (
        f"SELECT DISTINCT c.a, {MORE} FROM c",
        f"SELECT c.a, COUNT(1) AS n, {MORE} FROM c GROUP BY c.a",
        f"SELECT c.a, {MORE} FROM c WHERE c.n < 60 ORDER BY c.text",
    )

    def fill(self):
        container = self.server.items.container(DATABASE, "pages")
        assert container.define().status == 201
        for n in range(2 * self.ROWS):
            item = {"id": str(n), "pk": "a", "n": n, "a": n % self.ROWS, "text": f"{n:04}"}
            assert container.create(item).status == 201

    def begin(self):
        self.left = 0

    def work(self, number, random):
        client, kept = self.items(), []
        while self.goes_on():
            kept.append(self.leave(client, number * 100_000 + len(kept), random))
            with self.lock:
                self.left += 1
                if self.left > self.MOST + 10:
                    self.exceeded.set()
            if len(kept) > 150:
                random.shuffle(kept)
                for _ in range(20):
                    self.follow(client, *kept.pop())
                del kept[:50]
        client.close()

    def leave(self, client, k, random):
        """Reads two pages of a query; returns the query, its rows so far and the continuation."""
        query = random.choice(self.QUERIES).format(k=k)
        rows, after = [], None
        for _ in range(self.LEFT_AFTER):
            found, after = self.page(client, query, after)
            rows += found
        assert after, f"{query[:60]} has only {len(rows)} rows"
        return query, rows, after

    def page(self, client, query, after):
        headers = {**nosql.QUERY, "x-ms-max-item-count": "10"}
        if after:
            headers["x-ms-continuation"] = after
        body = {"query": query, "parameters": []}
        while True:
            try:
                reply = call(client, "POST", f"dbs/{DATABASE}/colls/pages/docs", body, headers)
                return reply.json["Documents"], reply.continuation
            except Refused:
                time.sleep(0.01)

    def follow(self, client, query, rows, after):
        """Reads the rest of a query, kept or not."""
        rows = list(rows)
        while after:
            found, after = self.page(client, query, after)
            rows += found
        numbers = sorted(row["a"] for row in rows)
        assert numbers == list(range(self.ROWS)), f"{query[:60]} returned {numbers}"
