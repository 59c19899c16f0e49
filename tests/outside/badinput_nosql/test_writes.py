"""Patches and batches that are malformed or over the limits."""

import json

import pytest
from lib.texts import MISMATCH, TOO_LARGE

from badinput_nosql.wire import BATCH, BULK, PARTITION_KEY, A, request

DOCS = "/dbs/data/colls/c/docs"
SET = {"op": "set", "path": "/lost", "value": 1}


def patch(*operations, **more):
    return request("PATCH", f"{DOCS}/1", {"operations": list(operations), **more}, A)


def op(op_, path, **more):
    return {"op": op_, "path": path, **more}


PATCHES = {
    "none": [],
    "eleven": [SET] * 11,
    "a thousand": [SET] * 1000,
    "no op": [{"path": "/lost", "value": 1}],
    "no path": [{"op": "set", "value": 1}],
    "no value": [{"op": "set", "path": "/lost"}],
    "unknown op": [op("test", "/n", value=1)],
    "copy": [op("copy", "/lost", **{"from": "/n"})],
    "empty op": [op("", "/n", value=1)],
    "path without slash": [op("set", "lost", value=1)],
    "empty path": [op("set", "", value=1)],
    "root": [op("set", "/", value=1)],
    "two slashes": [op("set", "//lost", value=1)],
    "slash behind": [op("set", "/lost/", value=1)],
    "bad escape": [op("set", "/~2", value=1)],
    "half an escape": [op("set", "/lost~", value=1)],
    "a deep path": [op("set", "/a" * 10_000, value=1)],
    "a place that is not there": [op("set", "/none/below", value=1)],
    "below a number": [op("set", "/n/below", value=1)],
    "below a text": [op("set", "/s/0", value=1)],
    "replace of nothing": [op("replace", "/none", value=1)],
    "remove of nothing": [op("remove", "/none")],
    "remove below nothing": [op("remove", "/none/x")],
    "beyond an array": [op("set", "/list/9", value=1)],
    "before an array": [op("set", "/list/-1", value=1)],
    "a huge place": [op("set", "/list/99999999999999999999", value=1)],
    "a name in an array": [op("set", "/list/x", value=1)],
    "zeros in front": [op("replace", "/list/00", value=1)],
    "plus in front": [op("replace", "/list/+1", value=1)],
    "remove of the end": [op("remove", "/list/-")],
    "remove beyond": [op("remove", "/list/3")],
    "incr of a text": [op("incr", "/s", value=1)],
    "incr of an array": [op("incr", "/list", value=1)],
    "incr by text": [op("incr", "/n", value="1")],
    "incr by null": [op("incr", "/n", value=None)],
    "incr without end": [op("incr", "/n", value=1e308), op("incr", "/n", value=1e308)],
    "incr below nothing": [op("incr", "/none/x", value=1)],
    "move of nothing": [op("move", "/lost", **{"from": "/none"})],
    "move without from": [op("move", "/lost")],
    "move into itself": [op("move", "/o/p/q", **{"from": "/o"})],
    "move below nothing": [op("move", "/none/x", **{"from": "/n"})],
    "id": [op("set", "/id", value="2")],
    "remove id": [op("remove", "/id")],
    "move id": [op("move", "/lost", **{"from": "/id"})],
    "onto id": [op("move", "/id", **{"from": "/s"})],
    "_ts": [op("set", "/_ts", value=1)],
    "_etag": [op("remove", "/_etag")],
    "_rid": [op("replace", "/_rid", value="x")],
    "_self": [op("add", "/_self", value="x")],
    "below _ts": [op("set", "/_ts/x", value=1)],
    "the key": [op("set", "/pk", value="b")],
    "the last one wrong": [SET] * 9 + [op("remove", "/none")],
    "the first one wrong": [op("remove", "/none")] + [SET] * 9,
    "no object": ["set"],
    "array in place": [[SET]],
    "undone by the next": [SET, op("remove", "/lost"), op("remove", "/lost")],
}


@pytest.mark.parametrize("what", PATCHES)
def test_patches(attacked, what):
    attacked.refused(patch(*PATCHES[what]), 400)
    operation = {"operationType": "Patch", "id": "1", "resourceBody": {"operations": PATCHES[what]}}
    reply = attacked.survived(request("POST", DOCS, [operation], BATCH), 200, 207, 400)
    assert reply.status == 400 or [it["statusCode"] for it in reply.json] == [400], reply


def hanging(levels):
    return json.loads("[" * levels + "]" * levels)


@pytest.mark.parametrize("levels", [128, 129, 200])
def test_patches_with_values_that_are_too_deep(attacked, levels):
    attacked.refused(patch(op("set", "/lost", value=hanging(levels))), 400)


def test_patches_that_together_go_too_deep(attacked):
    """Each part has few enough levels; the item would have 130."""
    attacked.accepted(patch(op("set", "/deep", value={"a": {"b": {"c": {}}}})), 200)
    attacked.held = attacked.state()
    attacked.refused(patch(op("set", "/deep/a/b/c/x", value=hanging(125))), 400)
    attacked.refused(
        patch(
            op("set", "/x", value=hanging(120)),
            op("move", "/deep/a/b/c/" + "x", **{"from": "/x"}),
            *[
                op("add", "/y", value=hanging(100)),
                op("move", "/deep/a/b/c/x" + "/0" * 119, **{"from": "/y"}),
            ],
        ),
        400,
    )
    attacked.accepted(patch(op("set", "/deep/a/x", value=hanging(125))), 200)
    attacked.tidy()


def test_patches_that_grow_too_large(attacked):
    """Each part is small enough; the item is not."""
    half = "x" * (1 << 20)
    attacked.accepted(patch(op("set", "/half", value=half)), 200, within=5)
    attacked.held = attacked.state()
    attacked.refused(patch(op("set", "/other", value=half)), 413, text=TOO_LARGE, within=5)
    attacked.accepted(patch(op("remove", "/half")), 200, within=5)
    attacked.tidy()


CONDITIONS = [
    "",
    " ",
    "x",
    "where",
    "from c",
    "from c where",
    "SELECT",
    "from c where c.n =",
    "from c where c.n = 1 or",
    "c.n = 1",
    "from c where c.n = @p",
    "from c where nofunction(c.n)",
    "from c where d.n = 1",
    "from c where c.n = 1; from d",
    "(" * 5000,
    "from c where c.n in (1",
    "from c where 'x",
    "from c join d in c.list where d = 1",
    "from c order by c.n",
    "select * from c where c.n = 1",
    "from c where c.n = 1 group by c.n",
    "from c where count(1) > 0",
]


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda it: it[:24] or "empty")
def test_conditions_of_patches(attacked, condition):
    """A malformed condition is refused; a valid one that does not hold gets 412."""
    may = condition in (
        "from c",
        "",
        " ",
        "from c join d in c.list where d = 1",
        "select * from c where c.n = 1",
    )
    if may:
        attacked.survived_any(patch(SET, condition=condition))
        attacked.tidy()
    else:
        attacked.refused(patch(SET, condition=condition), 400)


@pytest.mark.parametrize(
    "condition",
    [
        "from c where c.n = 2",
        "from c where c.none",
        "from c where false",
        "from c where undefined",
        "from c where c.n",
        "from c where null",
        "from c where c.s = 1",
    ],
)
def test_conditions_that_do_not_hold(attacked, condition):
    attacked.refused(patch(SET, condition=condition), 412)


def create(i, pk="a", **more):
    return {"operationType": "Create", "resourceBody": {"id": f"b{i}", "pk": pk, **more}}


GOOD = create(0)
#: Batches that are refused as a whole.
BATCHES = {
    "none": [],
    "an object": {},
    "one operation alone": GOOD,
    "101": [create(i) for i in range(101)],
    "10,000": [create(i) for i in range(10_000)],
    "a text": "x",
    "null": None,
    "a number": 1,
}
#: Batches with an invalid operation; a valid one before it is rolled back.
OPERATIONS = {
    "no object": 1,
    "null": None,
    "array": [],
    "no kind": {"resourceBody": {"id": "x", "pk": "a"}},
    "unknown kind": {**GOOD, "operationType": "Merge"},
    "empty kind": {**GOOD, "operationType": ""},
    "a number as kind": {**GOOD, "operationType": 1},
    "no body": {"operationType": "Create"},
    "body of text": {"operationType": "Create", "resourceBody": '{"id":"x","pk":"a"}'},
    "body without id": {"operationType": "Create", "resourceBody": {"pk": "a"}},
    "another key": create(1, "b"),
    "no key": {"operationType": "Create", "resourceBody": {"id": "x"}},
    "read without id": {"operationType": "Read"},
    "delete without id": {"operationType": "Delete"},
    "bad id": {"operationType": "Read", "id": "x" * 1024},
    "empty id": {"operationType": "Delete", "id": ""},
    "two ids": {"operationType": "Replace", "id": "1", "resourceBody": {"id": "", "pk": "a"}},
    "replace without id": {"operationType": "Replace", "resourceBody": {"id": "1", "pk": "a"}},
    "query": {"operationType": "Query", "resourceBody": {"query": "SELECT * FROM c"}},
    "own key": {**create(1, "b"), "partitionKey": '["b"]'},
    "ttl": create(1, ttl=0),
    "patch of nothing": {"operationType": "Patch", "id": "1", "resourceBody": {"operations": []}},
    "patch of eleven": {
        "operationType": "Patch",
        "id": "1",
        "resourceBody": {"operations": [SET] * 11},
    },
    "system": {
        "operationType": "Patch",
        "id": "1",
        "resourceBody": {"operations": [op("set", "/id", value="x")]},
    },
}
#: Operations that fail when they are executed, with their status.
FAILING = {
    "there already": ({"operationType": "Create", "resourceBody": {"id": "1", "pk": "a"}}, 409),
    "not there": ({"operationType": "Read", "id": "none"}, 404),
    "delete of nothing": ({"operationType": "Delete", "id": "none"}, 404),
    "replace of nothing": (
        {"operationType": "Replace", "id": "none", "resourceBody": {"id": "none", "pk": "a"}},
        404,
    ),
    "patch of no item": (
        {"operationType": "Patch", "id": "none", "resourceBody": {"operations": [SET]}},
        404,
    ),
    "condition": ({"operationType": "Delete", "id": "1", "ifMatch": '"x"'}, 412),
    "of another key": ({"operationType": "Read", "id": "3"}, 404),
    "twice in one": (GOOD, 409),
}


@pytest.mark.parametrize("what", BATCHES)
@pytest.mark.parametrize("kind", ["batch", "bulk"])
def test_batches(attacked, kind, what):
    statuses = (400, 413) if what.startswith("10") else 400
    attacked.refused(
        request("POST", DOCS, json.dumps(BATCHES[what]), BATCH if kind == "batch" else BULK),
        statuses,
    )


@pytest.mark.parametrize("what", OPERATIONS)
@pytest.mark.parametrize("place", ["last", "first"])
def test_operations_of_batches(attacked, what, place):
    """Atomic: the batch is refused, or the invalid operation gets 400 and the others 424."""
    operations = [GOOD, OPERATIONS[what]] if place == "last" else [OPERATIONS[what], GOOD]
    reply = attacked.survived(request("POST", DOCS, operations, BATCH), 207, 400)
    if reply.status == 207:
        wanted = [424, 400] if place == "last" else [400, 424]
        assert [it["statusCode"] for it in reply.json] == wanted, reply


@pytest.mark.parametrize("what", FAILING)
def test_batches_that_fail(attacked, what):
    operation, status = FAILING[what]
    reply = attacked.survived(request("POST", DOCS, [GOOD, operation, create(2)], BATCH), 207)
    assert [it["statusCode"] for it in reply.json] == [424, status, 424], reply


#: A key of its own is an error in an atomic batch only.
@pytest.mark.parametrize("what", [what for what in OPERATIONS if what != "own key"])
def test_operations_of_bulks(attacked, what):
    """In a bulk each operation is independent: the valid one is executed, the other is not."""
    wrong = OPERATIONS[what]
    if isinstance(wrong, dict):
        wrong = {"partitionKey": '["a"]', **wrong}
    data = request("POST", DOCS, [{**GOOD, "partitionKey": '["a"]'}, wrong], BULK)
    with attacked.wire() as wire:
        reply = wire.ask(data)
    assert reply.status in (200, 207, 400), reply
    if reply.status != 400:
        assert [it["statusCode"] for it in reply.json] == [201, 400], reply
        attacked.remove(f"{DOCS}/b0", A)
    attacked.held = attacked.state()


def test_keys_of_a_batch_are_one(attacked):
    reply = attacked.survived(
        request("POST", DOCS, [create(1), create(2, "b"), create(3)], BATCH), 207, 400
    )
    if reply.status == 207:
        assert [it["statusCode"] for it in reply.json] == [424, 400, 424] and reply.json[1][
            "subStatusCode"
        ] == 1001, reply
    else:
        assert reply.substatus in (0, 1001), reply
    assert MISMATCH  # The message of a single operation is not part of a batch's reply.


def test_batches_of_more_than_two_megabytes(attacked):
    operations = [create(i, x="x" * 30_000) for i in range(90)]
    attacked.refused(request("POST", DOCS, operations, BATCH), 413, text=TOO_LARGE, within=5)
    attacked.refused(
        request("POST", DOCS, operations, {**BULK, PARTITION_KEY: None}),
        413,
        text=TOO_LARGE,
        within=5,
    )


def test_batches_that_answer_too_much(attacked):
    """A hundred reads of a large item exceed the maximum reply: its size stays bounded."""
    attacked.accepted(
        request("POST", DOCS, {"id": "large", "pk": "a", "x": "x" * 1_900_000}, A), 201, within=5
    )
    before = attacked.server.rss()
    with attacked.wire() as wire, attacked.undisturbed():
        reply = wire.ask(
            request("POST", DOCS, [{"operationType": "Read", "id": "large"}] * 100, BATCH),
            within=10,
        )
    assert reply.status in (200, 207, 400, 413), reply.status
    assert attacked.server.rss() - before < 300 << 20
    attacked.remove(f"{DOCS}/large", A)
    attacked.held = attacked.state()


@pytest.mark.parametrize("atomic", ["", "x", "maybe", "1"])
def test_batches_that_are_neither(attacked, atomic):
    """With any value of the header, failing operations have no effect."""
    headers = {**BATCH, "x-ms-cosmos-batch-atomic": atomic}
    attacked.survived(
        request(
            "POST",
            DOCS,
            [{"operationType": "Read", "id": "none"}, {"operationType": "Delete", "id": "none"}],
            headers,
        ),
        200,
        207,
        400,
    )


def test_bytes_that_are_no_hybrid_row_are_refused_by_name(attacked):
    """HybridRow is the binary form of one client's batches."""
    for kind in ("application/x-hybridrow", "application/octet-stream"):
        body = b"\x81\xd1\xc4\x0c\x7f" + bytes(range(64))
        attacked.refused(
            request(
                "POST",
                DOCS,
                body,
                {**BATCH, "content-type": kind, "x-ms-cosmos-batch-ordered": "True"},
            ),
            400,
        )
    body = b"\x81\xd1\xc4\x0c\x7f" + bytes(64)
    reply = attacked.refused(
        request("POST", DOCS, body, {**BATCH, "x-ms-cosmos-batch-ordered": "True"}), 400
    )
    assert "HybridRow" in reply.texts()[0], reply
