"""Checks of every collection and container, created by any client: rows, counts and indexes agree;
and no name exists that no client created."""

from crash.check import hinted

from storm import documents, items

#: Databases that always exist.
SYSTEM = {"admin", "config", "local"}
#: Databases of other tests that use the server too.
OTHERS = {"torture", "probe"}


def collections(server, known):
    """Returns ids by name of the MongoDB API, and the errors there."""
    found, wrong = {}, []
    for database in server.client.list_database_names():
        if database in SYSTEM | OTHERS:
            continue
        if database not in known:
            wrong.append(f"nobody made the database {database}")
        for name in server.client[database].list_collection_names(filter={"type": "collection"}):
            here = f"{database}.{name}"
            try:
                collection = server.client[database][name]
                rows = {row["_id"] for row in collection.find()}
                found["mongo", database, name] = rows
                wrong += [f"{here}: {text}" for text in halves(collection, rows)]
            except Exception as error:
                wrong.append(f"{here}: {error!r}")
    return found, wrong


def halves(collection, rows):
    counts = {
        "count": collection.estimated_document_count(),
        "countDocuments": collection.count_documents({}),
    }
    for index, about in collection.index_information().items():
        if about["key"][0][0] == "_ts":
            # A TTL setting, which cannot be read by.
            continue
        if about["key"][0][0] == "_fts":
            # A text index cannot be hinted, and finds the documents with a text.
            worded = {row["_id"] for row in collection.find({"w": {"$exists": True}})}
            found = {row["_id"] for row in collection.find({"$text": {"$search": "storm"}})}
            counts[index] = len(rows) - len(worded ^ found)
            continue
        counts[index] = len({row["_id"] for row in hinted(collection, index, 20)})
    wrong = [f"{n} by {way}, {len(rows)} rows" for way, n in counts.items() if n != len(rows)]
    reply = collection.database.command("validate", collection.name)
    return wrong if reply["valid"] else [*wrong, f"validate: {reply['errors'][:3]}"]


def containers(server, known):
    """Returns ids by name of the NoSQL API, and the errors there."""
    found, wrong = {}, []
    for database in server.items.call("GET", "dbs").json["Databases"]:
        database = database["id"]
        if database in OTHERS:
            continue
        if database not in known:
            wrong.append(f"nobody made the database {database} of the NoSQL door")
        for body in server.items.call("GET", f"dbs/{database}/colls").json["DocumentCollections"]:
            here = f"container {database}.{body['id']}"
            try:
                container = server.items.container(database, body["id"])
                rows = sorted(row["id"] for row in container.rows())
                found["nosql", database, body["id"]] = set(rows)
                wrong += [f"{here}: {text}" for text in item_halves(container, rows)]
            except Exception as error:
                wrong.append(f"{here}: {error!r}")
    return found, wrong


def item_halves(container, rows):
    wrong = []
    for how, found in (
        ("a query", container.rows("SELECT VALUE c.id FROM c")),
        ("an index", container.rows("SELECT VALUE c.id FROM c WHERE c.n >= 0")),
        ("the change feed", [row["id"] for row in container.changes(None)[0]]),
    ):
        if sorted(found) != rows:
            wrong.append(f"{len(found)} by {how}, {len(rows)} rows")
    [n] = container.rows("SELECT VALUE COUNT(1) FROM c")
    usage = container.get({"x-ms-documentdb-populatequotainfo": "True"}).headers[
        "x-ms-resource-usage"
    ]
    told = dict(it.split("=") for it in usage.split(";") if it)
    wrong += [
        f"{n} by {how}, {len(rows)} rows"
        for how, n in (("COUNT", n), ("the quota's header", int(told["documentsCount"])))
        if n != len(rows)
    ]
    return wrong


def compare(server, clients, shared, also=()):
    """Returns all errors in a server that no client uses. `also` are databases of other clients."""
    wrong = [text for client in clients for text in client.wrong]
    doors = {documents: documents.Documents, items: items.Items}
    found = {}
    for door, kind in doors.items():
        own = [client for client in clients if isinstance(client, kind)]
        known = {*also, *door.COMMON, *(name for client in own for name in client.databases)}
        walked, odd = (collections if door is documents else containers)(server, known)
        wrong += odd
        found.update({name: ids for name, ids in walked.items() if name[1] in door.COMMON})
        for client in own:
            try:
                wrong += [
                    f"client {client.number}: {text}"
                    for text in client.world.settle(door.world_of(server, client))
                ]
            except Exception as error:
                wrong.append(f"client {client.number}: {error!r}")
    return wrong + shared.settle(found)
