"""A container on a server and its model, changed together and compared on many paths."""

from lib import pair
from lib.nosql import ALL_VERSIONS, stripped

from nosql.model import Event, Items, runs, settled

POLICY = {
    "indexingMode": "consistent",
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": "/pad/?"}],
    "compositeIndexes": [
        [{"path": "/g", "order": "ascending"}, {"path": "/k", "order": "ascending"}]
    ],
}


def meaningful(ttl):
    return type(ttl) is int and (ttl == -1 or 0 < ttl < 2**31)


class Pair(pair.Pair):
    """Container `p`. The partition key is the id's last letter."""

    PAD = "x" * 20_000

    def __init__(self, data_dir=None, pad=False, versions=True, server=None):
        super().__init__(data_dir, pad=pad, nosql=True, server=server)
        self.commits = 0
        self.versions = versions

    def begin(self):
        client = self.server.items
        assert client.create_database("p").status == 201
        self.container = client.container("p", "p")
        reply = self.container.define(**self.definition("off"))
        assert reply.status == 201, reply
        self.model = Items(self.server.now_ms())
        #: Positions in the feeds: (ETag, the last commit), and (ETag, number of events until then).
        self.latest = [(self.container.changes("*")[1], 0)]
        self.all = [(self.container.changes("*", ALL_VERSIONS)[1], 0)] if self.versions else []

    def definition(self, default):
        return {
            "indexingPolicy": POLICY,
            "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/u"]}]},
            **({} if default == "off" else {"defaultTtl": default}),
            **(
                {"changeFeedPolicy": {"retentionDuration": 10_080, "retainPreviousImages": True}}
                if self.versions
                else {}
            ),
        }

    # Items. `k` and `u` are the id, so that every index can find an item.

    def full(self, id, body, one_of_many=False):
        self.writes += 1
        self.commits += not one_of_many
        return {
            "id": id,
            "pk": id[-1],
            "k": id,
            "u": id,
            "g": 1,
            "write": self.writes,
            "commit": self.commits,
            **self.pad,
            **body,
        }

    def refuses(self, body):
        return self.model.default != "off" and "ttl" in body and not meaningful(body["ttl"])

    def judge(self, reply, status, what):
        assert reply.status == status, f"{what}: {reply}, expected {status}"

    def insert(self, id, body):
        full, there = self.full(id, body), id in self.model.live
        status = 409 if there else 400 if self.refuses(body) else 201
        reply = self.container.create(full)
        # Either of the two reasons may be reported.
        if not (there and self.refuses(body) and reply.status == 400):
            self.judge(reply, status, f"create of {id}")
        if status == 201:
            self.model.put(id, full)

    def replace(self, id, body, upsert=False):
        full, there = self.full(id, body), id in self.model.live
        status = 200 if there else 201 if upsert else 404
        status = 400 if self.refuses(body) else status
        write = self.container.upsert if upsert else self.container.replace
        reply = write(full)
        if status == 400 and not there and not upsert and reply.status == 404:
            return
        self.judge(reply, status, f"{'upsert' if upsert else 'replace'} of {id}")
        if status < 300:
            self.model.put(id, full)

    def change(self, id, change):
        """`change` maps properties to values; None removes the property."""
        life = self.model.live.get(id)
        body = dict(life.body) if life else {}
        self.writes += 1
        self.commits += 1
        change = {**change, "write": self.writes, "commit": self.commits}
        operations = [
            {"op": "set", "path": f"/{name}", "value": value}
            if value is not None
            else {"op": "remove", "path": f"/{name}"}
            for name, value in change.items()
            if value is not None or name in body
        ]
        body.update(change)
        body = {name: value for name, value in body.items() if value is not None}
        reply = self.container.patch(id, id[-1], operations)
        bad = change.get("ttl") is not None and self.refuses(change)
        status = 404 if life is None else 400 if bad else 200
        self.judge(reply, status, f"patch of {id}")
        if status == 200:
            self.model.put(id, body)

    def delete(self, id):
        there = id in self.model.live
        reply = self.container.delete(id, id[-1])
        self.judge(reply, 204 if there else 404, f"delete of {id}")
        if there:
            self.model.remove(id)

    def batch(self, ids, body, kind):
        """Creates or upserts in one partition, atomically."""
        ids = [id for id in dict.fromkeys(ids) if id[-1] == ids[0][-1]]
        self.commits += 1
        fulls = [self.full(id, body, True) for id in ids]
        reply = self.container.batch(
            ids[0][-1], [{"operationType": kind, "resourceBody": full} for full in fulls]
        )
        there = [id in self.model.live for id in ids]
        fails = self.refuses(body) or (kind == "Create" and any(there))
        self.judge(reply, 207 if fails else 200, f"batch of {kind} of {ids}")
        if not fails:
            for full in fulls:
                self.model.put(full["id"], full)

    # TTL settings and reaping.

    def default(self, value):
        reply = self.container.redefine(**self.definition(value))
        self.judge(reply, 200, f"default {value}")
        self.model.set_default(value)

    def reap(self):
        self.server.wait_until_reaped(("p", "p"), worth=self.server.items_worth_reaping)

    # Comparison.

    def check(self):
        live, c = sorted(self.model.live), self.container
        for how, rows in (
            ("query", c.rows("SELECT VALUE c.id FROM c")),
            ("index", c.rows("SELECT VALUE c.id FROM c WHERE c.k >= ''")),
            ("order", c.rows("SELECT VALUE c.id FROM c ORDER BY c.g, c.k", size=3)),
            ("groups", c.rows("SELECT VALUE c.u FROM c GROUP BY c.u")),
        ):
            assert sorted(rows) == live, how
        assert c.rows("SELECT VALUE COUNT(1) FROM c") == [len(live)], "count"
        assert self.server.expiry("p", "p")["live"]["documents"] == len(live), "books"

    def check_items(self, ids):
        """Compares whole items by the read feed and point reads."""
        bodies = {id: life.body for id, life in self.model.live.items()}
        assert {row["id"]: stripped(row) for row in self.container.rows()} == bodies, "read feed"
        for id in ids:
            reply = self.container.read(id, id[-1])
            assert reply.status == (200 if id in bodies else 404), f"read of {id}"
            assert reply.status == 404 or stripped(reply.json) == bodies[id], f"{id}: {reply}"

    def check_feeds(self, choose):
        """Compares both feeds from the start and a position that `choose` picks; records one."""
        rows, after = self.container.changes(size=choose([None, 1, 2]))
        self.compare_latest(rows, 0)
        self.latest.append((after, self.commits))
        etag, since = choose(self.latest)
        self.compare_latest(self.container.changes(etag)[0], since)
        if self.versions:
            self.check_versions(choose)

    def compare_latest(self, rows, since):
        """Compares bodies too, but reports a difference by ids and writes."""
        found = runs(map(stripped, rows), lambda body: body["commit"], lambda body: body["id"])
        expected = self.model.latest(since)
        if found != expected:
            told = [[(body["id"], body["write"]) for body in each] for each in (found, expected)]
            raise AssertionError(f"feed since {since}: {told[0]}, expected {told[1]}")

    def check_versions(self, choose):
        etag, since = choose(self.all)
        rows, after = self.container.changes(etag, ALL_VERSIONS, choose([None, 1, 3]))
        found, expected = settled(map(event, rows)), settled(self.model.events[since:])
        if found != expected:
            at = [one == other for one, other in zip(found, expected, strict=False)]
            at = at.index(False) if False in at else len(at)
            raise AssertionError(
                f"all versions since {since}, at {at}: {list(map(str, found[at : at + 3]))}, "
                f"expected {list(map(str, expected[at : at + 3]))}"
            )
        self.all.append((after, len(self.model.events)))


def event(row):
    """Returns an entry of the feed of all versions in the form of the model."""
    metadata = row["metadata"]
    kind = "expired" if metadata.get("timeToLiveExpired") else metadata["operationType"]
    current = stripped(row["current"]) or None
    previous = stripped(row["previous"]) if row.get("previous") else None
    if kind == "replace" and previous is None:
        raise AssertionError(f"no previous image: {row}")
    id = metadata.get("id") or current["id"]
    return Event(kind, id, current, previous, metadata["crts"])
