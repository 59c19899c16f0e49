"""The feed of all versions and deletes: each expiry once, in order, with the last version."""

from lib.nosql import ALL_VERSIONS, RANGE, RANGE_OF_A, stripped
from lib.paths import FILLERS

from nosql.paths.table import Strange, plain, read, write


def told(cell, headers=RANGE, size=None, own=False):
    """Returns all events of the items for reads, or with `own` of those for writes."""
    container, name = (cell.c, "x") if own else (cell.v, "v")
    events = container.changes(cell.before[name], ALL_VERSIONS, size, headers)[0]
    stamps = [event["metadata"]["lsn"] for event in events]
    if stamps != sorted(stamps):
        raise Strange(f"out of order: {stamps}")
    return events


def of(event):
    """Returns (operation, id, whether by expiry)."""
    metadata = event["metadata"]
    item = event.get("current") or {}
    id = metadata.get("id") or item.get("id")
    return metadata["operationType"], id, metadata.get("timeToLiveExpired", False)


def deaths(cell, events, scope=None):
    """Judges the events of the items for reads: none expired, or each expiring one exactly once."""
    ids = {item["id"] for item in cell.living(True, scope) if item["kind"] == "m"}
    ours = {item["id"] for item in cell.living(True, scope)}
    mine = [of(event) for event in events]
    made = sorted(id for kind, id, _ in mine if kind == "create")
    if made != sorted(ours):
        raise Strange(f"created: {made}")
    expired = sorted(id for kind, id, by in mine if kind == "delete" and by)
    if any(kind == "delete" and not by for kind, _, by in mine):
        raise Strange("a delete that nobody asked for")
    return cell.judge(expired, [], sorted(ids))


@read("all versions: deaths")
def each_once(cell):
    return deaths(cell, told(cell))


@read("all versions: deaths, in pages")
def in_pages(cell):
    return cell.agreed(deaths(cell, told(cell, size=size)) for size in (1, 3))


@read("all versions: deaths of a range of keys")
def of_range(cell):
    return deaths(cell, told(cell, RANGE_OF_A), "a")


@read("all versions: a death's event")
def image(cell):
    """Checks the event's previous version and time, and that its current version is empty."""
    found = {of(event)[1]: event for event in told(cell) if of(event)[2]}
    for item in cell.living(True):
        if item["id"] not in found:
            continue
        event = found[item["id"]]
        metadata = event["metadata"]
        if stripped(event["current"]) != {}:
            raise Strange(f"{event}")
        if plain(event.get("previous")) != plain(item):
            raise Strange(f"previous image {event.get('previous')}, was {item}")
        if metadata["partitionKey"] != {"pk": item["pk"]}:
            raise Strange(f"{metadata}")
        if metadata["crts"] != cell.dies_at:
            raise Strange(f"died at {cell.dies_at}, told at {metadata['crts']}")
        if not 0 < metadata["previousImageLSN"] < metadata["lsn"]:
            raise Strange(f"{metadata}")
    return cell.judge(len(found), 0, FILLERS + 1)


def begun(cell):
    """Returns an ETag in the middle of the feed, read before the expiry."""
    reply = cell.v.client.call(
        "GET",
        cell.v.docs,
        None,
        {**ALL_VERSIONS, **RANGE, "x-ms-max-item-count": "2", "if-none-match": cell.before["v"]},
    )
    assert reply.status == 200 and len(reply.json["Documents"]) == 2, reply
    return reply.json["Documents"], reply.etag


@read("all versions: continued", begun)
def continued(cell):
    first, after = cell.prepared
    return deaths(cell, first + cell.v.changes(after, ALL_VERSIONS, 3)[0])


def at_the_end(cell):
    return cell.v.changes(cell.before["v"], ALL_VERSIONS)[1]


@read("all versions: from the end", at_the_end)
def from_the_end(cell):
    """Checks that only later events come: the expirations, each just once."""
    rows, after = cell.v.changes(cell.prepared, ALL_VERSIONS)
    mortals = sorted(item["id"] for item in cell.living(True) if item["kind"] == "m")
    expired = sorted(id for _, id, by in map(of, rows) if by)
    again = [of(row) for row in cell.v.changes(after, ALL_VERSIONS)[0]]
    if any(by for _, _, by in again):
        raise Strange(f"told again: {again}")
    return cell.judge(expired, [], mortals)


# Writes: the events of one item of its own.


def events_of(cell):
    """Returns the operations on the own item, in order; a delete by expiry is `expired`."""
    events = [
        event
        for event in told(cell, own=True)
        if (event["metadata"].get("partitionKey") or {}).get("pk") == cell.pk
        or (event.get("current") or {}).get("pk") == cell.pk
    ]
    return ["expired" if by else kind for kind, id, by in map(of, events) if id == "t"]


def lives(cell):
    """Returns the events of the first life: created, and patched if its kind does that."""
    return ["create", "replace"] if cell.patched else ["create"]


@write("all versions: create", versions=True)
def create(cell):
    reply = cell.c.create(cell.body(ttl=-1))
    began = lives(cell)
    if reply.status == 201:
        cell.fresh(reply.json)
    return cell.judge(
        (reply.status, events_of(cell)), (409, began), (201, [*began, "expired", "create"])
    )


@write("all versions: upsert", versions=True)
def upsert(cell):
    status, began = cell.c.upsert(cell.body(ttl=-1)).status, lives(cell)
    return cell.judge(
        (status, events_of(cell)), (200, [*began, "replace"]), (201, [*began, "expired", "create"])
    )


@write("all versions: replace", versions=True)
def replace(cell):
    status, began = cell.c.replace(cell.body(ttl=-1)).status, lives(cell)
    return cell.judge(
        (status, events_of(cell)), (200, [*began, "replace"]), (404, [*began, "expired"])
    )


@write("all versions: patch", versions=True)
def patch(cell):
    operations = [{"op": "set", "path": "/ttl", "value": -1}]
    status, began = cell.c.patch("t", cell.pk, operations).status, lives(cell)
    return cell.judge(
        (status, events_of(cell)), (200, [*began, "replace"]), (404, [*began, "expired"])
    )


@write("all versions: delete", versions=True)
def delete(cell):
    status, began = cell.c.delete("t", cell.pk).status, lives(cell)
    return cell.judge(
        (status, events_of(cell)), (204, [*began, "delete"]), (404, [*began, "expired"])
    )


@write("all versions: removal of the partition", versions=True)
def remove_partition(cell):
    status, began = cell.c.remove_partition(cell.pk).status, lives(cell)
    assert status == 200
    return cell.judge(events_of(cell), [*began, "delete"], [*began, "expired"])


@write("all versions: two lives in one batch", versions=True)
def batch(cell):
    body, began = cell.body(ttl=-1), lives(cell)
    reply = cell.c.batch(
        cell.pk,
        [
            {"operationType": "Create", "resourceBody": body},
            {"operationType": "Replace", "id": "t", "resourceBody": {**body, "n": 2}},
        ],
    )
    events = events_of(cell)
    # Two writes of an item in one batch are one change or two.
    events = events[:-1] if events[-1] == "replace" and reply.status == 200 else events
    return cell.judge((reply.status, events), (207, began), (200, [*began, "expired", "create"]))
