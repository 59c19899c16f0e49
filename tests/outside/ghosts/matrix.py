"""Runs the matrix: all paths, one kind of expiry, all instants, in one state of the data."""

import time

from lib import matrix
from lib.command_log import CommandLog
from lib.paths import FILLERS, Strange
from pymongo.errors import OperationFailure, PyMongoError

from ghosts.paths import READS, WRITES, Cell
from ghosts.paths.kinds import COLLECTIONS, DATABASE

SNAPSHOT_TOO_OLD = 239
INDEXES = [
    {"key": {"k": 1}, "name": "k_1"},
    {"key": {"u": 1}, "name": "u_1", "unique": True, "sparse": True},
    {"key": {"g": 1, "k": -1}, "name": "g_1_k_-1"},
    {"key": {"arr": 1}, "name": "arr_1"},
    {"key": {"sp": 1}, "name": "sp_1", "sparse": True},
    {"key": {"pk": 1}, "name": "pk_1", "partialFilterExpression": {"g": 1}},
    {"key": {"h": "hashed", "g": 1}, "name": "hashed"},
    {"key": {"sub.$**": 1}, "name": "below_sub"},
    {"key": {"g": 1, "sub.$**": 1}, "name": "g_below_sub"},
    {"key": {"place": "2dsphere", "g": 1}, "name": "places"},
    {"key": {"k": 1, "place": "2dsphere"}, "name": "k_place"},
    {"key": {"flat": "2d"}, "name": "flat"},
    {"key": {"h": "text"}, "name": "texts", "default_language": "none"},
    {"key": {"k": 1, "same": 1}, "name": "loose", "collation": {"locale": "en", "strength": 2}},
]


def body(id, n, **more):
    return {
        "_id": id,
        "k": id,
        "u": id,
        "sp": id,
        "pk": id,
        "plain": id,
        "h": id,
        "place": {"type": "Point", "coordinates": [n / 10, 10]},
        "flat": [n / 10, 10],
        "g": 1,
        "n": n,
        "arr": [f"{id}-a", f"{id}-b"],
        "sub": {"a": id},
        "same": 1,
        "ttl": None,
        **more,
    }


#: Bytes of padding that make expired documents worth reaping, in states that reap.
PADS = {"r": 16 * 1024, "w": 1_200, "own": 70 * 1024}


def document(id, n, life):
    fields = body(id, n, **life)
    if fields["ttl"] is None:
        del fields["ttl"]
    return fields


class Matrix(matrix.Matrix):
    """Collections of documents: `r` is read, `w` and others are written."""

    #: Options of `create` of the collections of other kinds.
    collections = COLLECTIONS

    def __init__(self, kind, state, **options):
        self.command_log = CommandLog()
        super().__init__(kind, state, listeners=[self.command_log], **options)
        #: Results of listIndexes and listCollections, by instant.
        self.listed = {}

    def run(self):
        with self.server:
            self.begin()
            self.prepare()
            for instant in self.instants:
                self.reach(instant)
                self.settle(instant)
                self.listed[instant] = self.lists()
                self.ask(self.reads(), instant)
                self.ask(WRITES, instant)
            self.end()
        return self

    def begin(self):
        # `_ts` has full seconds; the time of the write does not.
        self.server.advance(437)
        self.now = self.server.now_ms()
        self.deadline = self.kind.deadline(self.now)
        self.fill()

    def reach(self, instant):
        self.server.move_to(self.deadline + instant)

    def ask(self, paths, instant):
        for path in paths:
            self.cell(path, instant, self.prepared.get((path.name, instant)))

    def reads(self):
        # Cursors end with their server.
        keep = "restart" not in (self.then or "")
        return [path for path in READS if keep or not path.name.startswith("getMore")]

    def make(self, database, collection, documents, **options):
        db = self.server.client[database]
        if options:
            db.command("create", collection, **options)
        indexes = [*INDEXES, *self.kind.indexes]
        db.command("createIndexes", collection, indexes=indexes)
        # The indexes are the same, so this keeps them.
        primary = {"key": {"_id": 1}, "name": "_id_"}
        same = {"collection": collection, "indexes": [primary, *indexes]}
        db.command("customAction", "UpdateCollection", **same)
        reply = db.command("insert", collection, documents=documents)
        assert reply["n"] == len(documents), reply

    def mortal(self, id, n=5, pad=None, **more):
        if pad and "reap" in (self.then or ""):
            more["pad"] = "x" * PADS[pad]
        return document(id, n, {**self.kind.mortal(self.now), **more})

    def fill(self):
        controls = [document(f"c{i}", 900, life) for i, life in enumerate(self.kind.controls)]
        fillers = [self.mortal(f"f{i}", 901 + i, "r") for i in range(FILLERS)]
        documents = [*controls, *fillers, self.mortal("t", 999, only_t=True)]
        self.make("r", "r", documents)
        for collection, options in self.collections.items():
            self.make(DATABASE, collection, documents, **options)
        self.server.client["r"]["l"].insert_one({"_id": "l", "ref": "t", "g": 1})
        control = document("c", 900, self.kind.controls[0])
        shared = [p for p in WRITES if not p.own]
        names = [f"{p.name} {i}" for p in shared for i in self.instants]
        self.make("w", "w", [control, *(self.mortal(name, pad="w") for name in names)])
        for at, path in enumerate(WRITES):
            for instant in self.instants if path.own else ():
                # Documents that are read before their deadline need no padding.
                mortal = self.mortal("t", pad="own" if instant >= 0 else None)
                self.make(f"own{at}_{instant}", "w", [control, mortal])

    def prepare(self):
        self.prepared = {}
        for path in self.reads():
            for instant in self.instants if path.prepare else ():
                self.prepared[path.name, instant] = path.prepare(self.at(path, instant))

    def at(self, path, instant, prepared=None):
        client = self.server.client
        controls = len(self.kind.controls)
        if path in WRITES:
            if path.own:
                db = client[f"own{WRITES.index(path)}_{instant}"]
                return Cell(db, 1, server=self.server)
            name = f"{path.name} {instant}"
            return Cell(client["w"], 1, name, name, self.server)
        return Cell(client["r"], controls, server=self.server, prepared=prepared)

    def cell(self, path, instant, prepared=None):
        try:
            seen = path.run(self.at(path, instant, prepared))
        except (Strange, PyMongoError, AssertionError, LookupError) as error:
            seen = f"{type(error).__name__}: {error}"
        self.cells[path.name, instant] = seen

    def lists(self):
        """Returns collections and indexes, which do not expire."""
        db = self.server.client["r"]
        indexes = [dict(index) for index in db["r"].list_indexes()]
        return sorted(db.list_collection_names()), indexes

    def reap(self, instant):
        self.close_snapshots()
        self.server.wait_until_reaped(*self.left(instant))

    def close_snapshots(self):
        """Waits until no snapshot of an earlier read is kept, which would delay reaping."""
        client = self.server.client
        limit = {"setParameter": 1, "transactionLifetimeLimitSeconds": 1}
        client.admin.command(limit)
        concern = {"level": "snapshot"}
        reply = client["r"].command("find", "none", readConcern=concern)
        concern["atClusterTime"] = reply["cursor"]["atClusterTime"]
        # A time is served again while it is the newest one.
        client["later"].command("insert", "later", documents=[{}])
        until = time.monotonic() + 60
        try:
            while time.monotonic() < until:
                client["r"].command("find", "none", readConcern=concern)
                time.sleep(0.05)
        except OperationFailure as error:
            if error.code != SNAPSHOT_TOO_OLD:
                raise
        client.admin.command({**limit, "transactionLifetimeLimitSeconds": 60})

    def left(self, instant):
        """Returns the collections that are still read at this or a later instant."""
        later = [at for at in self.instants if instant <= at]
        own = [f"own{n}_{at}" for n, path in enumerate(WRITES) if path.own for at in later]
        return [("r", "r"), ("w", "w"), *((name, "w") for name in own)]

    def worth_reaping(self, instant):
        """Returns whether the reaper knows of the expiration: its counters have full seconds."""
        return self.deadline <= (self.deadline + instant) // 1000 * 1000
