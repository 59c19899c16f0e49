"""A client of the NoSQL API: databases, containers, users, permissions and offers that are created,
changed and deleted, and items in them."""

import http.client

from lib import nosql
from lib.ending import tells_end

from storm.client import Client, Ended, Refused

CONTAINERS, USERS, PERMISSIONS = ("p", "q", "r"), ("u", "v"), ("x", "y")
#: Databases and containers that all clients use.
COMMON, SHARED_NAMES = ("common0", "common1"), ("m", "n", "o")
LIVES = (None, -1, 7_000, 9_000)
POLICIES = {
    "all": {"indexingMode": "consistent", "includedPaths": [{"path": "/*"}]},
    "n": {
        "indexingMode": "consistent",
        "includedPaths": [{"path": "/n/?"}],
        "excludedPaths": [{"path": "/*"}],
    },
    "composite": {
        "indexingMode": "consistent",
        "includedPaths": [{"path": "/*"}],
        "compositeIndexes": [
            [{"path": "/n", "order": "ascending"}, {"path": "/t", "order": "descending"}]
        ],
    },
}
#: Throughput of a container without its own, unless its database has one.
LEAST = 400
MOST = 60


def throughput(units):
    return {} if units is None else {"x-ms-offer-throughput": str(units)}


class Items(Client):
    """One connection; its own databases are named after it."""

    #: Concurrent write conflict; retry.
    BUSY = frozenset([449])
    #: Missing, existing, changed concurrently, precondition failed.
    CHANGED = frozenset([404, 409, 410, 412])

    def __init__(self, number, seed, shared, server):
        super().__init__(number, seed, shared)
        self.server = server
        self.databases = [f"own{number}{letter}" for letter in "ab"]

    def connect(self):
        self.client = nosql.Client(self.server.items.address, timeout=30)

    def close(self):
        self.client.close()

    def weights(self):
        return {
            self.make_database: 3,
            self.drop_database: 0.5,
            self.make: 6,
            self.replace: 4,
            self.drop: 3,
            self.insert: 8,
            self.upsert: 3,
            self.bulk: 3,
            self.look: 3,
            self.make_user: 2,
            self.drop_user: 1,
            self.permit: 3,
            self.revoke: 1,
            self.offer: 2,
            self.put: 8,
            self.clear: 2,
            self.clear_database: 0.5,
            self.make_common: 5,
            self.replace_common: 2,
        }

    def ask(self, method, path, body=None, headers=()):
        try:
            reply = self.client.call(method, path, body, headers)
        except (ConnectionError, TimeoutError, http.client.HTTPException) as error:
            raise Ended from error
        ends = reply.status == 500 and tells_end(reply.body.decode(errors="replace"))
        if ends or reply.status == 503:
            raise Ended
        if reply.status >= 400:
            raise Refused(reply.status, f"{method} {path}: {reply}")
        return reply

    def any_database(self):
        databases = self.world.names("db")
        return self.random.choice(databases)[1] if databases else None

    def pick(self, kind="coll"):
        keys = self.world.names(kind)
        return self.random.choice(keys) if keys else None

    # Databases.

    def make_database(self):
        name = self.random.choice(self.databases)
        if ("db", name) not in self.world.held:
            units = self.random.choice([None, None, 1_000])
            worlds = [self.world.with_(("db", name), {"units": some}) for some in (None, units)]
            self.own(
                f"create database {name}",
                lambda: self.ask("POST", "dbs", {"id": name}, throughput(units)),
                *worlds,
            )

    def drop_database(self):
        """Deletes a database. Interrupted, it may have removed containers and throughput."""
        if name := self.any_database():
            inside = [key for key in self.world.held if key[0] == "coll" and key[1] == name]
            users = [key for key in self.world.held if key[0] == "user" and key[1] == name]
            partly = self.world.without_some(inside) if inside else []
            partly += [
                {
                    key: {**value, "units": None} if key == ("db", name) else value
                    for key, value in world.items()
                }
                for world in [self.world.held, *partly]
            ]
            self.own(
                f"delete database {name}",
                lambda: self.ask("DELETE", f"dbs/{name}"),
                *partly,
                self.world.without(("db", name), *inside, *users),
            )

    # Containers.

    @staticmethod
    def link(key):
        return f"dbs/{key[1]}/colls/{key[2]}"

    def definition(self, key, held):
        body = {
            "id": key[2],
            "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2},
            "indexingPolicy": POLICIES[held["policy"]],
        }
        if held["ttl"] is not None:
            body["defaultTtl"] = held["ttl"]
        if held["unique"]:
            body["uniqueKeyPolicy"] = {"uniqueKeys": [{"paths": ["/u"]}]}
        return body

    def drawn(self):
        return {
            "ttl": self.random.choice(LIVES),
            "policy": self.random.choice(sorted(POLICIES)),
            "unique": self.random.random() < 0.2,
        }

    def make(self):
        database, name = self.any_database(), self.random.choice(CONTAINERS)
        key = "coll", database, name
        if database is None or key in self.world.held:
            return
        asked = self.random.choice([None, None, 800])
        shared = self.world.held["db", database]["units"] is not None
        # The next start gives a container without throughput the minimum.
        usual = None if shared else LEAST
        held = {**self.drawn(), "items": {}}
        worlds = [
            self.world.with_(key, {**held, "units": some}) for some in (usual, asked or usual)
        ]
        self.own(
            f"create container {key}",
            lambda: self.ask(
                "POST", f"dbs/{database}/colls", self.definition(key, held), throughput(asked)
            ),
            *worlds,
        )

    def replace(self):
        if key := self.pick():
            held = {
                **self.world.held[key],
                **self.drawn(),
                "unique": self.world.held[key]["unique"],
            }
            self.own(
                f"replace container {key}",
                lambda: self.ask("PUT", self.link(key), self.definition(key, held)),
                self.world.with_(key, held),
            )

    def drop(self):
        if key := self.pick():
            self.own(
                f"delete container {key}",
                lambda: self.ask("DELETE", self.link(key)),
                self.world.without(key),
            )

    def offer(self):
        """Changes the throughput of a container or a database that has its own."""
        keys = [
            key
            for kind in ("db", "coll")
            for key in self.world.names(kind)
            if self.world.held[key]["units"] is not None
        ]
        if not keys:
            return
        key = self.random.choice(keys)
        offers = offers_by_resource(self.ask)
        resource = self.ask("GET", self.link(key) if key[0] == "coll" else f"dbs/{key[1]}").json
        offer = offers.get(resource["_rid"])
        if offer is None:
            self.wrong.append(f"{key} has no offer")
            return
        units = self.random.choice([500, 600, 700])
        offer = {**offer, "content": {**offer["content"], "offerThroughput": units}}
        self.own(
            f"replace the offer of {key}",
            lambda: self.ask("PUT", f"offers/{offer['id']}", offer),
            self.world.with_(key, {**self.world.held[key], "units": units}),
        )

    # Users and permissions.

    def make_user(self):
        database = self.any_database()
        key = "user", database, self.random.choice(USERS)
        if database and key not in self.world.held:
            self.own(
                f"create {key}",
                lambda: self.ask("POST", f"dbs/{database}/users", {"id": key[2]}),
                self.world.with_(key, {"permissions": {}}),
            )

    def drop_user(self):
        if key := self.pick("user"):
            self.own(
                f"delete {key}",
                lambda: self.ask("DELETE", f"dbs/{key[1]}/users/{key[2]}"),
                self.world.without(key),
            )

    def permitted(self, key, permissions):
        return self.world.with_(key, {"permissions": permissions})

    def permit(self):
        """Creates a permission, or changes the mode of an existing one."""
        key, name = self.pick("user"), self.random.choice(PERMISSIONS)
        if key is None:
            return
        held, feed = self.world.held[key]["permissions"], f"dbs/{key[1]}/users/{key[2]}/permissions"
        mode = self.random.choice(["Read", "All"])
        # A user has at most one permission for a resource.
        body = {"id": name, "permissionMode": mode, "resource": f"dbs/{key[1]}/colls/{name}"}
        method, path = ("PUT", f"{feed}/{name}") if name in held else ("POST", feed)
        self.own(
            f"permission {name} of {key}",
            lambda: self.ask(method, path, body),
            self.permitted(key, {**held, name: mode}),
        )

    def revoke(self):
        keys = [key for key in self.world.names("user") if self.world.held[key]["permissions"]]
        if not keys:
            return
        key = self.random.choice(keys)
        held = {**self.world.held[key]["permissions"]}
        name = self.random.choice(sorted(held))
        del held[name]
        self.own(
            f"delete permission {name} of {key}",
            lambda: self.ask("DELETE", f"dbs/{key[1]}/users/{key[2]}/permissions/{name}"),
            self.permitted(key, held),
        )

    # Items.

    def item(self, id):
        return {"id": id, "pk": "a", "n": self.random.randrange(100), "t": self.number, "u": id}

    def holding(self, key, items):
        held = self.world.held[key]
        return self.world.with_(
            key, {**held, "items": {**held["items"], **{item["id"]: item for item in items}}}
        )

    def roomy(self):
        key = self.pick()
        return key if key and len(self.world.held[key]["items"]) < MOST else None

    def insert(self, headers=()):
        if key := self.roomy():
            item = self.item(*self.new_ids())
            self.own(
                f"create item in {key}",
                lambda: self.ask(
                    "POST",
                    f"{self.link(key)}/docs",
                    item,
                    {**nosql.of_partition("a"), **dict(headers)},
                ),
                self.holding(key, [item]),
            )

    def upsert(self):
        self.insert(nosql.UPSERT)

    def bulk(self):
        """Creates items in an atomic batch."""
        if key := self.roomy():
            items = [self.item(id) for id in self.new_ids(5)]
            headers = {
                "x-ms-cosmos-is-batch-request": "True",
                "x-ms-cosmos-batch-atomic": "True",
                **nosql.of_partition("a"),
            }
            body = [{"operationType": "Create", "resourceBody": item} for item in items]
            self.own(
                f"batch in {key}",
                lambda: self.ask("POST", f"{self.link(key)}/docs", body, headers),
                self.holding(key, items),
            )

    def look(self):
        if key := self.pick():
            reply = self.ask("GET", f"{self.link(key)}/docs", None, {"x-ms-max-item-count": "1000"})
            found = {row["id"]: nosql.stripped(row) for row in reply.json["Documents"]}
            if found != self.world.held[key]["items"]:
                self.wrong.append(
                    f"{key} has {len(found)} items, "
                    f"{len(self.world.held[key]['items'])} were acknowledged"
                )

    # Shared names.

    def shared_name(self):
        return "nosql", self.random.choice(COMMON), self.random.choice(SHARED_NAMES)

    def meet(self, name):
        """Creates a container that one of the clients gets to create, and all write to."""
        name = "nosql", COMMON[0], name
        self.request(f"create database {name[1]}", "POST", "dbs", {"id": name[1]})
        self.request(
            f"create {name}", "POST", f"dbs/{name[1]}/colls", self.definition(name, self.drawn())
        )
        self.put_into(name)

    def request(self, what, method, path, body=None, headers=(), entries=()):
        return self.common(what, lambda: self.ask(method, path, body, headers), list(entries))

    def put(self):
        self.put_into(self.shared_name())

    def put_into(self, name):
        [id] = self.new_ids()
        self.request(
            f"create item in {name}",
            "POST",
            f"{self.link(name)}/docs",
            self.item(id),
            nosql.of_partition("a"),
            self.shared.insert([id], name),
        )

    def make_common(self):
        name = self.shared_name()
        self.request(f"create database {name[1]}", "POST", "dbs", {"id": name[1]})
        self.request(
            f"create {name}", "POST", f"dbs/{name[1]}/colls", self.definition(name, self.drawn())
        )

    def replace_common(self):
        """Replaces a container, with its actual unique key, which cannot be changed."""
        name = self.shared_name()
        try:
            held = self.ask("GET", self.link(name)).json
        except Refused:
            return
        drawn = {**self.drawn(), "unique": bool(held.get("uniqueKeyPolicy", {}).get("uniqueKeys"))}
        self.request(
            f"replace {name}", "PUT", self.link(name), self.definition(name, drawn), if_match(held)
        )

    def clear(self):
        name = self.shared_name()
        entries = self.shared.change(gone=lambda other: other == name)
        self.request(f"delete {name}", "DELETE", self.link(name), entries=entries)

    def clear_database(self):
        database = self.random.choice(COMMON)
        entries = self.shared.change(gone=lambda name: name[:2] == ("nosql", database))
        self.request(f"delete database {database}", "DELETE", f"dbs/{database}", entries=entries)


def if_match(held):
    return nosql.if_match(held["_etag"])


def offers_by_resource(ask):
    return {offer["offerResourceId"]: offer for offer in ask("GET", "offers").json["Offers"]}


def units_of(offers, resource):
    offer = offers.get(resource["_rid"])
    return offer and offer["content"]["offerThroughput"]


def policy_of(policy):
    """Returns which of the policies a definition has."""
    if policy.get("compositeIndexes"):
        return "composite"
    return "all" if any(path["path"] == "/*" for path in policy["includedPaths"]) else "n"


def world_of(server, client):
    """Returns the data in the databases of one client, as a world."""

    def ask(method, path, headers=()):
        reply = server.items.call(method, path, None, headers)
        assert reply.status == 200, f"{method} {path}: {reply}"
        return reply

    offers, found = offers_by_resource(ask), {}
    present = [it for it in ask("GET", "dbs").json["Databases"] if it["id"] in client.databases]
    for database in present:
        name = database["id"]
        found["db", name] = {"units": units_of(offers, database)}
        for container in ask("GET", f"dbs/{name}/colls").json["DocumentCollections"]:
            rows = server.items.container(name, container["id"]).rows()
            found["coll", name, container["id"]] = {
                "ttl": container.get("defaultTtl"),
                "units": units_of(offers, container),
                "policy": policy_of(container["indexingPolicy"]),
                "unique": bool(container.get("uniqueKeyPolicy", {}).get("uniqueKeys")),
                "items": {row["id"]: nosql.stripped(row) for row in rows},
            }
        for user in ask("GET", f"dbs/{name}/users").json["Users"]:
            permissions = ask("GET", f"dbs/{name}/users/{user['id']}/permissions").json[
                "Permissions"
            ]
            found["user", name, user["id"]] = {
                "permissions": {it["id"]: it["permissionMode"] for it in permissions}
            }
    return found
