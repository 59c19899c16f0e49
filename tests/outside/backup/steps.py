"""Clients of either API whose steps a backup must contain up to one of them: documents and items
that expire in every way are written and renewed; collections and containers are created, renamed,
dropped and get other settings."""

import random
import time

from crash.clients import OfDocuments, OfItems
from lib.nosql import stripped
from lib.random_choice import weighted
from lib.server import date

from backup.held import Book, Entry, Held, Row

#: Number of ids of one client in one collection, and number of collection names.
POOL, NAMES = 40, 5
PADDING = (20, 400, 3_000)


#: Identity of rows.
id_of = id


class Told(Exception):
    """The client received a request to stop."""


class Lives:
    """TTLs in seconds, and distances of dates into the future in milliseconds."""

    def __init__(self, seconds, dates_ms):
        self.seconds, self.dates_ms = seconds, dates_ms


class Stepping:
    """One client. It is kept over restarts, with the record of its steps."""

    def __init__(self, kind, number, seed, lives):
        self.database = f"{kind}{number}"
        self.random = random.Random(f"{seed} {self.database}")
        self.lives, self.book, self.tags, self.planned = lives, Book(), 0, []
        self.stopping, self.wrong = False, []

    def attach(self, server, gate):
        self.gate, self.stopping, self.planned = gate, False, []
        self.begin(self.database, server)

    def step(self):
        if self.stopping:
            raise Told
        with self.gate.step():
            if self.stopping:
                raise Told
            if self.planned:
                self.planned.pop(0)()
            else:
                weighted(self.random, self.weights())()

    def is_end(self, error):
        return isinstance(error, Told) or super().is_end(error)

    def change(self, name, held, request):
        """Performs a step; the collection `name` then has this state (None: it is missing)."""
        self.change_all({name: held}, request)

    def change_all(self, changes, request):
        state = {**self.book.state(), **changes}
        entry = Entry({name: held for name, held in state.items() if held}, time.monotonic())
        self.book.entries.append(entry)
        request()
        entry.answered = time.monotonic()

    def learn(self, items):
        """Called after a kill, to learn facts that only a reply contains. This API has none."""

    def pick(self):
        """Returns the name and the state of a random collection."""
        return self.random.choice(sorted(self.book.state().items(), key=lambda it: it[0]))

    def free(self):
        """Returns an unused name, which may have been used before."""
        had = self.book.state()
        return self.random.choice([f"n{at}" for at in range(NAMES) if f"n{at}" not in had])

    def ids(self, held):
        """Returns an id that is live and one that is not, each None if no such id exists."""
        live = held.live(self.gate.now)
        absent = [id for at in range(POOL) if (id := f"r{at}") not in live]
        return (
            self.random.choice(sorted(live)) if live else None,
            self.random.choice(absent) if absent else None,
        )

    def tag(self):
        self.tags += 1
        return self.tags

    def seconds(self):
        return self.random.choice(self.lives.seconds)

    def fields(self):
        """Returns the fields of a row without its id."""
        body = {
            "k": self.random.randrange(100),
            "n": self.tag(),
            "pad": "x" * self.random.choice(PADDING),
        }
        ttl = self.random.choice([None, None, -1, self.seconds(), self.seconds()])
        return body if ttl is None else {**body, "ttl": ttl}

    def row(self, body, at=None):
        return Row(body, self.gate.now // 1_000, body.get("ttl"), at)


class DocumentSteps(Stepping, OfDocuments):
    """Steps of the MongoDB API."""

    def weights(self):
        there = len(self.book.state())
        if not there:
            return {self.create: 1}
        return {
            self.create: 1 if there < NAMES else 0,
            self.insert: 8,
            self.update: 5,
            self.replace: 3,
            self.delete: 3,
            self.rename: 0.6 if there < NAMES else 0,
            self.drop: 0.4,
            self.rule: 1.5,
        }

    def collection(self, name):
        return self.client[self.database][name]

    def create(self):
        name = self.free()
        create = self.client[self.database].create_collection
        self.change(name, Held(), lambda: create(name))
        kind = self.random.choice(["plain", "default", "own", "date"])
        self.planned = [lambda: self.index(name)]
        if kind == "date":
            self.planned.append(lambda: self.date_rule(name))
        elif kind != "plain":
            own = kind == "own"
            self.planned.append(lambda: self.default_rule(name, -1 if own else self.seconds()))
        self.planned += [lambda: self.insert(name)] * 4

    def index(self, name):
        held = self.book.state()[name]
        after = held.changed(self.gate.now, indexes=held.indexes | {"k_1"})
        self.change(name, after, lambda: self.collection(name).create_index("k"))

    def date_rule(self, name):
        held, seconds = self.book.state()[name], self.random.choice([0, 2])
        after = held.changed(self.gate.now, date=seconds)
        self.change(
            name,
            after,
            lambda: self.collection(name).create_index("at", expireAfterSeconds=seconds),
        )

    def default_rule(self, name, seconds):
        """Turns TTL on, or changes the default TTL."""
        held = self.book.state()[name]
        after = held.changed(self.gate.now, default=seconds)
        if held.default is None:
            make = self.collection(name).create_index
            self.change(name, after, lambda: make("_ts", expireAfterSeconds=seconds))
            return
        index = {"keyPattern": {"_ts": 1}, "expireAfterSeconds": seconds}
        command = {"collMod": name, "index": index}
        self.change(name, after, lambda: self.client[self.database].command(command))

    def rule(self):
        """Changes a TTL setting."""
        name, held = self.pick()
        if held.default is not None and self.random.random() < 0.3:
            after = held.changed(self.gate.now, default=None)
            self.change(name, after, lambda: self.collection(name).drop_index("_ts_1"))
        elif held.date is not None:
            seconds = held.date + self.random.choice([1, 2])
            index = {"keyPattern": {"at": 1}, "expireAfterSeconds": seconds}
            command = {"collMod": name, "index": index}
            after = held.changed(self.gate.now, date=seconds)
            self.change(name, after, lambda: self.client[self.database].command(command))
        else:
            self.default_rule(name, self.random.choice([-1, self.seconds()]))

    def body(self, id):
        """Returns a body and its row."""
        body, at = {"_id": id, **self.fields()}, None
        if self.random.random() < 0.5:
            at = self.gate.now + self.random.choice(self.lives.dates_ms)
            body["at"] = date(at)
        return body, self.row(body, at)

    def insert(self, name=None):
        name, held = (name, self.book.state()[name]) if name else self.pick()
        _, id = self.ids(held)
        if id:
            body, row = self.body(id)
            after = held.put(self.gate.now, **{id: row})
            self.change(name, after, lambda: self.collection(name).insert_one(dict(body)))

    def update(self):
        """Updates a document, which renews the second of its last write."""
        name, held = self.pick()
        id, _ = self.ids(held)
        if not id:
            return
        was, n = held.rows[id], self.tag()
        after = held.put(self.gate.now, **{id: self.row({**was.body, "n": n}, was.at)})
        way = self.random.choice([{"_id": id}, {"_id": id, "k": was.body["k"]}])

        def request():
            done = self.collection(name).update_one(way, {"$set": {"n": n}}).matched_count
            assert done == 1, f"lost while it ran: {self.database}.{name} {id}"

        self.change(name, after, request)

    def replace(self):
        name, held = self.pick()
        id = f"r{self.random.randrange(POOL)}"
        body, row = self.body(id)
        was = id in held.live(self.gate.now)

        def request():
            done = self.collection(name).replace_one({"_id": id}, dict(body), upsert=True)
            assert done.matched_count == was, f"{self.database}.{name} {id}: {done.raw_result}"

        self.change(name, held.put(self.gate.now, **{id: row}), request)

    def delete(self):
        name, held = self.pick()
        id, _ = self.ids(held)
        if not id:
            return

        def request():
            done = self.collection(name).delete_one({"_id": id}).deleted_count
            assert done == 1, f"lost while it ran: {self.database}.{name} {id}"

        self.change(name, held.without(self.gate.now, id), request)

    def rename(self):
        (name, held), to = self.pick(), self.free()
        self.change_all({name: None, to: held}, lambda: self.collection(name).rename(to))

    def drop(self):
        name, _ = self.pick()
        self.change(name, None, lambda: self.collection(name).drop())

    def found(self, client, _):
        """Returns the state that a server shows."""
        database, shown = client[self.database], {}
        for name in database.list_collection_names():
            indexes = database[name].index_information()
            default = indexes.pop("_ts_1", {}).get("expireAfterSeconds")
            dated = indexes.pop("at_1", {}).get("expireAfterSeconds")
            bodies = {row["_id"]: row for row in database[name].find()}
            shown[name] = bodies, default, dated, frozenset(indexes) - {"_id_"}
        return shown


class ItemSteps(Stepping, OfItems):
    """Steps of the NoSQL API."""

    def weights(self):
        there = len(self.book.state())
        if not there:
            return {self.create: 1}
        return {
            self.create: 0.6 if there < NAMES - 1 else 0,
            self.put: 8,
            self.patch: 4,
            self.delete: 3,
            self.batch: 2,
            self.drop: 0.3,
            self.rule: 1.2,
        }

    def container(self, name):
        return self.client.container(self.database, name)

    def default(self):
        return self.random.choice([None, -1, self.seconds(), self.seconds()])

    def create(self):
        name, default = self.free(), self.default()
        rule = {} if default is None else {"defaultTtl": default}
        self.change(
            name,
            Held(default),
            lambda: self.expect(self.container(name).define(**rule), 201),
        )

    def rule(self):
        (name, held), default = self.pick(), self.default()
        rule = {} if default is None else {"defaultTtl": default}
        self.change(
            name,
            held.changed(self.gate.now, default=default),
            lambda: self.expect(self.container(name).redefine(**rule), 200),
        )

    def drop(self):
        name, _ = self.pick()
        link = self.container(name).link
        self.change(name, None, lambda: self.expect(self.client.call("DELETE", link), 204))

    def body(self, id):
        return {"id": id, "pk": "a", **self.fields()}

    def told(self, row, item):
        """Takes the second of the write from the reply."""
        if self.gate.manual:
            assert item["_ts"] == row.ts, (item, row.ts)
        row.ts = item["_ts"]

    def learn(self, items):
        """Reads the seconds of the writes of a step that was done but had no reply."""
        last, before = self.book.entries[self.book.last()].state, self.book.entries[-2].state
        for name, held in last.items():
            known = set(map(id_of, before[name].rows.values())) if name in before else set()
            new = {id: row for id, row in held.rows.items() if id_of(row) not in known}
            for item in items.container(self.database, name).rows() if new else ():
                if item["id"] in new:
                    new[item["id"]].ts = item["_ts"]

    def put(self):
        name, held = self.pick()
        id = f"r{self.random.randrange(POOL)}"
        body = self.body(id)
        row = self.row(body)

        def request():
            status = 200 if id in held.live(self.gate.now) else 201
            self.told(row, self.expect(self.container(name).upsert(body), status).json)

        self.change(name, held.put(self.gate.now, **{id: row}), request)

    def patch(self):
        name, held = self.pick()
        id, _ = self.ids(held)
        if not id:
            return
        n = self.tag()
        row = self.row({**held.rows[id].body, "n": n})
        operations = [{"op": "set", "path": "/n", "value": n}]

        def request():
            self.told(row, self.expect(self.container(name).patch(id, "a", operations), 200).json)

        self.change(name, held.put(self.gate.now, **{id: row}), request)

    def delete(self):
        name, held = self.pick()
        id, _ = self.ids(held)
        if id:
            self.change(
                name,
                held.without(self.gate.now, id),
                lambda: self.expect(self.container(name).delete(id, "a"), 204),
            )

    def batch(self):
        """Upserts several items in a batch, all or none."""
        name, held = self.pick()
        ids = [f"r{at}" for at in self.random.sample(range(POOL), self.random.randint(2, 5))]
        rows = {id: self.row(self.body(id)) for id in ids}
        operations = [
            {"operationType": "Upsert", "resourceBody": row.body} for row in rows.values()
        ]

        def request():
            reply = self.expect(self.container(name).batch("a", operations), 200)
            for row, one in zip(rows.values(), reply.json, strict=True):
                self.told(row, one["resourceBody"])

        self.change(name, held.put(self.gate.now, **rows), request)

    def found(self, _, items):
        """Returns the state that a server shows."""
        shown, listed = {}, items.call("GET", f"dbs/{self.database}/colls")
        assert listed.status == 200, f"{self.database}: {listed}"
        for about in listed.json["DocumentCollections"]:
            rows = items.container(self.database, about["id"]).rows()
            bodies = {row["id"]: stripped(row) for row in rows}
            shown[about["id"]] = bodies, about.get("defaultTtl"), None, frozenset()
        return shown
