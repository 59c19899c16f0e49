"""A data directory as a crash left it, and its expected contents: everything acknowledged into it,
through both APIs. Some data is in tables, some only in the journal; beside the store are the clock,
the feature switches, and the files of the NoSQL API.
"""

import json
import random
import socket
import ssl
import urllib.error
import urllib.parse
import urllib.request

from lib.nosql import of_partition, stripped
from lib.seed import SEED
from lib.server import Server
from pymongo.errors import OperationFailure, PyMongoError

COLLECTIONS, TAIL = ("plain", "lives"), "tail"
DOCUMENTS, ITEMS, CHANGES = 150, 60, 150
#: Error code of the MongoDB API for damaged data.
DAMAGED = 301


class Damaged(Exception):
    """The server reported damage, which is a correct result."""


def change(rng, collection, container):
    """Makes one random write through either API."""
    id = rng.randrange(DOCUMENTS)
    writes = [
        lambda: collection.replace_one({"_id": id}, row(rng, id), upsert=True),
        lambda: collection.delete_one({"_id": id}),
        lambda: collection.insert_one(row(rng, f"new{rng.random()}")),
        lambda: container.upsert(item(rng, id % ITEMS)),
    ]
    rng.choice(writes)()


def build(path):
    """Creates the directory, ends with SIGKILL, and returns the expected contents."""
    rng = random.Random(f"{SEED} image")
    server = Server(data_dir=path, nosql=True)
    with server:
        database = server.client["d"]
        database["plain"].create_index("k")
        database["lives"].create_index("_ts", expireAfterSeconds=5_000)
        for name in COLLECTIONS:
            database[name].insert_many([row(rng, id) for id in range(DOCUMENTS)])
        assert server.items.create_database("d").status == 201
        container = server.items.container("d", "c")
        assert container.define(defaultTtl=5_000).status == 201
        for id in range(ITEMS):
            assert container.create(item(rng, id)).status == 201
        token = permitted(server)
        server.advance(1_000_000)
        switch(server, {"per_document_ttl": False})
        # Earlier writes are in tables now, later ones in the journal only.
        server.restart()
        database, container = server.client["d"], server.items.container("d", "c")
        for _ in range(CHANGES):
            change(rng, database[rng.choice(COLLECTIONS)], container)
        server.advance(1_000)
        truth = {**look(server, token), "token": token}
        # Damage to the last record of a journal looks like a torn write, so its loss is not
        # checked.
        database[TAIL].insert_one({"_id": 0})
        database[TAIL].insert_one({"_id": 1})
        server.kill()
    return truth


def permitted(server):
    """Returns the token of a permission, which is valid as long as the secret that signed it."""
    user = server.items.call("POST", "dbs/d/users", {"id": "u"})
    assert user.status == 201, user
    body = {"id": "p", "permissionMode": "Read", "resource": "dbs/d/colls/c"}
    reply = server.items.call(
        "POST", "dbs/d/users/u/permissions", body, {"x-ms-documentdb-expiry-seconds": "86400"}
    )
    assert reply.status == 201, reply
    return urllib.parse.quote(reply.json["_token"], safe="")


def row(rng, id):
    return {"_id": id, "k": rng.randrange(1_000), "pad": "x" * rng.choice([10, 200, 900])}


def item(rng, id):
    return {
        "id": str(id),
        "pk": "a",
        "n": rng.randrange(1_000),
        "pad": "y" * rng.choice([10, 500]),
    }


def switch(server, wanted=None):
    """Returns the feature switches, or sets them."""
    data = None if wanted is None else json.dumps(wanted).encode()
    request = urllib.request.Request(
        server.admin_url + "/_ebb/features",
        data,
        {"content-type": "application/json"},
        method="GET" if data is None else "PUT",
    )
    with urllib.request.urlopen(request, timeout=10) as reply:
        return json.loads(reply.read())


def look(server, token):
    """Returns all visible data by every read path; raises `Damaged` if damage is reported."""
    try:
        found = {"token": token if holds(server, token) else "not taken"}
        return {
            **found,
            **documents(server),
            **items(server),
            "now": server.now_ms(),
            "switched": switch(server),
            "certificate": certificate(server),
        }
    except OperationFailure as error:
        if error.code != DAMAGED:
            raise AssertionError(f"an error that does not say what it is: {error}") from error
        raise Damaged(str(error)) from error
    except urllib.error.HTTPError as error:
        raise Damaged(str(error)) from error
    except PyMongoError as error:
        raise AssertionError(f"the server died or hangs: {error}") from error


def holds(server, token):
    """Returns whether the server accepts the token."""
    reply = server.items.call(
        "GET", "dbs/d/colls/c/docs/1", None, {"authorization": token, **of_partition("a")}
    )
    return reply.status not in (401, 403)


def documents(server):
    found = {}
    database = server.client["d"]
    for name in sorted(set(database.list_collection_names()) - {TAIL}):
        found[name] = {row["_id"]: row for row in database[name].find()}
        found[name, "count"] = database[name].estimated_document_count()
        found[name, "indexes"] = {
            index["name"]: index.get("expireAfterSeconds")
            for index in database[name].list_indexes()
        }
        if "k_1" in found[name, "indexes"]:
            found[name, "by k"] = {row["_id"]: row for row in database[name].find().hint("k_1")}
    return found


def items(server):
    found = {}
    for path, part in (("dbs/d/colls", "DocumentCollections"), ("dbs/d/users", "Users")):
        reply = judged(server.items.call("GET", path))
        found[path] = [
            {name: value for name, value in it.items() if not name.startswith("_")}
            for it in reply.json[part]
        ]
    reply = judged(
        server.items.call("GET", "dbs/d/colls/c/docs", None, {"x-ms-max-item-count": "1000"})
    )
    found["items"] = {it["id"]: stripped(it) for it in reply.json["Documents"]}
    container = server.items.container("d", "c")
    reply = judged(container.page("SELECT VALUE c.id FROM c WHERE c.n >= 0", size=1000))
    found["items by n"] = sorted(reply.json["Documents"])
    return found


def judged(reply):
    if reply.status in (500, 503):
        raise Damaged(str(reply))
    assert reply.status == 200, reply
    return reply


def certificate(server):
    """Returns the certificate of the NoSQL API, which TLS clients may have pinned."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(server.items.address, 10) as plain,
        context.wrap_socket(plain) as wrapped,
    ):
        return wrapped.getpeercert(True)
