"""A server on the machine's clock whose wall clock and boot clock a test moves, by files that the
server applies to them, and documents and items that expire at many instants."""

import json
import pathlib
import time
import urllib.error
import urllib.request

from lib.server import AT_ONCE, Server, date

SECOND, MINUTE, HOUR, DAY = 1_000, 60_000, 3_600_000, 86_400_000
YEAR = 365 * DAY + DAY // 4
#: Seconds within which a step is followed: the clock is compared twice a second.
FOLLOWED = 10.0
#: Allowed difference in milliseconds of two readings on a busy machine.
ROUGHLY = 20_000


class Walled:
    """One server. `off` is the distance of its database time from the machine's wall clock."""

    def __init__(self, home, flags=(), **options):
        self.wall, self.boot = pathlib.Path(home) / "wall", pathlib.Path(home) / "boot"
        self.wall.write_text("0")
        self.boot.write_text("1")
        flags = ["--test-wall", str(self.wall), "--test-boot", str(self.boot), *flags]
        self.last_ms = self.last_ts = 0
        self.server = Server(data_dir=True, clock="system", flags=flags, nosql=True, **options)

    def __enter__(self):
        self.server.start()
        return self

    def __exit__(self, *_):
        self.server.close()

    # The clocks.

    def move(self, ms):
        """Sets the offset of the wall clock in milliseconds; the file is replaced atomically."""
        self.put(self.wall, ms)

    def pace(self, text):
        """Sets the pace of the boot clock, such as `0.6`, optionally with an offset."""
        self.put(self.boot, text)

    @staticmethod
    def put(file, text):
        beside = file.with_suffix(".new")
        beside.write_text(str(text))
        beside.rename(file)

    def now(self):
        """Returns database time, which must not be before the last result."""
        now = self.server.now_ms()
        assert self.last_ms <= now, f"time went back by {self.last_ms - now} ms"
        self.last_ms = now
        return now

    def off(self):
        """Returns by how many milliseconds database time is ahead of the real wall clock."""
        return self.server.now_ms() - time.time() * 1000

    def reaches(self, off, within=FOLLOWED):
        """Returns whether database time reaches about this offset in time."""
        return self.comes(lambda: abs(self.off() - off) <= ROUGHLY, within)

    @staticmethod
    def comes(holds, within=FOLLOWED):
        """Returns whether a condition becomes true in time."""
        until = time.monotonic() + within
        while not holds():
            if until < time.monotonic():
                return False
            time.sleep(0.02)
        return True

    def status(self):
        try:
            with urllib.request.urlopen(f"{self.server.admin_url}/status", timeout=10) as reply:
                return json.loads(reply.read())
        except urllib.error.HTTPError as error:
            return json.loads(error.read())

    def clock(self):
        return self.status()["clock"]

    def waits(self, within=FOLLOWED):
        """Returns whether a step waits for acceptance in time."""
        return self.comes(lambda: self.clock()["unconfirmed"], within)

    def accept(self):
        assert self.server.admin("/_ebb/clock/accept", {})["mode"] == "system"

    # Data that expires in every possible way.

    def fill(self, lives, copies=1, text=""):
        """Writes `copies` for each TTL (seconds by name; `None`: never expires) to a collection
        with a default TTL, to one with a TTL index on dates, and to a container."""
        self.lives = lives
        database = self.server.client.db
        database.c.create_index("_ts", expireAfterSeconds=2_000_000_000)
        database.dates.create_index("at", expireAfterSeconds=0)
        now = self.server.now_ms()
        rows = [(f"{name} {n}", ttl) for name, ttl in lives.items() for n in range(copies)]
        own = lambda ttl: {"ttl": -1 if ttl is None else ttl, "text": text}  # noqa: E731
        database.c.insert_many([{"_id": id, **own(ttl)} for id, ttl in rows])
        database.dates.insert_many(
            [
                {"_id": id, "text": text, **({} if ttl is None else {"at": date(now + ttl * 1000)})}
                for id, ttl in rows
            ]
        )
        self.server.items.create_database("db")
        self.items = self.server.items.container("db", "items")
        assert self.items.define(defaultTtl=-1).status == 201
        self.stamps = self.server.items.container("db", "stamps")
        assert self.stamps.define().status == 201
        for first in range(0, len(rows), 100):
            creates = [
                {"operationType": "Create", "resourceBody": {"id": id, "pk": "a", **own(ttl)}}
                for id, ttl in rows[first : first + 100]
            ]
            made = self.items.batch("a", creates).json
            assert all(one["statusCode"] == 201 for one in made), made

    def names(self):
        """Returns the names of the TTLs whose data is visible by each read path."""
        database = self.server.client.db
        found = [
            {row["_id"].split()[0] for row in database.c.find()},
            {row["_id"].split()[0] for row in database.dates.find()},
            {id.split()[0] for id in self.items.rows("SELECT VALUE c.id FROM c")},
        ]
        counted = [database.c.count_documents({}), database.dates.count_documents({})]
        estimated = [
            database.c.estimated_document_count(),
            database.dates.estimated_document_count(),
        ]
        assert counted == estimated
        return found

    def shows(self, names):
        """Returns whether exactly the data of these TTLs is visible, by each read path."""
        return self.names() == [set(names)] * 3

    def written_ts(self):
        """Returns the `_ts` of an item written now; it must not be before the last one's."""
        made = self.stamps.upsert({"id": "ts", "pk": "a"})
        assert made.status in (200, 201), made
        ts = made.json["_ts"]
        assert self.last_ts <= ts, f"_ts went back from {self.last_ts} to {ts}"
        self.last_ts = ts
        return ts

    def times(self):
        """Returns the current time in seconds from every source, by name."""
        client = self.server.client
        now = client.admin.aggregate([{"$documents": [{}]}, {"$project": {"now": "$$NOW"}}])
        asked = {
            "$$NOW": next(now)["now"],
            "hello": client.admin.command("hello")["localTime"],
        }
        seconds = {name: (at - date(0)).total_seconds() for name, at in asked.items()}
        row = self.items.rows("SELECT VALUE GetCurrentTimestamp() FROM c WHERE c.id = 'ever 0'")
        seconds["GetCurrentTimestamp"] = row[0] / 1000
        client.db.set.update_one({"_id": 1}, {"$currentDate": {"at": True}}, upsert=True)
        seconds["$currentDate"] = (client.db.set.find_one()["at"] - date(0)).total_seconds()
        seconds["_ts"] = self.written_ts()
        seconds["/_ebb/clock"] = self.server.admin("/_ebb/clock")["now_ms"] / 1000
        return seconds

    def reaped(self):
        return self.server.ttl_metrics()["deletedDocuments"]


#: Flags of a server that reaps expired data at once.
REAPS = AT_ONCE
