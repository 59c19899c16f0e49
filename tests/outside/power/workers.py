"""The writers of the crash tests, extended for disk failures, and others: movers create, rename and
drop collections, and a loader writes large amounts."""

import collections
import random
import time

import pymongo
from crash.changer import Changer
from crash.items import ItemChanger, ItemWriter
from crash.times import ManualTimes
from crash.worker import Worker
from crash.workload import Writer
from lib.nosql import Client, stripped
from lib.server import date, millis
from pymongo.errors import BulkWriteError, PyMongoError

from power.answers import Refused, Uncertain, expect, told

#: Options of each client: no retries, and it ends with its server.
OPTIONS = {
    "retryWrites": False,
    "retryReads": False,
    "maxPoolSize": 1,
    "serverSelectionTimeoutMS": 600,
}
#: Seconds after a refusal until the next request.
AGAIN_AFTER = 0.005
#: Number of steps that are recorded for each worker.
TRAIL = 60


class Steady:
    """A worker that continues after a refusal, and ends after an uncertain outcome."""

    refusals = 0

    def one(self):
        try:
            super().one()
        except Exception as error:
            answer = told(error)
            if answer is error and not isinstance(error, (Refused, Uncertain)):
                raise
            pending = self.ledger.pending
            self.note(f"{type(answer).__name__}: {answer}"[:200])
            if isinstance(answer, Uncertain) or (len(pending) > 1 and not self.ledger.atomic):
                raise Uncertain(str(answer)) from error
            self.ledger.pending, self.ledger.batch = {}, []
            self.refusals += 1
            time.sleep(AGAIN_AFTER)

    def note(self, text):
        self.__dict__.setdefault("trail", collections.deque(maxlen=TRAIL))
        keys = [f"{key[0]}/{key[1]}" for key in self.ledger.pending]
        self.trail.append(f"{time.time():.3f} {self.ledger.acks} {keys} {text}")

    def is_end(self, error):
        return isinstance(told(error), Uncertain)


class PowerWriter(Steady, Writer):
    """Writes documents."""

    def attach(self, address):
        self.db = pymongo.MongoClient(*address, directConnection=True, **OPTIONS)["torture"]
        self.begin()

    def broken(self, error):
        """Records that only a part of a batch was inserted."""
        done = error.details["nInserted"]
        for key in self.ledger.batch[:done]:
            change = self.ledger.pending.pop(key)
            self.ledger.acked[key] = change(self.ledger.begin, self.times.high())
        self.ledger.batch = self.ledger.batch[done:]
        raise error


class PowerItemWriter(Steady, ItemWriter):
    """Writes items."""

    def expect(self, reply, *statuses):
        return expect(reply, *statuses)


class PowerItemChanger(ItemChanger):
    """Changes definitions of containers."""

    def is_end(self, error):
        return isinstance(told(error), (Refused, Uncertain))

    def expect(self, reply, *statuses):
        return expect(reply, *statuses)


class PowerChanger(Changer):
    """Changes indexes and TTL settings of collections."""

    OPTIONS = OPTIONS

    def is_end(self, error):
        return isinstance(told(error), (Refused, Uncertain))


class Mover(Worker):
    """Creates, fills, renames and drops its own collections. It knows all states that they may
    have: one, or with a request without a reply several."""

    NAMES = 6

    def __init__(self, number, seed, times):
        super().__init__(f"{self.KIND} {number}", f"{seed} {self.KIND} {number}", times)
        self.number, self.tags, self.acks, self.refusals = number, 0, 0, 0
        #: Names, and the contents of each: tags by id.
        self.states = [{}]
        self.trail = collections.deque(maxlen=TRAIL)

    def one(self):
        [state] = self.states
        name = f"m{self.number}-{self.random.randrange(self.NAMES)}"
        request, states, certain = self.choose(state, name)
        self.states = states
        what = [{name: len(held) for name, held in it.items()} for it in (state, states[-1])]
        try:
            request()
        except Exception as error:
            answer = told(error)
            self.trail.append(f"{time.time():.3f} {what} {answer!r}"[:300])
            if not isinstance(answer, Refused):
                raise
            if not certain:
                raise Uncertain(str(answer)) from error
            self.states = [state]
            self.refusals += 1
            time.sleep(AGAIN_AFTER)
            return
        self.trail.append(f"{time.time():.3f} {what} done")
        self.states = states[-1:]
        self.acks += 1

    def tag(self):
        self.tags += 1
        return f"{self.number}-{self.tags}"

    def is_end(self, error):
        return isinstance(told(error), Uncertain)

    def settle(self):
        """Returns the errors in the current data, which then becomes the known state."""
        found = self.find()
        wrong = []
        if found not in self.states:
            wrong.append(f"{self.name}: there is {found}, may be one of {self.states}")
        self.states = [found]
        return wrong + self.wrong


class DocumentMover(Mover):
    """A mover of the MongoDB API."""

    KIND = "document mover"

    def attach(self, server):
        self.db = server.connect(**OPTIONS)["moving"]
        self.begin()

    def close(self):
        self.db.client.close()

    def choose(self, state, name):
        """Returns a request, the states that it passes through, and whether a refusal means that it
        was not done: a request of several parts may have been done in part by then."""
        held = state.get(name)
        if held is None and self.random.random() < 0.5:
            return lambda: self.db.create_collection(name), [state, {**state, name: {}}], True
        if held is None or self.random.random() < 0.4:
            return self.fill(state, name)
        if self.random.random() < 0.5:
            return lambda: self.db.drop_collection(name), [state, without(state, name)], True
        to = f"m{self.number}-{self.random.randrange(self.NAMES)}"
        if to == name:
            return self.fill(state, name)
        after = {**without(state, name), to: held}
        return lambda: self.db[name].rename(to, dropTarget=True), [state, after], True

    def fill(self, state, name):
        held = state.get(name, {})
        ids = [f"{self.tag()}-{n}" for n in range(self.random.randint(1, 5))]
        rows = [{"_id": id, "tag": self.tag(), "pad": "x" * 200} for id in ids]
        states = [state] if name in state else [state, {**state, name: {}}]
        for done in range(1, len(rows) + 1):
            added = {row["_id"]: row["tag"] for row in rows[:done]}
            states.append({**state, name: {**held, **added}})
        # Of several documents some may have been inserted, and a collection created for them.
        return lambda: self.db[name].insert_many(rows), states, len(states) == 2

    def find(self):
        mine = [it for it in self.db.list_collection_names() if it.startswith(f"m{self.number}-")]
        return {name: {row["_id"]: row["tag"] for row in self.db[name].find()} for name in mine}

    def check(self, server):
        self.db = server.client["moving"]
        return self.settle()


class ItemMover(Mover):
    """A mover of the NoSQL API, which does not rename."""

    KIND = "item mover"
    NAMES = 4

    def attach(self, server):
        self.client = Client(server.items.address, timeout=20)
        self.begin()

    def close(self):
        self.client.close()

    def choose(self, state, name):
        container, held = self.client.container("moving", name), state.get(name)
        if held is None:
            return lambda: expect(container.define(), 201), [state, {**state, name: {}}], True
        if self.random.random() < 0.3:
            request = self.client.call
            return (
                lambda: expect(request("DELETE", container.link), 204),
                [state, without(state, name)],
                True,
            )
        item = {"id": self.tag(), "pk": "a", "tag": self.tag()}
        after = {**state, name: {**held, item["id"]: item["tag"]}}
        return lambda: expect(container.create(item), 201), [state, after], True

    def find(self):
        reply = self.client.call("GET", "dbs/moving/colls")
        assert reply.status == 200, reply
        names = [it["id"] for it in reply.json["DocumentCollections"]]
        return {
            name: {
                item["id"]: stripped(item)["tag"]
                for item in self.client.container("moving", name).rows()
            }
            for name in names
            if name.startswith(f"m{self.number}-")
        }

    def check(self, server):
        self.client = Client(server.items.address, timeout=20)
        wrong = self.settle()
        self.client.close()
        return wrong


class PowerTimes(ManualTimes):
    """A manual clock that may fail to move: the reply contains its current time."""

    def work(self, server):
        client = server.connect(**OPTIONS)
        try:
            while True:
                self.asked += self.random.choice([1, 10, 100, 300])
                reply = client.admin.command({"ebbClock": 1, "set": date(self.asked)})
                self.done = millis(reply["now"])
                if self.done < self.asked:
                    break
                time.sleep(self.random.random() * 0.02)
        except PyMongoError:
            pass
        client.close()


def without(state, name):
    return {other: held for other, held in state.items() if other != name}


class Loader(Worker):
    """Writes fifty to a hundred megabytes at once, with many documents per request, and rewrites
    and removes parts of them."""

    #: Bytes of a document, and documents of a request.
    SIZE, BATCH = 8_000, 250
    #: Documents of a reply.
    PAGE = 100
    LEAST, MOST = 50 << 20, 100 << 20

    def __init__(self, seed, times):
        super().__init__("loader", f"{seed} loader", times)
        self.noise = random.Random(f"{seed} noise").randbytes(1 << 20)
        self.acks, self.refusals, self.loads, self.next = 0, 0, 0, 0
        #: Version of each document, and the one after a request without a reply (None: deleted).
        self.rows, self.pending = {}, {}
        #: Whether that request is atomic.
        self.whole = False
        self.trail = collections.deque(maxlen=TRAIL)

    def attach(self, server):
        self.db = server.connect(**OPTIONS)["loads"]
        self.steps = self.load()
        self.begin()

    def close(self):
        self.db.client.close()

    def is_end(self, error):
        return isinstance(told(error), Uncertain)

    def row(self, id, version):
        at = (id * 7919 + version * 104_729) % (len(self.noise) - self.SIZE)
        return {"_id": id, "v": version, "pad": self.noise[at : at + self.SIZE]}

    def load(self):
        """Yields steps: their changes, the request, and whether it is atomic."""
        rows = self.db["rows"]
        self.loads += 1
        if self.rows and self.random.random() < 0.7:
            yield dict.fromkeys(self.rows), rows.drop, True
        elif self.rows:
            least = min(self.rows)
            gone = [id for id in self.rows if id < least + self.next // 2]
            for at in range(0, len(gone), 500):
                ids = gone[at : at + 500]
                among = {"_id": {"$in": ids}}
                yield dict.fromkeys(ids), lambda among=among: rows.delete_many(among), False
        left = self.random.randint(self.LEAST, self.MOST) - len(self.rows) * self.SIZE
        while left > 0:
            ids = range(self.next, self.next + self.BATCH)
            self.next += self.BATCH
            left -= self.BATCH * self.SIZE
            documents = [self.row(id, 0) for id in ids]
            put = lambda them=documents: rows.insert_many(them)  # noqa: E731
            yield dict.fromkeys(ids, 0), put, False
        while True:
            ids = self.random.sample(list(self.rows), min(len(self.rows), 40))
            versions = {id: self.rows[id] + 1 for id in ids}
            changes = [pymongo.ReplaceOne({"_id": id}, self.row(id, versions[id])) for id in ids]
            yield versions, lambda them=changes: rows.bulk_write(them), False

    def one(self):
        self.pending, request, self.whole = next(self.steps)
        try:
            request()
        except (PyMongoError, BulkWriteError) as error:
            answer = told(error)
            self.trail.append(f"{time.time():.3f} {answer!r}"[:300])
            if answer is error:
                raise
            # A part of it may have been done.
            raise Uncertain(str(answer)) from error
        self.apply()
        self.acks += 1

    def apply(self):
        self.rows.update(self.pending)
        self.rows = {id: version for id, version in self.rows.items() if version is not None}
        self.pending = {}

    def check(self, server):
        """Returns the errors in the current data, which then becomes the known state."""
        wrong, found = list(self.wrong), {}
        for row in server.client["loads"]["rows"].find(batch_size=self.PAGE):
            found[row["_id"]] = row["v"]
            if row != self.row(row["_id"], row["v"]):
                wrong.append(f"loader: {row['_id']} of version {row['v']} has other bytes")
        changed = 0
        for id in self.rows.keys() | self.pending.keys() | found.keys():
            version = found.get(id)
            fits = {self.rows.get(id), self.pending.get(id, self.rows.get(id))}
            if version not in fits:
                wrong.append(f"loader: {id} is of version {version}, may be {fits}")
            changed += id in self.pending and version == self.pending[id]
        if self.whole and self.pending and 0 < changed < len(self.pending):
            wrong.append(f"loader: {changed} of {len(self.pending)} were dropped")
        self.rows, self.pending = found, {}
        return wrong
