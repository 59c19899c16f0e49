"""Batches that refer to an expired item: it is absent for each operation; they stay atomic."""

import json

from nosql.paths.table import Strange, write

FAILED = 424


def upsert(body):
    return {"operationType": "Upsert", "resourceBody": body}


def operations(cell):
    """Returns name: (operation, status while the item is live, status when it has expired)."""
    body, etag = cell.body(n=5), cell.old["_etag"]
    change = {"operations": [{"op": "incr", "path": "/n", "value": 1}]}
    other = '"00000000-0000-0000-0000-000000000000"'
    return {
        "create": ({"operationType": "Create", "resourceBody": body}, 409, 201),
        "upsert": (upsert(body), 200, 201),
        "upsert, ifMatch": ({**upsert(body), "ifMatch": etag}, 200, 201),
        "upsert, other ifMatch": ({**upsert(body), "ifMatch": other}, 412, 201),
        "read": ({"operationType": "Read", "id": "t"}, 200, 404),
        "replace": ({"operationType": "Replace", "id": "t", "resourceBody": body}, 200, 404),
        "replace, ifMatch": (
            {"operationType": "Replace", "id": "t", "resourceBody": body, "ifMatch": etag},
            200,
            404,
        ),
        "replace, other ifMatch": (
            {"operationType": "Replace", "id": "t", "resourceBody": body, "ifMatch": other},
            412,
            404,
        ),
        "patch": ({"operationType": "Patch", "id": "t", "resourceBody": change}, 200, 404),
        "delete": ({"operationType": "Delete", "id": "t"}, 204, 404),
        "unique": ({"operationType": "Create", "resourceBody": cell.body(id="o")}, 409, 201),
    }


OPERATIONS = (
    "create",
    "upsert",
    "upsert, ifMatch",
    "upsert, other ifMatch",
    "read",
    "replace",
    "replace, ifMatch",
    "replace, other ifMatch",
    "patch",
    "delete",
    "unique",
)


def fine(status):
    return status < 300


def batch(name, place):
    """Adds a batch with the operation first or last, beside one that succeeds on its own."""

    def run(cell):
        one, alive, dead = operations(cell)[name]
        beside = upsert({"id": "beside", "pk": cell.pk, "u": "beside", "ttl": -1})
        sent = [one, beside] if place == "first" else [beside, one]
        reply = cell.c.batch(cell.pk, sent)
        statuses = [result["statusCode"] for result in reply.json]
        expected = []
        for status in (alive, dead):
            both = [status, 201 if fine(status) else FAILED]
            both = both if place == "first" else both[::-1]
            expected.append((200 if fine(status) else 207, both))
        seen = cell.judge((reply.status, statuses), *expected)
        fits = fine(alive if seen else dead)
        there = cell.c.read("beside", cell.pk).status
        if there != (200 if fits else 404):
            raise Strange(f"half a batch: {there} beside {reply}")
        return seen

    return run


def bulk(name):
    """Adds a bulk, whose operations are independent: the other one succeeds in any case."""

    def run(cell):
        one, alive, dead = operations(cell)[name]
        beside = upsert({"id": "beside", "pk": cell.pk, "u": "beside", "ttl": -1})
        key = json.dumps([cell.pk])
        reply = cell.c.bulk([{**each, "partitionKey": key} for each in (one, beside)])
        assert reply.status in (200, 207), reply
        statuses = [result["statusCode"] for result in reply.json]
        seen = cell.judge(statuses, [alive, 201], [dead, 201])
        assert cell.c.read("beside", cell.pk).status == 200
        return seen

    return run


for one in OPERATIONS:
    for place in ("first", "last"):
        write(f"batch: {one}, {place}")(batch(one, place))
    write(f"bulk: {one}")(bulk(one))


@write("batch: a new life and its changes")
def new_life(cell):
    """Inside one batch too, the expired item is absent, and the new one present."""
    body = cell.body(ttl=-1)
    reply = cell.c.batch(
        cell.pk,
        [
            {"operationType": "Create", "resourceBody": body},
            {"operationType": "Read", "id": "t"},
            {
                "operationType": "Patch",
                "id": "t",
                "resourceBody": {"operations": [{"op": "incr", "path": "/n", "value": 1}]},
            },
            {"operationType": "Delete", "id": "t"},
            {"operationType": "Create", "resourceBody": {**body, "id": "other"}},
        ],
    )
    statuses = [result["statusCode"] for result in reply.json]
    seen = cell.judge(statuses, [409] + 4 * [FAILED], [201, 200, 200, 204, 201])
    if not seen:
        cell.only("other")
    return seen
