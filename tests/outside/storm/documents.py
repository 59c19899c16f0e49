"""A client of the MongoDB API: collections of several kinds that are created explicitly and by
writes, renamed and dropped; views over them; indexes, TTL settings, validators and throughput."""

from lib.ending import is_end
from pymongo import InsertOne, UpdateOne
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError

from storm.client import Client, Ended, Refused

#: Databases and collections of one client, few enough that names are soon used again.
DATABASES, NAMES = ("a", "b"), ("p", "q", "r", "s")
#: Databases and collections that all clients use.
COMMON, SHARED_NAMES = ("common0", "common1"), ("m", "n", "o")
INDEXES = {
    "n_1": ([("n", 1)], {}),
    "n_-1_t_1": ([("n", -1), ("t", 1)], {}),
    "u": ([("_id", 1), ("n", 1)], {}),
    "_ts_1": ([("_ts", 1)], {"expireAfterSeconds": 9_000}),
    "at_1": ([("at", 1)], {"expireAfterSeconds": 8_000}),
    "w_text": ([("w", "text")], {}),
}
#: Options of `create` by kind of collection.
KINDS = {
    "plain": {},
    "capped": {"capped": True, "size": 1 << 20},
    "clustered": {"clusteredIndex": {"key": {"_id": 1}, "unique": True}},
}
#: Views of one client, in the databases of its collections.
VIEWS = ("x", "y")
#: The pipeline of a view.
SELECTED = [{"$match": {"n": {"$gte": 50}}}]
MOST = 60
#: Validators that all documents of the storm match.
VALIDATORS = ({}, {"n": {"$gte": 0}}, {"$jsonSchema": {"required": ["n", "t"]}})
#: A document that none of them but the empty one accepts.
INVALID = {"n": -1}
THROUGHPUTS = (400, 1_000, 4_000)


def seconds(options):
    return options.get("expireAfterSeconds")


class Documents(Client):
    """One connection; its own databases are named after it."""

    #: The kinds of collections that it creates.
    kinds = sorted(KINDS)

    BUSY = frozenset([112])
    #: Missing name, name in use, missing index, other options, dropped concurrently.
    CHANGED = frozenset([26, 27, 48, 85, 86, 175])

    def __init__(self, number, seed, shared, server):
        super().__init__(number, seed, shared)
        self.server = server
        self.databases = [f"own{number}{letter}" for letter in DATABASES]

    def connect(self):
        self.client = self.server.connect(
            retryWrites=False, retryReads=False, maxPoolSize=1, serverSelectionTimeoutMS=2_000
        )

    def close(self):
        self.client.close()

    def weights(self):
        return {
            self.insert: 8,
            self.make: 3,
            self.imply: 8,
            self.rename: 5,
            self.drop: 3,
            self.drop_database: 1,
            self.index: 4,
            self.forget: 2,
            self.retime: 2,
            self.constrain: 3,
            self.provision: 2,
            self.put_invalid: 2,
            self.look: 3,
            self.view: 4,
            self.drop_view: 2,
            self.look_through: 3,
            self.put: 8,
            self.carry: 3,
            self.clear: 2,
            self.clear_database: 0.5,
            self.index_common: 2,
            self.change_common: 2,
        }

    def ask(self, request):
        """Returns the reply; raises Ended or Refused for errors."""
        try:
            return request()
        except BulkWriteError as error:
            if is_end(error):
                raise Ended from error
            first = (error.details["writeErrors"] or [{"code": 0, "errmsg": str(error.details)}])[0]
            raise Refused(first["code"], first["errmsg"]) from error
        except PyMongoError as error:
            if is_end(error):
                raise Ended from error
            if not isinstance(error, OperationFailure):
                raise
            raise Refused(error.code, str(error)) from error

    # Own names.

    def at(self, key):
        return self.client[key[1]][key[2]]

    def any_key(self):
        return "coll", self.random.choice(self.databases), self.random.choice(NAMES)

    def pick(self):
        """Returns an existing collection."""
        keys = self.world.names("coll")
        return self.random.choice(keys) if keys else None

    def free(self):
        """Returns an unused name, or None if the one chosen is in use."""
        key = self.any_key()
        return None if key in self.world.held else key

    def row(self, id):
        return {
            "_id": id,
            "n": self.random.randrange(100),
            "t": self.number,
            "w": f"storm of {self.number}",
        }

    @staticmethod
    def holding(rows, indexes=(), kind="plain"):
        return {
            "kind": kind,
            "rows": dict(rows),
            "indexes": dict(indexes),
            "validator": VALIDATORS[0],
            "throughput": None,
        }

    def make(self):
        if key := self.free():
            database, kind = self.client[key[1]], self.random.choice(self.kinds)
            self.own(
                f"create {kind} {key}",
                lambda: self.ask(lambda: database.command("create", key[2], **KINDS[kind])),
                self.world.with_(key, self.holding({}, kind=kind)),
            )

    def insert(self):
        """Inserts several documents; without a reply, a prefix of them may be present."""
        key = self.pick()
        if key and len(self.world.held[key]["rows"]) < MOST:
            self.add(key, self.new_ids(self.random.randint(1, 8)))

    def add(self, key, ids):
        held = self.world.held.get(key, self.holding({}))
        rows = [self.row(id) for id in ids]
        worlds = [
            self.world.with_(
                key, {**held, "rows": {**held["rows"], **{row["_id"]: row for row in rows[:count]}}}
            )
            for count in range(len(rows) + 1)
        ]
        self.own(
            f"insert into {key}",
            lambda: self.ask(lambda: self.at(key).insert_many([dict(row) for row in rows])),
            *worlds,
        )

    def imply(self):
        """Creates a collection by a write to it."""
        if key := self.free():
            [id] = self.new_ids()
            self.random.choice([self.by_insert, self.by_update, self.by_modify, self.by_bulk])(
                key, id
            )

    def by_insert(self, key, id):
        self.add(key, [id])

    def upserted(self, key, id, request):
        row = {**self.row(id)}
        change = {"$set": {name: value for name, value in row.items() if name != "_id"}}
        worlds = [self.world.with_(key, self.holding(rows)) for rows in ({}, {id: row})]
        self.own(f"upsert into {key}", lambda: self.ask(lambda: request(change)), *worlds)

    def by_update(self, key, id):
        self.upserted(
            key, id, lambda change: self.at(key).update_one({"_id": id}, change, upsert=True)
        )

    def by_modify(self, key, id):
        self.upserted(
            key,
            id,
            lambda change: self.at(key).find_one_and_update({"_id": id}, change, upsert=True),
        )

    def by_bulk(self, key, id):
        self.upserted(
            key,
            id,
            lambda change: self.at(key).bulk_write([UpdateOne({"_id": id}, change, upsert=True)]),
        )

    def rename(self):
        """Renames to a free name, or to one with documents, which is replaced: atomically."""
        source, target = self.pick(), self.any_key()
        if source is None or source == target:
            return
        replaces = target in self.world.held
        after = {**self.world.without(source), target: self.world.held[source]}
        self.own(
            f"rename {source} to {target}{', which goes' if replaces else ''}",
            lambda: self.ask(
                lambda: self.client.admin.command(
                    "renameCollection",
                    f"{source[1]}.{source[2]}",
                    to=f"{target[1]}.{target[2]}",
                    dropTarget=replaces or self.random.random() < 0.5,
                )
            ),
            after,
        )

    def drop(self):
        if key := self.pick():
            self.own(f"drop {key}", lambda: self.ask(self.at(key).drop), self.world.without(key))

    def drop_database(self):
        database = self.random.choice(self.databases)
        keys = [*self.world.names("coll"), *self.world.names("view")]
        if keys := [key for key in keys if key[1] == database]:
            self.own(
                f"dropDatabase {database}",
                lambda: self.ask(lambda: self.client.drop_database(database)),
                *self.world.without_some(keys),
            )

    # Views.

    def view(self):
        """Creates a view, or changes its source, which need not exist."""
        key = "view", self.random.choice(self.databases), self.random.choice(VIEWS)
        source = self.random.choice(NAMES)
        command = "collMod" if key in self.world.held else "create"
        self.own(
            f"{command} {key} over {source}",
            lambda: self.ask(
                lambda: self.client[key[1]].command(
                    command, key[2], viewOn=source, pipeline=SELECTED
                )
            ),
            self.world.with_(key, {"source": source}),
        )

    def pick_view(self):
        keys = self.world.names("view")
        return self.random.choice(keys) if keys else None

    def drop_view(self):
        if key := self.pick_view():
            self.own(f"drop {key}", lambda: self.ask(self.at(key).drop), self.world.without(key))

    def look_through(self):
        """Checks that a view shows the acknowledged documents of its source."""
        if key := self.pick_view():
            source = "coll", key[1], self.world.held[key]["source"]
            rows = self.world.held.get(source, self.holding({}))["rows"].values()
            wanted = sorted(row["_id"] for row in rows if row["n"] >= 50)
            found = sorted(row["_id"] for row in self.ask(lambda: list(self.at(key).find())))
            if found != wanted:
                shown = f"{len(found)} documents of {len(wanted)}"
                self.wrong.append(f"{key} shows {shown} in {source}")

    # Indexes and TTL settings.

    def index(self):
        """Creates one or two indexes, on a collection that exists or is created by this."""
        key = self.any_key()
        held = self.world.held.get(key, self.holding({}))
        names = self.random.sample(sorted(INDEXES), self.random.randint(1, 2))
        names = [name for name in names if name not in held["indexes"]]
        if not names:
            return
        specs = [
            {"name": name, "key": dict(INDEXES[name][0]), **INDEXES[name][1]} for name in names
        ]
        worlds = [
            self.world.with_(
                key,
                {
                    **held,
                    "indexes": {
                        **held["indexes"],
                        **{name: seconds(INDEXES[name][1]) for name in some},
                    },
                },
            )
            for some in ([], names[:1], names[1:], names)
        ]
        self.own(
            f"createIndexes {names} of {key}",
            lambda: self.ask(
                lambda: self.client[key[1]].command("createIndexes", key[2], indexes=specs)
            ),
            *worlds,
        )

    def indexed(self, wanted=lambda seconds: True):
        """Returns a collection and one of its indexes."""
        found = [
            (key, name)
            for key in self.world.names("coll")
            for name, own in self.world.held[key]["indexes"].items()
            if wanted(own)
        ]
        return self.random.choice(found) if found else None

    def reindexed(self, key, indexes):
        return self.world.with_(key, {**self.world.held[key], "indexes": indexes})

    def forget(self):
        if found := self.indexed():
            key, name = found
            indexes = {**self.world.held[key]["indexes"]}
            del indexes[name]
            self.own(
                f"dropIndexes {name} of {key}",
                lambda: self.ask(lambda: self.at(key).drop_index(name)),
                self.reindexed(key, indexes),
            )

    def retime(self):
        if found := self.indexed(lambda own: own is not None):
            key, name = found
            after = self.random.choice([-1, 7_000, 6_000] if name == "_ts_1" else [5_000, 4_000])
            indexes = {**self.world.held[key]["indexes"], name: after}
            self.own(
                f"collMod {name} of {key}",
                lambda: self.ask(
                    lambda: self.client[key[1]].command(
                        "collMod", key[2], index={"name": name, "expireAfterSeconds": after}
                    )
                ),
                self.reindexed(key, indexes),
            )

    # Validators and throughput.

    def constrain(self):
        if key := self.pick():
            validator = self.random.choice(VALIDATORS)
            self.own(
                f"collMod validator of {key}",
                lambda: self.ask(
                    lambda: self.client[key[1]].command("collMod", key[2], validator=validator)
                ),
                self.world.with_(key, {**self.world.held[key], "validator": validator}),
            )

    def provision(self):
        if key := self.pick():
            throughput = self.random.choice(THROUGHPUTS)
            self.own(
                f"UpdateCollection {key}",
                lambda: self.ask(lambda: update_throughput(self.client, key, throughput)),
                self.world.with_(key, {**self.world.held[key], "throughput": throughput}),
            )

    def put_invalid(self):
        """A validator refuses a document, and a collection without one takes it."""
        if key := self.pick():
            [id] = self.new_ids()
            row, held = {"_id": id, **INVALID}, self.world.held[key]
            validated = held["validator"] != VALIDATORS[0]
            after = held if validated else {**held, "rows": {**held["rows"], id: row}}
            self.world.intend(f"invalid document into {key}", self.world.with_(key, after))
            code = None
            try:
                self.ask(lambda: self.at(key).insert_one(dict(row)))
            except Refused as refusal:
                code = refusal.code
            if code in self.BUSY:
                self.world.refuse()
                return
            self.world.acknowledge()
            if code != (121 if validated else None):
                self.wrong.append(f"{key} with {held['validator']}: {code} for an invalid document")

    def look(self):
        """Checks that acknowledged documents are present; a read does not create the collection."""
        key = self.any_key()
        wanted = self.world.held.get(key, self.holding({}))["rows"]
        other = self.random.choice(NAMES)
        pipeline = [
            {"$lookup": {"from": other, "localField": "_id", "foreignField": "_id", "as": "x"}},
            {"$unset": "x"},
        ]
        found = self.ask(lambda: list(self.at(key).aggregate(pipeline)))
        if {row["_id"]: row for row in found} != wanted:
            self.wrong.append(f"{key} has {len(found)} documents, {len(wanted)} were acknowledged")

    # Shared names.

    def shared_name(self):
        return "mongo", self.random.choice(COMMON), self.random.choice(SHARED_NAMES)

    def meet(self, name):
        self.put_into(("mongo", COMMON[0], name))

    def put(self):
        self.put_into(self.shared_name())

    def put_into(self, name):
        [id] = self.new_ids()
        row, target = self.row(id), self.client[name[1]][name[2]]
        how = self.random.choice(
            [
                lambda: target.insert_one(row),
                lambda: target.replace_one({"_id": id}, row, upsert=True),
                lambda: target.find_one_and_replace({"_id": id}, row, upsert=True),
                lambda: target.bulk_write([InsertOne(row)]),
            ]
        )
        self.common(f"insert into {name}", lambda: self.ask(how), self.shared.insert([id], name))

    def carry(self):
        source, target = self.shared_name(), self.shared_name()
        if source == target:
            return
        replaces = self.random.random() < 0.4
        entries = self.shared.change(
            source=source, target=target, gone=(lambda name: name == target) if replaces else None
        )
        self.common(
            f"rename {source} to {target}",
            lambda: self.ask(
                lambda: self.client.admin.command(
                    "renameCollection",
                    ".".join(source[1:]),
                    to=".".join(target[1:]),
                    dropTarget=replaces,
                )
            ),
            entries,
        )

    def clear(self):
        name = self.shared_name()
        entries = self.shared.change(gone=lambda other: other == name)
        self.common(f"drop {name}", lambda: self.ask(self.client[name[1]][name[2]].drop), entries)

    def clear_database(self):
        database = self.random.choice(COMMON)
        entries = self.shared.change(gone=lambda name: name[:2] == ("mongo", database))
        self.common(
            f"dropDatabase {database}",
            lambda: self.ask(lambda: self.client.drop_database(database)),
            entries,
        )

    def index_common(self):
        name, chosen = self.shared_name(), self.random.choice(sorted(INDEXES))
        keys, options = INDEXES[chosen]
        target = self.client[name[1]][name[2]]
        how = self.random.choice(
            [
                lambda: target.create_index(keys, name=chosen, **options),
                lambda: target.drop_index(chosen),
                target.drop_indexes,
                lambda: target.database.command(
                    "collMod", name[2], index={"name": "_ts_1", "expireAfterSeconds": 3_000}
                ),
            ]
        )
        self.common(f"indexes of {name}", lambda: self.ask(how), [])

    def change_common(self):
        """Changes the validator or the throughput of a collection that others use."""
        name, validator = self.shared_name(), self.random.choice(VALIDATORS)
        how = self.random.choice(
            [
                lambda: self.client[name[1]].command("collMod", name[2], validator=validator),
                lambda: update_throughput(self.client, name, self.random.choice(THROUGHPUTS)),
            ]
        )
        self.common(f"options of {name}", lambda: self.ask(how), [])


def update_throughput(client, name, throughput):
    """Sets the throughput of a collection; `name` ends with the names of database and
    collection."""
    return client[name[1]].command(
        "customAction", "UpdateCollection", collection=name[2], offerThroughput=throughput
    )


def throughput_of(client, name):
    reply = client[name[1]].command("customAction", "GetCollection", collection=name[2])
    return reply.get("provisionedThroughput")


def kind_of(options):
    """Returns the kind of a collection by the options that it is listed with."""
    kinds = {"capped": "capped", "clusteredIndex": "clustered"}
    return next((kind for option, kind in kinds.items() if options.get(option)), "plain")


def world_of(server, client):
    """Returns the data in the databases of one client, as a world."""
    found = {}
    for database in client.databases:
        for listed in server.client[database].list_collections():
            name, options = listed["name"], listed["options"]
            if listed["type"] == "view":
                found["view", database, name] = {"source": options["viewOn"]}
                continue
            collection = server.client[database][name]
            found["coll", database, name] = {
                "kind": kind_of(options),
                "rows": {row["_id"]: row for row in collection.find()},
                "indexes": {
                    index["name"]: index.get("expireAfterSeconds")
                    for index in collection.list_indexes()
                    if index["name"] != "_id_"
                },
                "validator": options.get("validator", {}),
                "throughput": throughput_of(server.client, ("mongo", database, name)),
            }
    return found
