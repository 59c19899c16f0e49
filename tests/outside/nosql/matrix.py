"""Runs the matrix of items: all paths, with one kind of expiry, at all instants, in one state of
the data."""

from lib import matrix
from lib.nosql import ALL_VERSIONS, stripped
from lib.paths import FILLERS

from nosql.paths import READS, WRITES, Cell

POLICY = {
    "indexingMode": "consistent",
    "automatic": True,
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": "/plain/?"}, {"path": "/pad/?"}, {"path": '/"_etag"/?'}],
    "compositeIndexes": [
        [{"path": "/g", "order": "ascending"}, {"path": "/k", "order": "descending"}]
    ],
}
VERSIONS = {"changeFeedPolicy": {"retentionDuration": 10_080, "retainPreviousImages": True}}
#: name: its definition except the default TTL. `r`, `v` and `h` are read, `w` and `x` written; `v`
#: and `x` keep all versions, `h` has a hierarchical partition key.
CONTAINERS = {
    "r": {"indexingPolicy": POLICY},
    "w": {"indexingPolicy": POLICY, "uniqueKeyPolicy": {"uniqueKeys": [{"paths": ["/u"]}]}},
    "v": {"indexingPolicy": POLICY, **VERSIONS},
    "x": {"indexingPolicy": POLICY, **VERSIONS},
    "h": {
        "indexingPolicy": POLICY,
        "partitionKey": {"paths": ["/pk", "/kind", "/id"], "kind": "MultiHash", "version": 2},
    },
}
#: Bytes of padding that make expired items worth reaping, in states that reap.
PADS = {"r": 12 * 1024, "w": 1_200, "x": 4 * 1024}


def body(id, pk, kind, n, **more):
    return {
        "id": id,
        "pk": pk,
        "kind": kind,
        "n": n,
        "k": id,
        "plain": id,
        "g": 1,
        "same": 1,
        "arr": [f"{id}-0", f"{id}-1"],
        "tags": [{"name": id}],
        "sub": {"a": id},
        **more,
    }


def items_of(kind, pad):
    """Returns the items that are read: controls first, then the expiring ones."""
    controls = [
        body(f"c{i}", "ab"[i % 2], "c", 900 + i, **life) for i, life in enumerate(kind.controls)
    ]
    mortals = [
        body(f"f{i}", "ab"[i % 2], "m", 910 + i, **pad, **kind.mortal) for i in range(FILLERS)
    ]
    return [*controls, *mortals, body("t", "a", "m", 999, only_t=True, **kind.mortal)]


def key_of(name, item):
    """Returns the partition key of an item in a container."""
    return [item["pk"], item["kind"], item["id"]] if name == "h" else item["pk"]


class Matrix(matrix.Matrix):
    """The containers of items."""

    def __init__(self, kind, state, **options):
        super().__init__(kind, state, nosql=True, **options)
        self.default = kind.default

    def run(self):
        with self.server:
            self.begin()
            for instant in self.instants:
                self.reach(instant)
                self.settle(instant)
                self.ask(READS, instant)
                self.ask(WRITES, instant)
            self.end()
        return self

    def begin(self):
        # `_ts` has full seconds; the time of the write does not.
        self.server.advance(437)
        self.start = self.server.now_ms() // 1000
        self.dies_at = self.start + self.kind.after
        self.fill()
        if not self.kind.patched:
            self.prepare()
        for after, step in self.kind.steps:
            self.server.move_to((self.start + after) * 1000)
            step(self)
        if self.kind.patched:
            self.prepare()
        self.struck = False

    def reach(self, instant):
        self.now = self.dies_at * 1000 + instant
        self.server.move_to(self.now)
        if instant >= 0 and self.kind.strike and not self.struck:
            self.struck = True
            self.kind.strike(self)

    def ask(self, paths, instant):
        for path in paths:
            self.cell(path, instant)

    # Data of the server.

    def definition(self, name, default):
        return {**CONTAINERS[name], **({} if default is None else {"defaultTtl": default})}

    def set_default(self, value):
        self.default = value
        for name, container in self.containers.items():
            reply = container.redefine(**self.definition(name, value))
            assert reply.status == 200, reply

    def fill(self):
        client = self.server.items
        assert client.create_database("r").status == 201
        self.containers = {name: client.container("r", name) for name in CONTAINERS}
        self.before = {}
        for name, container in self.containers.items():
            reply = container.define(**self.definition(name, self.kind.default))
            assert reply.status == 201, reply
            mode = {"mode": ALL_VERSIONS} if name in "vx" else {}
            rows, self.before[name] = container.changes("*", **mode)
            assert rows == []
        self.fill_reads()
        self.old = {}
        for path in WRITES:
            for instant in self.instants:
                self.write_own("x" if path.versions else "w", f"{path.name} {instant}")

    def put(self, name, item):
        reply = self.containers[name].create(item, pk=key_of(name, item))
        assert reply.status == 201, f"{item}: {reply}"
        return reply.json

    def fill_reads(self):
        self.items = items_of(self.kind, self.pad("r"))
        for item in self.items:
            for name in "rvh":
                self.put(name, item)

    def pad(self, name):
        return {"pad": "x" * PADS[name]} if "reap" in (self.then or "") else {}

    def write_own(self, name, pk):
        item = {"id": "t", "pk": pk, "u": "u", "n": 1, **self.pad(name), **self.kind.mortal}
        self.old[pk] = name, self.put(name, item)

    def patch_mortals(self, operations):
        for at, item in enumerate(self.items):
            if item["kind"] == "m":
                self.patch("v", item, operations)
                self.patch("h", item, operations)
                self.items[at] = stripped(self.patch("r", item, operations))
        for pk, (name, item) in self.old.items():
            self.old[pk] = name, self.patch(name, item, operations)

    def patch(self, name, item, operations):
        reply = self.containers[name].patch(item["id"], key_of(name, item), operations)
        assert reply.status == 200, reply
        return reply.json

    # Reads and writes.

    def made(self, path, instant, own):
        pk = f"{path.name} {instant}"
        name, old = self.old[pk] if own else ("r", None)
        return Cell(
            c=self.containers[name],
            v=self.containers["v"],
            h=self.containers["h"],
            items=self.items,
            server=self.server,
            mortal=self.kind.mortal,
            now=getattr(self, "now", 0),
            default=self.default,
            patched=self.kind.patched,
            dies_at=self.dies_at,
            pk=pk if own else "a",
            old=old,
            before=self.before,
        )

    def prepare(self):
        self.prepared = {}
        for path in READS:
            for instant in self.instants if path.prepare else ():
                try:
                    self.prepared[path.name, instant] = path.prepare(self.made(path, 0, False))
                except Exception as error:
                    self.cells[path.name, instant] = f"prepare: {type(error).__name__}: {error}"

    def cell(self, path, instant):
        if (path.name, instant) in self.cells:
            return
        cell = self.made(path, instant, path in WRITES)
        cell.prepared = self.prepared.get((path.name, instant))
        try:
            seen = path.run(cell)
        except Exception as error:
            seen = f"{type(error).__name__}: {error}"[:2_000]
        self.cells[path.name, instant] = seen

    def reap(self, instant):
        containers = [("r", name) for name in CONTAINERS]
        self.server.wait_until_reaped(*containers, worth=self.server.items_worth_reaping)
