"""Clients whose data ends with time, while the clock is moved: change feeds that were begun and
left, whose versions are kept for a limited time, and documents that expire."""

import time

from lib import nosql
from lib.server import date

from storm.bounds import DATABASE, Part, ask, call
from storm.client import Refused


class Feeds(Part):
    """Feeds of all versions that clients begin and leave: versions are kept for a limited time."""

    CLIENTS = 2
    #: Containers of each client that exist at a time, and feeds that are begun.
    LIVE, BEGUN = 5, 16
    #: Retention in seconds of feeds that began by themselves, and of those with a policy.
    RETENTION, SHORT = 7 * 86_400, 60
    TEXT = "x" * 2_000

    def fill(self):
        self.feeds, self.numbers = {}, [0] * self.CLIENTS

    def begin(self):
        self.begun = 0

    def work(self, number, random):
        client = self.items()
        while self.goes_on():
            try:
                self.leave_feed(client, number, random)
                own = [name for name in self.feeds if name.startswith(f"feed{number}-")]
                if len(own) > self.LIVE:
                    self.drop(client, random.choice(own))
                self.read_short(client, own)
            except Refused:
                time.sleep(0.01)
        client.close()

    @staticmethod
    def docs(name):
        return f"dbs/{DATABASE}/colls/{name}/docs"

    def leave_feed(self, client, number, random):
        """Creates a container, begins its feed, writes, reads a page and leaves."""
        self.numbers[number] += 1
        name = f"feed{number}-{self.numbers[number]}"
        short = random.random() < 0.5
        more = {"changeFeedPolicy": {"retentionDuration": self.SHORT // 60}} if short else {}
        if random.random() < 0.5:
            more["defaultTtl"] = -1
        held = {"short": short, "ttl": "defaultTtl" in more, "items": {}, "asked": name}
        self.feeds[name] = held
        container = self.server.items.container(DATABASE, name)
        call(client, "POST", f"dbs/{DATABASE}/colls", container.definition(**more))
        held["after"] = self.page(client, name, "*").etag
        for n in range(4):
            self.write(client, name, f"i{n}", random)
        self.write(client, name, "i0", random)
        held["asked"] = None
        events = self.page(client, name, held["after"], size=1).json["Documents"]
        assert len(events) == 1, events
        with self.lock:
            self.begun += 1
            if self.begun >= self.BEGUN:
                self.exceeded.set()

    def page(self, client, name, after, size=1_000):
        headers = {**nosql.ALL_VERSIONS, **nosql.RANGE, "x-ms-max-item-count": str(size)}
        headers.update(nosql.if_none_match(after))
        while True:
            try:
                return call(client, "GET", self.docs(name), None, headers)
            except Refused:
                time.sleep(0.01)

    def write(self, client, name, id, random):
        item = {"id": id, "pk": "a", "n": 1, "text": self.TEXT}
        if self.feeds[name]["ttl"] and random.random() < 0.5:
            item["ttl"] = random.randint(5, 200)
        held = self.feeds[name]
        held["asked"] = id
        headers = {**nosql.of_partition("a"), **nosql.UPSERT}
        while True:
            try:
                reply = call(client, "POST", self.docs(name), item, headers)
                break
            except Refused:
                time.sleep(0.01)
        held["items"].setdefault(id, []).append((reply.json["_ts"], item.get("ttl")))

    def drop(self, client, name):
        self.feeds[name]["asked"] = "drop"
        call(client, "DELETE", f"dbs/{DATABASE}/colls/{name}")
        del self.feeds[name]

    def read_short(self, client, names):
        """Reads a feed with a short retention from its start."""
        names = [name for name in names if self.feeds.get(name, {}).get("short")]
        if names and (after := self.feeds[names[0]].get("after")):
            known = self.storm.clock // 1_000
            reply = self.page(client, names[0], after)
            events = reply.json["Documents"] if reply.status == 200 else []
            assert not (old := self.older(events, known - self.SHORT)), f"at {known}: {old}"

    @staticmethod
    def older(events, second):
        """Returns the writes among these events that were done before this second."""
        return [
            event["metadata"]
            for event in events
            if event["metadata"]["operationType"] != "delete" and event["metadata"]["crts"] < second
        ]

    def check(self):
        wrong, now = [], self.server.now_ms() // 1_000
        for name, held in list(self.feeds.items()):
            reply = self.server.items.container(DATABASE, name).get()
            if reply.status == 404 and held["asked"] in (name, "drop"):
                del self.feeds[name]
                continue
            if reply.status != 200:
                wrong.append(f"container {name}: {reply}")
            elif "after" in held:
                reply = self.page(self.server.items, name, held["after"])
                events = reply.json["Documents"] if reply.status == 200 else []
                wrong += [f"{name}: {text}" for text in self.judge(held, events, now)]
        return wrong

    def outlive(self):
        """Moves the clock beyond the retention; returns the errors in the events then visible."""
        self.server.advance((self.RETENTION + 86_400) * 1_000)
        now, wrong = self.server.now_ms() // 1_000, []
        for name, held in self.feeds.items():
            if "after" not in held:
                continue
            reply = self.page(self.server.items, name, held["after"])
            events = reply.json["Documents"] if reply.status == 200 else []
            old = self.older(events, now - self.RETENTION)
            if old:
                wrong.append(f"{name} shows at {now} events that are past their retention: {old}")
        return wrong

    def judge(self, held, events, now):
        """Compares the events of a feed, read from its begin, with the acknowledged writes."""
        retention = self.SHORT if held["short"] else self.RETENTION
        wrong = [f"{old} is shown at {now}" for old in self.older(events, now - retention)]
        for id, writes in held["items"].items():
            own = [event["metadata"] for event in events if self.is_of(event, id)]
            written = [it["crts"] for it in own if it["operationType"] != "delete"]
            wanted = [ts for ts, _ in writes if ts >= now - retention]
            ends = [it for it in own if it["operationType"] == "delete"]
            if any(written.count(ts) < wanted.count(ts) for ts in wanted):
                wrong.append(f"{id}: written at {written}, acknowledged at {wanted}")
            if len(written) > len(wanted) and held["asked"] != id:
                wrong.append(f"{id}: written at {written}, requested: {wanted}")
            ts, ttl = writes[-1]
            expired = ttl is not None and ts + ttl <= now
            if held["asked"] != id and expired and not held["short"] and not ends:
                wrong.append(f"{id} has expired without an event")
            if held["asked"] != id and not expired and len(ends) >= len(writes):
                wrong.append(f"{id} has not expired: {ends}")
            if not all(it["timeToLiveExpired"] for it in ends):
                wrong.append(f"{id} was deleted without a request: {ends}")
        return wrong

    @staticmethod
    def is_of(event, id):
        return (event["current"].get("id") or event["metadata"].get("id")) == id


class Lives(Part):
    """Documents and items that expire while the clock is moved: none is visible from the moment at
    which a move that expires it was acknowledged, and none is missing before."""

    CLIENTS = 3
    #: Visible documents that were checked, and expirations among those written.
    CHECKED, EXPIRED = 300, 60

    def fill(self):
        self.rows["lives"].create_index("at", expireAfterSeconds=0)
        container = self.server.items.container(DATABASE, "lives")
        assert container.define(defaultTtl=-1).status == 201
        #: Milliseconds at which acknowledged documents expire, by API and id.
        self.ends, self.unknown = {"mongo": {}, "nosql": {}}, {"mongo": set(), "nosql": set()}
        self.numbers = [0] * self.CLIENTS

    def begin(self):
        self.seen = 0

    def work(self, number, random):
        with self.connect() as client:
            items, rows = self.items(), client[DATABASE]["lives"]
            step = [
                lambda: self.move(client, random),
                lambda: self.documents(rows, random),
                lambda: self.lives(items, random),
            ][number]
            while self.goes_on():
                try:
                    step()
                except Refused:
                    time.sleep(0.01)
            items.close()

    def move(self, client, random):
        """Moves the clock, as far as the documents of other clients live long enough."""
        to = self.storm.clock + random.choice([1, 10, 100, 1_000, 2_500])
        if to < self.storm.latest:
            ask(lambda: client.admin.command({"ebbClock": 1, "set": date(to)}))
            self.storm.clock = to
        time.sleep(0.01)
        ends = [end for ends in self.ends.values() for end in list(ends.values())]
        ended = sum(end <= self.storm.clock for end in ends)
        if self.seen >= self.CHECKED and ended >= self.EXPIRED:
            self.exceeded.set()

    def new(self, door):
        number = 1 if door == "mongo" else 2
        self.numbers[number] += 1
        id = f"{door}-{self.numbers[number]}"
        self.unknown[door].add(id)
        return id

    def note(self, door, id, end):
        self.ends[door][id] = end
        self.unknown[door].discard(id)

    def documents(self, rows, random):
        id, end = self.new("mongo"), self.storm.clock + random.randint(1, 30_000)
        ask(lambda: rows.insert_one({"_id": id, "at": date(end)}))
        self.note("mongo", id, end)
        known = self.storm.clock
        found = ask(lambda: list(rows.find({}, {"_id": 1}).limit(90)))
        self.look("mongo", [row["_id"] for row in found], known)

    def lives(self, items, random):
        id, ttl = self.new("nosql"), random.randint(1, 30)
        body = {"id": id, "pk": "a", "n": 1, "ttl": ttl}
        docs = f"dbs/{DATABASE}/colls/lives/docs"
        reply = call(items, "POST", docs, body, nosql.of_partition("a"))
        self.note("nosql", id, (reply.json["_ts"] + ttl) * 1_000)
        known = self.storm.clock
        body = {"query": "SELECT VALUE c.id FROM c", "parameters": []}
        reply = call(items, "POST", docs, body, {**nosql.QUERY, "x-ms-max-item-count": "90"})
        self.look("nosql", reply.json["Documents"], known)

    def look(self, door, ids, known):
        ends = self.ends[door]
        ghosts = [id for id in ids if ends.get(id, known + 1) <= known]
        assert not ghosts, f"{ghosts} at {known}, they expired at {[ends[id] for id in ghosts]}"
        self.seen += len(ids)

    def check(self):
        wrong, now = [], self.server.now_ms()
        if now < self.storm.clock:
            wrong.append(f"the clock went back from {self.storm.clock} to {now}")
        self.storm.clock = now
        container = self.server.items.container(DATABASE, "lives")
        for door, ids in (
            ("mongo", [row["_id"] for row in self.rows["lives"].find()]),
            ("nosql", container.rows("SELECT VALUE c.id FROM c", size=1_000)),
        ):
            ends = self.ends[door]
            live = {id for id, end in ends.items() if now < end}
            lost, odd = live - set(ids), set(ids) - live - self.unknown[door]
            if lost or odd:
                wrong.append(f"{door} at {now}: lost {sorted(lost)[:5]}, ghosts {sorted(odd)[:5]}")
            self.ends[door] = {id: ends[id] for id in live}
        return wrong
