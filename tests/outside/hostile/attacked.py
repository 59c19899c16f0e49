"""The servers that get the corpus, and what has to hold after each entry: the witness's documents
are the same, others are served at once, memory is bounded, the log has a line at most and none of
what was sent."""

import json
import urllib.parse

import badinput.wire
import badinput_nosql.wire
from access.guarded import Guarded
from badinput.wire import msg
from badinput_nosql.wire import A, request
from lib import attacked
from lib.server import Server

from hostile.entry import DATABASE, ITEMS, KEPT, MARK

#: Resident memory after an entry, whatever it was.
MOST_MEMORY = 600 << 20
#: Longest line of a log, whatever is in it.
LONGEST_LINE = 4096
USER, PASSWORD = "ann", "ann's password"
#: A key of no account.
OTHER_KEY = "AAAA" * 21 + "AA=="
DOCUMENTS = [
    {"_id": i, "n": i, "s": "kept text", "a": [1, i], "list": [1, 2, 3], "o": {"p": 1}}
    for i in range(3)
]
DOCUMENT_OF_MARKUP = {"id": "markup", "pk": "a", "s": "<script>alert(1)</script>"}
KEPT_ITEMS = [
    {"id": "1", "pk": "a", "n": 1, "s": "one", "list": [1, 2, 3]},
    {"id": "2", "pk": "a", "n": 2, "s": "two"},
    DOCUMENT_OF_MARKUP,
]
KEY = {"paths": ["/pk"], "kind": "Hash", "version": 2}


class Place:
    """What an entry is sent through: a connection at one station of one server."""

    def __init__(self, wire, ask=None):
        self.wire, self.ask = wire, ask


def unsigned(verb, path, body=None, headers=None, **options):
    """A request without a signature, unless the entry brings one."""
    return request(verb, path, body, {"authorization": None, **(headers or {})}, **options)


def wrongly_signed(verb, path, body=None, headers=None, **options):
    return request(verb, path, body, headers, key=OTHER_KEY, **options)


SIGNERS = {
    "without a signature": unsigned,
    "with a wrong signature": wrongly_signed,
    "with a right signature": request,
}


def goes_on(wire):
    """Whether the server still answers on a connection to the MongoDB API."""
    reply = wire.ask(msg([("ping", 1), ("$db", "admin")]))
    assert reply is None or reply["ok"] == 1, reply
    return reply is not None


def left(said):
    """The word where the server ends the connection, whatever it answered before."""
    return said if said == "closed" else f"{said}, closed"


class Attacked(attacked.AttackedServer):
    """A server and its witnesses: connections to both APIs that are older than the attack. The one
    that asks for logins logs everything that it can."""

    def __init__(self, guarded):
        options = {"nosql": True, "flags": ["--log-format", "json"]}
        self.guarded = guarded
        kind, level = (Guarded, "trace") if guarded else (Server, "info")
        # A trace has a line for each frame of HTTP/2.
        self.most_log = 100 << 20 if guarded else attacked.MOST_LOG
        super().__init__(kind(log_level=level, **options))
        self.read, self.user = 0, None

    def start(self):
        super().start()
        self.reader = self.mongo()

    def settle(self):
        if self.guarded:
            self.reader = self.server.root()
            roles = [{"role": "readWrite", "db": DATABASE}]
            self.server.new_user(roles, name=USER, password=PASSWORD)
        stored = self.reader.run(("insert", KEPT), db=DATABASE, documents=DOCUMENTS)
        assert stored["n"] == len(DOCUMENTS), stored
        self.make("/dbs", {"id": "sentinel"})
        for name in ("kept", "made"):
            self.make("/dbs/sentinel/colls", {"id": name, "partitionKey": KEY})
        for item in KEPT_ITEMS:
            self.make(ITEMS, item, A)
        self.new_lines()

    def make(self, path, body, headers=None):
        reply = self.witness.ask(request("POST", path, body, headers))
        assert reply.status == 201, reply

    def __exit__(self, *_):
        self.reader.close()
        super().__exit__()

    # Stations.

    def wire(self):
        """A connection to the NoSQL API."""
        return badinput_nosql.wire.Wire(self.server.items.address)

    def mongo(self):
        """A connection to the MongoDB API."""
        return badinput.wire.Wire(self.server.address)

    def admin(self):
        """A connection to the admin address."""
        where = urllib.parse.urlsplit(self.server.admin_url)
        return badinput_nosql.wire.Wire((where.hostname, where.port))

    def send(self, entry, station):
        """Sends an entry at a station; returns the word of the answer."""
        if entry.api != "mongodb":
            with self.admin() if entry.api == "admin" else self.wire() as wire:
                return entry.run(Place(wire, SIGNERS.get(station)))
        if station == "as a user with readWrite":
            return self.send_as_user(entry)
        with self.mongo() as wire:
            said = entry.run(Place(wire))
            return said if goes_on(wire) else left(said)

    def send_as_user(self, entry):
        """The same on a connection that is logged in, and that the next entry goes on with, unless
        it is about how a connection begins."""
        user, self.user = self.user or self.server.login(USER, PASSWORD), None
        said = entry.run(Place(user))
        if not goes_on(user):
            user.close()
            return left(said)
        if entry.id.startswith(("B9.", "B10.")):
            user.close()
        else:
            assert user.who() == [(USER, "admin")], "logged out"
            self.user = user
        return said

    # What has to hold.

    def sentinel(self):
        asked = [("find", KEPT), ("sort", {"_id": 1}), ("singleBatch", True), ("$db", DATABASE)]
        self.reader.send(msg(asked))
        documents = self.reader.reply_bytes()
        read = self.witness.ask(request("GET", ITEMS))
        assert read.status == 200, read
        return documents + read.body

    def look(self, wire):
        reply = wire.ask(request("GET", f"{ITEMS}/1", None, A), 30)
        assert reply is not None and reply.json["s"] == "one", reply

    def health(self):
        super().health()
        with self.mongo() as other:
            assert other.run(("hello", 1), db="admin")["ok"] == 1
        memory = self.server.rss()
        assert memory < MOST_MEMORY, f"{memory >> 20} MiB are held"
        self.judge_log()

    def new_lines(self):
        """What was logged since the last time, in whole lines."""
        with open(self.server.log, "rb") as log:
            log.seek(self.read)
            new = log.read()
        whole = new[: new.rfind(b"\n") + 1]
        self.read += len(whole)
        return whole

    def judge_log(self):
        """A line at most that is more than a trace; all are JSON, short, without signs for a
        terminal and without what was sent."""
        new = self.new_lines()
        assert MARK.encode() not in new, f"a payload is logged: {new[:2000]}"
        told = []
        for line in new.decode().split("\n")[:-1]:
            assert len(line) < LONGEST_LINE, f"a line of {len(line)} bytes: {line[:300]}"
            assert line.isprintable(), f"signs in a line: {line!r}"
            entry = json.loads(line)
            if entry["level"] not in ("TRACE", "DEBUG"):
                told.append(entry)
        assert len(told) <= 1, told
