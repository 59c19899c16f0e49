"""The servers that receive the corpus, and the checks after each entry: the witness's documents are
unchanged, others are served at once, memory is bounded, the log has at most one line and no part of
the request."""

import json
import urllib.parse

import badinput.wire
import badinput_nosql.wire
from access.guarded import Guarded
from badinput.wire import msg, timeless
from badinput_nosql.wire import A, request
from lib import attacked
from lib.server import Server

from hostile.entry import DATABASE, ITEMS, KEPT, MARK

#: Limit of resident memory after any entry, in bytes.
MOST_MEMORY = 600 << 20
#: Limit of the length of a line of the log.
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
    """The connection through which an entry is sent, at one station of one server."""

    def __init__(self, wire, ask=None):
        self.wire, self.ask = wire, ask


def unsigned(verb, path, body=None, headers=None, **options):
    """Returns a request without a signature, unless the entry has one."""
    return request(verb, path, body, {"authorization": None, **(headers or {})}, **options)


def wrongly_signed(verb, path, body=None, headers=None, **options):
    return request(verb, path, body, headers, key=OTHER_KEY, **options)


SIGNERS = {
    "without a signature": unsigned,
    "with a wrong signature": wrongly_signed,
    "with a right signature": request,
}


def goes_on(wire):
    """Returns whether the server still replies on a connection to the MongoDB API."""
    reply = wire.ask(msg([("ping", 1), ("$db", "admin")]))
    assert reply is None or reply["ok"] == 1, reply
    return reply is not None


def left(said):
    """Returns the word for a server that closes the connection, after any reply."""
    return said if said == "closed" else f"{said}, closed"


class Attacked(attacked.AttackedServer):
    """A server and its witnesses: connections to both APIs that are older than the attack. The
    server that requires authentication logs at the level `trace`."""

    def __init__(self, guarded):
        options = {"nosql": True, "flags": ["--log-format", "json"]}
        self.guarded = guarded
        kind, level = (Guarded, "trace") if guarded else (Server, "info")
        # At this level there is a line for each frame of HTTP/2.
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
        """Returns a connection to the NoSQL API."""
        return badinput_nosql.wire.Wire(self.server.items.address)

    def mongo(self):
        """Returns a connection to the MongoDB API."""
        return badinput.wire.Wire(self.server.address)

    def admin(self):
        """Returns a connection to the admin address."""
        where = urllib.parse.urlsplit(self.server.admin_url)
        return badinput_nosql.wire.Wire((where.hostname, where.port))

    def send(self, entry, station):
        """Sends an entry at a station; returns the word of the reply."""
        if entry.api != "mongodb":
            with self.admin() if entry.api == "admin" else self.wire() as wire:
                return entry.run(Place(wire, SIGNERS.get(station)))
        if station == "as a user with readWrite":
            return self.send_as_user(entry)
        with self.mongo() as wire:
            said = entry.run(Place(wire))
            return said if goes_on(wire) else left(said)

    def send_as_user(self, entry):
        """Sends an entry on a logged-in connection, which is reused for the next entry unless this
        one is about the start of a connection."""
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

    # Checks.

    def sentinel(self):
        asked = [("find", KEPT), ("sort", {"_id": 1}), ("singleBatch", True), ("$db", DATABASE)]
        self.reader.send(msg(asked))
        documents = timeless(self.reader.reply_bytes())
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
        """Returns the complete lines logged since the last call."""
        with open(self.server.log, "rb") as log:
            log.seek(self.read)
            new = log.read()
        whole = new[: new.rfind(b"\n") + 1]
        self.read += len(whole)
        return whole

    def judge_log(self):
        """Checks that at most one line is above the level `trace`, and that all are JSON, short,
        printable and without data that was sent."""
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
