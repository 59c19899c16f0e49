"""Checks that a restored server shows the data that the clients of the backup load wrote up to one
instant: by every read path, now and after its clock has moved further."""

from crash.check import hinted

from backup.steps import DocumentSteps

#: Number of expired rows of each collection that are looked up by id.
GONE = 3


def wrong_documents(server, database, name, held, now):
    """Returns the errors of read paths to a collection: expired or missing documents."""
    live = held.live(now)
    collection = server.client[database][name]
    counted = {
        "count": collection.count_documents({}),
        "the estimate": collection.estimated_document_count(),
        "distinct": len(collection.distinct("_id")),
        "a scan": len(list(collection.find({"n": {"$gte": 0}}))),
        "an aggregation": sum(
            row["n"] for row in collection.aggregate([{"$group": {"_id": None, "n": {"$sum": 1}}}])
        ),
    }
    for index in held.indexes:
        counted[index] = len({row["_id"] for row in hinted(collection, index, 20)})
    gone = sorted(held.rows.keys() - live.keys())[:GONE]
    counted["single reads"] = len(live) + sum(
        collection.find_one({"_id": id}) is not None for id in gone
    )
    return [f"{n} by {way}, {len(live)} are live" for way, n in counted.items() if n != len(live)]


def wrong_items(server, database, name, held, now):
    """Does the same for items, whose replies contain the second of their last write."""
    live, wrong = held.live(now), []
    container = server.items.container(database, name)
    wanted = {id: row.ts for id, row in live.items()}
    changed = container.changes(None)[0]
    for way, rows in (
        ("the feed", container.rows()),
        ("a query", container.rows("SELECT * FROM c")),
        ("an index", container.rows("SELECT * FROM c WHERE c.k >= 0")),
        ("an order", container.rows("SELECT * FROM c ORDER BY c.n")),
        ("the change feed", changed),
    ):
        found = {row["id"]: row["_ts"] for row in rows}
        if len(found) != len(rows) or found != wanted:
            odd = [id for id in found.keys() | wanted.keys() if found.get(id) != wanted.get(id)]
            told = [(id, found.get(id), wanted.get(id)) for id in sorted(odd)[:5]]
            wrong.append(f"{way} has (id, second, wanted): {told}")
    [n] = container.rows("SELECT VALUE COUNT(1) FROM c")
    if n != len(live):
        wrong.append(f"{n} by COUNT, {len(live)} are live")
    for id in sorted(held.rows.keys() - live.keys())[:GONE]:
        reply = container.read(id, "a")
        if reply.status != 404:
            wrong.append(f"{id} has expired and answers {reply}")
    return wrong


def wrong_paths(server, client, entry, now):
    """Returns the errors in the data of one client, which must be that after this step."""
    found = client.found(server.client, server.items)
    wanted = entry.shown(now)
    if found != wanted:
        return [f"{client.database} at {now}: {difference(found, wanted)}"]
    paths = wrong_documents if isinstance(client, DocumentSteps) else wrong_items
    return [
        f"{client.database}.{name} at {now}: {text}"
        for name, held in entry.state.items()
        for text in paths(server, client.database, name, held, now)
    ]


def difference(found, wanted):
    """Describes the differences of two states."""
    texts = []
    for name in sorted(found.keys() | wanted.keys()):
        ours, theirs = found.get(name), wanted.get(name)
        if ours is None or theirs is None:
            texts.append(f"{name}: {'missing' if ours is None else 'nobody made it'}")
        elif ours != theirs:
            pairs = {
                id: (ours[0].get(id), theirs[0].get(id))
                for id in sorted(ours[0].keys() | theirs[0].keys())
            }
            rows = [
                (id, *map(without_padding, pair))
                for id, pair in pairs.items()
                if pair[0] != pair[1]
            ][:3]
            texts.append(f"{name}: rules {ours[1:]}, wanted {theirs[1:]}; rows {rows!s:.600}")
    return "; ".join(texts)


def without_padding(body):
    return body and {name: value for name, value in body.items() if name != "pad"}


def steps_of(server, clients, bounds, now, moved=lambda entry: entry):
    """Returns for each client the steps whose state the restored server shows, and the errors in
    that. The steps lie within the client's bounds, and none is missing that had its reply before
    one that is present was begun. Several match if their difference has expired. `moved` maps a
    step to the state after the restore."""
    found, wrong, begun, answered = [], [], 0.0, float("inf")
    for client, (least, most) in zip(clients, bounds, strict=True):
        shown = client.found(server.client, server.items)
        entries = client.book.entries
        steps = [
            at
            for at in range(least, most + 1)
            if not entries[at].void and moved(entries[at]).shown(now) == shown
        ]
        if not steps:
            told = difference(shown, moved(entries[least]).shown(now))
            other = [at for at, one in enumerate(entries) if moved(one).shown(now) == shown]
            told = f"{told}; it is as after {other}"
            wrong.append(f"{client.database}: no step between {least} and {most}: {told}")
            continue
        found.append(steps)
        begun = max(begun, entries[steps[0]].begun)
        after = [entry.answered for entry in entries[steps[-1] + 1 :] if entry.answered]
        answered = min([answered, *after[:1]])
    if not wrong and answered < begun:
        wrong.append(f"a step is missing that was answered {begun - answered} s before another one")
    return found, wrong
