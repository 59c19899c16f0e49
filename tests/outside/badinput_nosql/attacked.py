"""The server under attack in the NoSQL API, its witness, and the fixture data: databases,
containers and items that a refused request must not change."""

import json
import re
import time
from urllib.parse import quote

from lib import attacked
from lib.server import Server
from lib.wire import WITHIN

from badinput_nosql.wire import A, Wire, query, request

ITEMS = [
    {"id": "1", "pk": "a", "n": 1, "s": "one", "list": [1, 2, 3], "o": {"p": 1}},
    {"id": "2", "pk": "a", "n": 2, "s": "two"},
    {"id": "3", "pk": "b", "n": 3, "s": "three"},
]
ONE = {"paths": ["/pk"], "kind": "Hash", "version": 2}
TWO = {"paths": ["/t", "/u"], "kind": "MultiHash", "version": 2}
CONTAINERS = [
    {"id": "c", "partitionKey": ONE, "defaultTtl": -1},
    {"id": "off", "partitionKey": ONE},
    {"id": "h", "partitionKey": TWO},
    {"id": "u", "partitionKey": ONE, "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/n"]}]}},
]
#: Feeds that together list all resources.
FEEDS = [
    "/dbs",
    "/dbs/data/colls",
    "/dbs/data/users",
    "/dbs/data/users/u/permissions",
    "/offers",
    "/dbs/data/colls/c/sprocs",
    "/dbs/data/colls/c/triggers",
    "/dbs/data/colls/c/udfs",
    *(f"/dbs/data/colls/{it['id']}/docs" for it in CONTAINERS),
]
#: Seconds for which a signed request is reused.
FRESH = 300


class AttackedServer(attacked.AttackedServer):
    """A server with the NoSQL API only; the witness checks the items of one container."""

    def __init__(self, *flags):
        super().__init__(Server(data_dir=True, flags=flags, nosql=True, mongo=False))
        self.seen = None

    def settle(self):
        for path, body in [
            ("/dbs", {"id": "sentinel"}),
            ("/dbs/sentinel/colls", {"id": "kept", "partitionKey": ONE}),
            ("/dbs", {"id": "data"}),
            *(("/dbs/data/colls", it) for it in CONTAINERS),
            ("/dbs/data/users", {"id": "u"}),
        ]:
            self.make(path, body)
        self.keep()
        for item in ITEMS:
            self.make("/dbs/sentinel/colls/kept/docs", item, pk(item))
        self.furnish()
        assert b'"three"' in self.sentinel()[0]

    def keep(self):
        """Records the current resources as the fixture data."""
        self.kept = {
            feed: {it["id"] for it in self.listed(feed)}
            for feed in FEEDS
            if not feed.endswith(("/docs", "/offers"))
        }

    def furnish(self):
        for item in ITEMS:
            for container in ("c", "off", "u"):
                self.make(f"/dbs/data/colls/{container}/docs", item, pk(item))
        item = {"id": "1", "t": "x", "u": "y"}
        self.make("/dbs/data/colls/h/docs", item, {"x-ms-documentdb-partitionkey": '["x","y"]'})
        self.held = self.state()

    def start(self):
        super().start()
        self.asked = {}

    def recover(self):
        """Restores the data after a failure, or replaces the server, for the next cases."""
        try:
            assert self.server.alive()
            assert self.sentinel() == self.expected
            self.tidy()
        except (AssertionError, OSError):
            self.server.kill()
            self.start()
            self.expected, self.held = self.sentinel(), self.state()

    @property
    def address(self):
        return self.server.items.address

    def wire(self, **options):
        return Wire(self.address, **options)

    def run(self, verb, path, body=None, headers=None, within=5.0, **options):
        """Sends a request of the witness; returns the reply."""
        reply = self.witness.ask(request(verb, path, body, headers, **options), within)
        assert reply is not None, f"closed after {verb} {path}"
        return reply

    def make(self, path, body, headers=None):
        reply = self.run("POST", path, body, headers)
        assert reply.status == 201, f"{path} {str(body)[:300]}: {reply}"
        return reply.json

    def remove(self, path, headers=None):
        reply = self.run("DELETE", path, None, headers)
        assert reply.status == 204, f"{path}: {reply}"

    def ask_all(self, name, requests):
        """Returns the bodies of replies to requests sent together and re-signed after FRESH s."""
        signed, data = self.asked.get(name, (0, b""))
        if time.monotonic() - signed > FRESH or not data:
            data = b"".join(requests())
            self.asked[name] = (time.monotonic(), data)
        self.witness.send(data)
        replies = [self.witness.reply() for _ in range(data.count(b"\r\nx-ms-date:"))]
        assert all(it and it.status == 200 for it in replies), replies
        # Each reply about a permission has a token of its own.
        return [re.sub(rb'"_token":"[^"]*"', b"", it.body) for it in replies]

    def sentinel(self):
        kept = "/dbs/sentinel/colls/kept"
        return self.ask_all(
            "sentinel",
            lambda: [
                query("SELECT * FROM c ORDER BY c.n", path=f"{kept}/docs"),
                request("GET", kept),
                request("GET", f"{kept}/docs"),
            ],
        )

    def state(self):
        """Returns all stored data except the sentinel's items, as bytes."""
        return self.ask_all("state", lambda: [request("GET", path) for path in FEEDS])

    def unchanged(self):
        """Checks that no request had an effect."""
        state = self.state()
        self.seen = Wire.sends
        if state != self.held:
            was, self.held = self.held, state
            now = [(path, b[:300]) for path, a, b in zip(FEEDS, was, state, strict=True) if a != b]
            raise AssertionError(f"something was stored: {now}")

    def tidy(self):
        """Deletes resources that cases created and restores the fixture data."""
        self.name_user()
        for feed, kept in self.kept.items():
            for it in self.listed(feed):
                if it["id"] not in kept:
                    self.run("DELETE", f"{feed}/{quote(it['id'], safe='')}")
        for body in CONTAINERS:
            self.run("PUT", f"/dbs/data/colls/{body['id']}", body)
            docs = f"/dbs/data/colls/{body['id']}/docs"
            for item in self.listed(docs):
                key = [item["t"], item["u"]] if "t" in item else [item.get("pk", {})]
                headers = {"x-ms-documentdb-partitionkey": json.dumps(key)}
                self.run("DELETE", f"{docs}/{quote(item['id'], safe='')}", None, headers)
        self.furnish()

    def name_user(self):
        """Restores the user's name, which a request with a damaged body may have changed."""
        users = [it["id"] for it in self.listed("/dbs/data/users")]
        if "u" not in users:
            named = next(it for it in users if it not in self.kept["/dbs/data/users"])
            self.run("PUT", f"/dbs/data/users/{quote(named, safe='')}", {"id": "u"})

    def listed(self, feed):
        reply = self.run("GET", feed)
        assert reply.status == 200, f"{feed}: {reply}"
        return next(it for it in reply.json.values() if isinstance(it, list))

    def health(self):
        """Also checks that nothing was stored since the last check."""
        if self.seen != Wire.sends:
            self.unchanged()
        super().health()

    def look(self, wire):
        reply = wire.ask(request("GET", "/dbs/sentinel/colls/kept/docs/1", None, A), 30)
        assert reply is not None and reply.json["s"] == "one", reply

    def refused(self, data, status, sub=0, text=None, within=WITHIN, tls=False):
        """Sends a request that must be refused; checks reply and connection, and that nothing was
        stored. `status` and `sub` are numbers or several; `text` is one of the reply's messages, or
        with `...` at its end a prefix of one.
        """
        with self.wire(tls=tls) as wire:
            reply = wire.ask(data, within)
            judge(reply, status, sub, text)
            wire.usable(reply)
        self.unchanged()
        return reply

    def accepted(self, data, *statuses, within=WITHIN):
        """Sends an unusual but valid request."""
        with self.wire() as wire:
            reply = wire.ask(data, within)
            assert reply is not None, "closed instead of an answer"
            assert reply.status in (statuses or (200, 201, 204)), reply
            wire.usable(reply)
        return reply

    def survived(self, data, *statuses, within=WITHIN):
        """Sends malformed bytes: they get an HTTP error or a closed connection, without effect."""
        with self.wire() as wire:
            wire.send(data)
            reply = wire.reply(within)
            if reply is None:
                assert None in statuses, "closed instead of an answer"
            else:
                assert reply.status in statuses, reply
                if reply.status >= 400 and not reply.is_bare:
                    reply.errors()
                if reply.is_bare and reply.status >= 400:
                    wire.ended()
                else:
                    wire.usable(reply)
        self.unchanged()
        return reply

    def survived_any(self, data, within=WITHIN):
        """Sends a request and returns the reply, of any status."""
        with self.wire() as wire:
            reply = wire.ask(data, within)
            assert reply is not None, "closed instead of an answer"
            wire.usable(reply)
        return reply


def pk(item):
    return {"x-ms-documentdb-partitionkey": json.dumps([item["pk"]])}


def several(wanted):
    return wanted if isinstance(wanted, (tuple, set, list)) else (wanted,)


def judge(reply, status, sub=0, text=None):
    """Checks that a refusal has this status and text, in the form that clients read."""
    assert reply is not None, "closed instead of an error"
    assert reply.status in several(status), f"instead of {status}: {reply}"
    assert reply.substatus in several(sub), (
        f"sub-status {reply.substatus} instead of {sub}: {reply}"
    )
    assert "application/json" in reply.headers["content-type"], reply.headers
    texts = reply.texts()
    if text is not None:
        start = text.removesuffix("...")
        right = (lambda it: it.startswith(start)) if start != text else (lambda it: it == text)
        assert any(right(it) for it in texts), f"instead of {text!r}: {texts}"
    return reply
