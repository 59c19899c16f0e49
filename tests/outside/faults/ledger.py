"""Writers of both APIs while the disk fails, and the outcomes of their writes."""

import json
import re
import time
import urllib.request

from lib.nosql import Client
from pymongo.errors import NotPrimaryError, OperationFailure, PyMongoError

#: Codes of writes that failed because the disk is full or failed: error codes of the MongoDB API,
#: none of which makes a driver retry at once, and statuses of the NoSQL API.
CODES, STATUSES = {14031, 365}, {503, 507}
#: Expressions one of which every refusal must contain as its reason.
REASON = re.compile(
    r"space|full|disk|input/output|i/o error|storage|read.only|too many open files", re.IGNORECASE
)
#: The message of a write whose outcome is unknown.
UNKNOWN = re.compile(r"unknown|not known|may have been", re.IGNORECASE)
#: The error says that the store is reopening, so a driver may retry at once.
AGAIN = re.compile(r"being reopened", re.IGNORECASE)
#: The metrics among which the state of the store is.
METRICS = re.compile(r"^\w*(store|disk|storage|journal)\w*(\{[^}]*\})? ")


class Writers:
    """A client of each API that writes one document after the other."""

    def __init__(self, server, size=2_000):
        self.server, self.size, self.count = server, size, 0
        self.connect()
        #: Ids whose writes were acknowledged, refused, or have an unknown outcome.
        self.acked, self.refused, self.unknown = set(), set(), set()
        self.removed = set()
        #: Refusals without a reason.
        self.wrong = []

    def connect(self):
        self.client = self.server.connect(
            retryWrites=False, retryReads=False, maxPoolSize=1, socketTimeoutMS=20_000
        )
        self.rows = self.client["d"]["rows"]
        self.items = Client(self.server.items.address, timeout=30).container("d", "c")

    def make(self):
        assert self.items.client.create_database("d").status == 201
        assert self.items.define().status == 201
        self.rows.create_index("k")

    def tell(self, id, error):
        """Records the outcome of a failed write."""
        text = str(error)
        if AGAIN.search(text):
            self.refused.add(id)
            return
        (self.unknown if UNKNOWN.search(text) else self.refused).add(id)
        if not REASON.search(text):
            self.wrong.append(f"{id} was refused without the reason: {text[:300]}")

    def insert(self):
        """Inserts a document; returns whether it was acknowledged."""
        self.count += 1
        id = f"r{self.count}"
        try:
            self.rows.insert_one({"_id": id, "k": self.count, "pad": "x" * self.size})
        except (OperationFailure, NotPrimaryError) as error:
            code = (error.details or {}).get("code")
            if code not in CODES and not AGAIN.search(str(error)):
                self.wrong.append(f"{id} was refused by code {code}: {str(error)[:200]}")
            self.tell(id, error)
            return False
        except PyMongoError as error:
            self.unknown.add(id)
            self.wrong.append(f"{id} was not answered: {str(error)[:300]}")
            return False
        self.acked.add(id)
        return True

    def create(self):
        self.count += 1
        id = f"i{self.count}"
        reply = self.items.create({"id": id, "pk": "a", "pad": "x" * self.size})
        if reply.status != 201:
            if reply.status not in STATUSES:
                self.wrong.append(f"{id} was refused by status {reply.status}")
            self.tell(id, reply)
            return False
        self.acked.add(id)
        return True

    def write(self):
        return [self.insert(), self.create()]

    def write_until_refused(self, within=60):
        """Writes until the first refusal; returns its time."""
        until = time.monotonic() + within
        while all(self.write()):
            assert time.monotonic() < until, "a full disk refuses nothing"
        return time.monotonic()

    def heal(self, within=5.0):
        """Writes until both APIs accept writes again; returns how long that took."""
        began, healed = time.monotonic(), set()
        while len(healed) < 2:
            took = time.monotonic() - began
            assert took < within, (
                f"only {sorted(healed)} take writes {took:.1f} s after the cause was gone"
            )
            healed |= {
                name for name, done in zip(("mongo", "nosql"), self.write(), strict=True) if done
            }
            time.sleep(0.02)
        return time.monotonic() - began

    def remove(self, count):
        """Deletes some documents and items; returns the failures."""
        stuck = []
        for kind in "ri":
            for id in sorted(id for id in self.acked if id[0] == kind)[:count]:
                try:
                    if kind == "r":
                        assert self.rows.delete_one({"_id": id}).deleted_count == 1
                    else:
                        reply = self.items.delete(id, "a")
                        assert reply.status == 204, reply
                except (PyMongoError, AssertionError) as error:
                    stuck.append(f"{id}: {str(error)[:200]}")
                    # Whether it still exists is checked later.
                    self.unknown.add(id)
                else:
                    self.removed.add(id)
                self.acked.discard(id)
        return stuck

    def read(self):
        """Returns the ids that are visible in both APIs and by an index."""
        rows = {row["_id"] for row in self.rows.find({}, {"_id": 1})}
        by_index = {row["_id"] for row in self.rows.find({}, {"_id": 1}).hint("k_1")}
        assert rows == by_index, f"{len(rows)} rows, {len(by_index)} by the index"
        return rows | {item["id"] for item in self.items.rows("SELECT c.id FROM c", pk="a")}

    def compare(self):
        """Returns the differences from the recorded outcomes."""
        found = self.read()
        return [
            f"{len(ids)} {what}: {sorted(ids)[:5]}"
            for what, ids in (
                ("acknowledged are lost", self.acked - found),
                ("refused are there", found & self.refused),
                ("removed are there", found & self.removed),
            )
            if ids
        ]

    def close(self):
        self.client.close()
        self.items.client.close()


def metrics(server):
    """Returns the lines of the metrics about the store."""
    with urllib.request.urlopen(server.admin_url + "/metrics", timeout=5) as reply:
        return {line for line in reply.read().decode().splitlines() if METRICS.match(line)}


def lines(server):
    """Returns the lines of the log about the failure, in any log format."""
    found = []
    for line in server.log.read_text(errors="replace").splitlines():
        try:
            found.append(json.dumps(json.loads(line)))
        except ValueError:
            found.append(line)
    return [line for line in found if REASON.search(line)]
