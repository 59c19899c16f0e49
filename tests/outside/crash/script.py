"""A script of about sixty requests of both APIs, one after the other: documents, items, names,
indexes, TTL settings, and enough simultaneous expirations to trigger a compaction. It knows the
state after each request, so that a directory can be checked after any last system call.
"""

import copy

from lib.server import date

from crash.check import hinted

DATABASE = "script"
#: Bytes of a small and of a large document.
SMALL, LARGE = 50, 4_000
#: Seconds that an expiring document lives, and number of documents that expire together: more than
#: the reaper's minimum.
LIFE, MANY = 10, 60


class Outcome(Exception):
    """A request was refused that should have succeeded."""


class Collection:
    """State of a collection: bodies by id with their deadlines (None: never), names of indexes, and
    TTL in seconds."""

    def __init__(self):
        self.rows, self.indexes, self.ttl = {}, set(), None

    def live(self, now):
        return {
            id: body
            for id, (body, deadline) in self.rows.items()
            if deadline is None or now < deadline
        }

    def seen(self, now):
        """Returns what a client sees of it at an instant."""
        return self.live(now), self.indexes, self.ttl


class State(dict):
    """Collections by (API, name)."""

    def copy(self):
        return copy.deepcopy(self)

    def seen(self, now):
        return {name: it.seen(now) for name, it in self.items()}


class Script:
    """One run. `states` are the legal states: one after a reply, before it also the states that the
    request may have left."""

    def __init__(self, server):
        self.server = server
        self.states = [State()]
        self.done = 0

    def run(self):
        for change, request in self.steps():
            state = self.states[-1]
            states = [state]
            for part in change if isinstance(change, list) else [change]:
                after = states[-1].copy()
                part(after)
                states.append(after)
            self.states = states
            request()
            self.states = states[-1:]
            self.done += 1

    def documents(self, name):
        return self.server.client[DATABASE][name]

    def items(self, name):
        return self.server.items.container(DATABASE, name)

    # Steps: the changes to the state, and the request.

    def steps(self):
        yield from self.make()
        yield from self.write("a")
        yield from self.write_items("a")
        yield from self.rule()
        yield from self.expire()
        yield from self.rename()
        yield from self.write("b")
        yield from self.remove()

    def make(self):
        yield make("d", "a"), lambda: self.database().create_collection("a")
        yield nothing, lambda: status(self.server.items.create_database(DATABASE), 201)
        yield make("i", "a"), lambda: status(self.items("a").define(), 201)
        yield make("d", "passing"), lambda: self.database().create_collection("passing")

    def database(self):
        return self.server.client[DATABASE]

    def write(self, name):
        rows, key = self.documents(name), ("d", name)
        for number in range(6):
            row = body(f"{name}{number}", number)
            yield put(key, row), lambda row=row: rows.insert_one(dict(row))
        many = [body(f"{name}m{number}", number, LARGE) for number in range(12)]
        yield (
            [put(key, row) for row in many],
            lambda: rows.insert_many([dict(row) for row in many]),
        )
        yield index(key, "n_1"), lambda: rows.create_index("n")
        yield index(key, "u_1"), lambda: rows.create_index("u", unique=True)
        yield (
            change(key, f"{name}1", n=100),
            lambda: rows.update_one({"_id": f"{name}1"}, {"$set": {"n": 100}}),
        )
        among = [f"{name}{number}" for number in range(6)]
        yield (
            [change(key, id, w=1) for id in among],
            lambda: rows.update_many({"_id": {"$in": among}}, {"$set": {"w": 1}}),
        )
        yield (
            change(key, f"{name}2", n=7),
            lambda: rows.find_one_and_update({"_id": f"{name}2"}, {"$inc": {"n": 5}}),
        )
        new = body(f"{name}3", 55)
        yield put(key, new), lambda: rows.replace_one({"_id": f"{name}3"}, dict(new))
        yield drop(key, f"{name}4"), lambda: rows.delete_one({"_id": f"{name}4"})
        yield no_index(key, "n_1"), lambda: rows.drop_index("n_1")

    def write_items(self, name):
        items, key = self.items(name), ("i", name)
        for number in range(4):
            item = {"id": f"i{number}", "pk": "a", "n": number, "pad": "x" * SMALL}
            yield put(key, item), lambda item=item: status(items.create(item), 201)
        item = {"id": "i1", "pk": "a", "n": 50}
        yield put(key, item), lambda: status(items.upsert(item), 200)
        add = [{"op": "incr", "path": "/n", "value": 1}]
        yield change(key, "i2", n=3), lambda: status(items.patch("i2", "a", add), 200)
        batch = [{"id": f"b{number}", "pk": "a", "n": number} for number in range(5)]

        def all_of(state):
            for it in batch:
                put(key, it)(state)

        operations = [{"operationType": "Create", "resourceBody": it} for it in batch]
        yield all_of, lambda: status(items.batch("a", operations), 200)
        yield drop(key, "i3"), lambda: status(items.delete("i3", "a"), 204)
        yield rule(key, 3_600), lambda: status(items.redefine(defaultTtl=3_600), 200)
        yield rule(key, None), lambda: status(items.redefine(), 200)

    def rule(self):
        rows, key = self.documents("a"), ("d", "a")
        yield rule(key, 3_600), lambda: rows.create_index("_ts", expireAfterSeconds=3_600)
        new = {"keyPattern": {"_ts": 1}, "expireAfterSeconds": 7_200}
        yield rule(key, 7_200), lambda: self.database().command("collMod", "a", index=new)
        yield rule(key, None), lambda: rows.drop_index("_ts_1")

    def expire(self):
        """Yields steps after which enough data expires at once for the collection to be
        compacted."""
        rows, key = self.documents("passing"), ("d", "passing")
        at = self.server.now_ms() + LIFE * 1000
        yield index(key, "at_1"), lambda: rows.create_index("at", expireAfterSeconds=0)
        for part in range(2):
            ids = range(part * MANY, part * MANY + MANY)
            many = [{**body(f"p{id}", id, LARGE), "at": date(at)} for id in ids]
            yield (
                [put(key, row, at) for row in many],
                lambda many=many: rows.insert_many([dict(row) for row in many]),
            )
        stays = body("stays", 1)
        yield put(key, stays), lambda: rows.insert_one(dict(stays))
        yield nothing, lambda: self.server.move_to(at)
        yield nothing, lambda: self.server.wait_until_reaped((DATABASE, "passing"), within=30)

    def rename(self):
        yield move(("d", "a"), ("d", "c")), lambda: self.documents("a").rename("c")
        yield make("d", "b"), lambda: self.database().create_collection("b")

    def remove(self):
        yield gone(("d", "c")), lambda: self.documents("c").drop()
        link = self.items("a").link
        yield gone(("i", "a")), lambda: status(self.server.items.call("DELETE", link), 204)
        yield make("i", "a"), lambda: status(self.items("a").define(defaultTtl=-1), 201)
        item = {"id": "last", "pk": "a"}
        yield put(("i", "a"), item), lambda: status(self.items("a").create(item), 201)
        # The collection is created before the document is inserted.
        row = body("last", 1)
        yield (
            [make("d", "a"), put(("d", "a"), row)],
            lambda: self.documents("a").insert_one(dict(row)),
        )

    # Checks.

    def wrong(self):
        """Returns the errors in the data of a restarted server, read by scans and by each index."""
        now, found, wrong = self.server.now_ms(), {}, []
        database = self.database()
        for name in database.list_collection_names():
            rows = {row["_id"]: row for row in database[name].find()}
            indexes = database[name].index_information()
            for index in indexes:
                if "_ts" in index:
                    continue
                by_index = {row["_id"]: row for row in hinted(database[name], index)}
                if by_index != rows:
                    wrong.append(f"{name} by {index} differs from the scan")
            ttl = indexes.get("_ts_1", {}).get("expireAfterSeconds")
            names = set(indexes) - {"_id_", "_ts_1"}
            found["d", name] = rows, names, ttl
        reply = self.server.items.call("GET", f"dbs/{DATABASE}/colls")
        if reply.status != 404:
            for it in reply.json["DocumentCollections"]:
                rows = self.items(it["id"]).rows()
                rows = {row["id"]: without_system(row) for row in rows}
                found["i", it["id"]] = rows, set(), it.get("defaultTtl")
        legal = [state.seen(now) for state in self.states]
        if found not in legal:
            wrong.append(f"after {self.done} steps: {differences(found, legal)}")
        return wrong


def differences(found, legal):
    """Describes the differences from each legal state."""
    texts = []
    for at, state in enumerate(legal[:3]):
        odd = [key for key in state.keys() | found.keys() if state.get(key) != found.get(key)]
        told = [f"{key}: {found.get(key)!s:.300}, wanted {state.get(key)!s:.300}" for key in odd]
        texts.append(f"state {at} of {len(legal)}: {told}")
    return "; ".join(texts)


def without_system(item):
    return {name: value for name, value in item.items() if not name.startswith("_")}


def body(id, number, size=SMALL):
    return {"_id": id, "n": number, "u": id, "pad": "x" * size}


def status(reply, wanted):
    if reply.status != wanted:
        raise Outcome(f"{reply}, expected {wanted}")


# Changes that requests make.


def nothing(_):
    """Changes nothing that is compared."""


def make(kind, name):
    def change(state):
        state[kind, name] = Collection()
        if kind == "i" and ("d", "b") in state:
            state[kind, name].ttl = -1

    return change


def put(key, row, deadline=None):
    def change(state):
        state[key].rows[row["_id"] if key[0] == "d" else row["id"]] = dict(row), deadline

    return change


def drop(key, id):
    return lambda state: state[key].rows.pop(id)


def change(key, id, **fields):
    return lambda state: state[key].rows[id][0].update(fields)


def index(key, name):
    return lambda state: state[key].indexes.add(name)


def no_index(key, name):
    return lambda state: state[key].indexes.discard(name)


def rule(key, seconds):
    return lambda state: setattr(state[key], "ttl", seconds)


def gone(key):
    return lambda state: state.pop(key)


def move(key, to):
    def change(state):
        state[to] = state.pop(key)

    return change
