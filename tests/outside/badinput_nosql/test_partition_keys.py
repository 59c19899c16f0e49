"""Partition keys in headers: not JSON, not arrays, too many and too few components, wrong types and
lengths; and items whose key differs from the header."""

import json

import pytest
from lib.texts import MISMATCH, NO_ENTITY, OTHER_KEY

from badinput_nosql.wire import BULK, PARTITION_KEY, A, query, request

DOCS = "/dbs/data/colls/c/docs"
ITEM = {"id": "1", "pk": "a"}
PATCH = {"operations": [{"op": "set", "path": "/lost", "value": 1}]}
LARGEST = 2048

#: Texts that are not lists of components.
NO_LISTS = [
    "a",
    "",
    " ",
    '"a"',
    "1",
    "null",
    "true",
    "{}",
    '{"a":1}',
    "[",
    "]",
    "[]]",
    "[[]]",
    '[["a"]]',
    '[{"a":1}]',
    '["a"',
    "['a']",
    '["a",]',
    "[,]",
    '["a"]x',
    '["a"] ["a"]',
    "[NaN]",
    "[Infinity]",
    "[1e999]",
    "[undefined]",
    "[0x1]",
    "[01]",
    '["\\x"]',
    '["\\ud800"]',
    '["\\u12"]',
    "[" * 5000,
    "[" * 100 + "]" * 100,
    '[{"$type":"x"}]',
    "[[],[]]",
    "%5B%22a%22%5D",
    b'["\xff"]',
    b'["\xed\xa0\x80"]',
    '["a"]["a"]',
    "[TRUE]",
    "[nil]",
    "[{}",
    '["a" "b"]',
    "[1 2]",
    '\ufeff["a"]',
]

ASKS = {
    "read": lambda h, c="c": request("GET", f"/dbs/data/colls/{c}/docs/1", None, h),
    "replace": lambda h, c="c": request(
        "PUT", f"/dbs/data/colls/{c}/docs/1", {**ITEM, "lost": 1}, h
    ),
    "patch": lambda h, c="c": request("PATCH", f"/dbs/data/colls/{c}/docs/1", PATCH, h),
    "delete": lambda h, c="c": request("DELETE", f"/dbs/data/colls/{c}/docs/1", None, h),
    "create": lambda h, c="c": request(
        "POST", f"/dbs/data/colls/{c}/docs", {"id": "new", "pk": "a"}, h
    ),
    "upsert": lambda h, c="c": request(
        "POST",
        f"/dbs/data/colls/{c}/docs",
        {"id": "new", "pk": "a"},
        {**h, "x-ms-documentdb-is-upsert": "True"},
    ),
    "query": lambda h, c="c": query("SELECT * FROM c", path=f"/dbs/data/colls/{c}/docs", headers=h),
    "delete by key": lambda h, c="c": request(
        "POST", f"/dbs/data/colls/{c}/operations/partitionkeydelete", None, h
    ),
    "batch": lambda h, c="c": request(
        "POST",
        f"/dbs/data/colls/{c}/docs",
        [{"operationType": "Delete", "id": "1"}],
        {"x-ms-cosmos-is-batch-request": "True", "x-ms-cosmos-batch-atomic": "True", **h},
    ),
}


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("key", NO_LISTS, ids=lambda it: repr(it[:16]))
def test_headers_that_are_no_lists(attacked, ask, key):
    attacked.refused(ASKS[ask]({PARTITION_KEY: key}), 400)


@pytest.mark.parametrize("ask", [it for it in ASKS if it != "query"])
def test_no_header(attacked, ask):
    attacked.refused(ASKS[ask]({}), 400, (0, 1001))


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("count", [2, 3, 4, 9, 1000])
def test_too_many_components(attacked, ask, count):
    key = json.dumps(["a"] * count, separators=(",", ":"))
    attacked.refused(
        ASKS[ask]({PARTITION_KEY: key}),
        400,
        (0, 1001) if count > 8 else 1001,
        OTHER_KEY if count < 9 else None,
    )


@pytest.mark.parametrize("ask", [it for it in ASKS if it not in ("query", "delete by key")])
@pytest.mark.parametrize("key", ["[]", '["x"]', "[{}]", "[null]"])
def test_too_few_components(attacked, ask, key):
    """A prefix of a hierarchical key is not the key of an item."""
    attacked.refused(ASKS[ask]({PARTITION_KEY: key}, "h"), 400, (0, 1001))


@pytest.mark.parametrize("ask", [it for it in ASKS if it != "query"])
def test_a_key_without_components(attacked, ask):
    attacked.refused(ASKS[ask]({PARTITION_KEY: "[]"}), 400, (0, 1001))


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("length", [LARGEST + 1, LARGEST + 2, 10_000, 40_000])
def test_keys_that_are_too_long(attacked, ask, length):
    attacked.refused(ASKS[ask]({PARTITION_KEY: json.dumps(["x" * length])}), 400, (0, 1001))


@pytest.mark.parametrize(
    "text",
    ["x" * LARGEST, "é" * (LARGEST // 2), "日" * (LARGEST // 3), '"' * LARGEST, "\\" * LARGEST],
)
def test_the_longest_keys(attacked, text):
    key = json.dumps([text], ensure_ascii=False)
    attacked.refused(request("GET", f"{DOCS}/1", None, {PARTITION_KEY: key}), 404, 0, NO_ENTITY)


@pytest.mark.parametrize("text", ["é" * (LARGEST // 2 + 1), "日" * (LARGEST // 3 + 1)])
def test_lengths_are_bytes(attacked, text):
    key = json.dumps([text], ensure_ascii=False)
    attacked.refused(request("GET", f"{DOCS}/1", None, {PARTITION_KEY: key}), 400, (0, 1001))


@pytest.mark.parametrize(("length", "status"), [(LARGEST, 201), (LARGEST + 1, 400)])
def test_long_keys_in_items(attacked, length, status):
    item = {"id": "long", "pk": "x" * length}
    headers = {PARTITION_KEY: json.dumps([item["pk"]])}
    if status == 201:
        attacked.accepted(request("POST", DOCS, item, headers), 201)
        attacked.remove(f"{DOCS}/long", headers)
    else:
        attacked.refused(request("POST", DOCS, item, headers), status, (0, 1001))


OTHERS = [
    '["b"]',
    "[1]",
    "[0]",
    "[null]",
    "[{}]",
    "[true]",
    "[false]",
    '["A"]',
    '["a "]',
    '[" a"]',
    '[""]',
    '["\\u0000"]',
    "[1e308]",
    "[-0.0]",
    '["á"]',
    '["a\\u0301"]',
]


@pytest.mark.parametrize("key", OTHERS)
@pytest.mark.parametrize("ask", ["create", "upsert", "replace"])
def test_items_under_another_key(attacked, ask, key):
    reply = attacked.refused(ASKS[ask]({PARTITION_KEY: key}), (400, 404), (0, 1001))
    if ask != "replace":
        assert (reply.status, reply.substatus) == (400, 1001) and reply.texts() == [MISMATCH], reply


@pytest.mark.parametrize("key", OTHERS)
@pytest.mark.parametrize("ask", ["read", "patch", "delete"])
def test_items_are_not_under_another_key(attacked, ask, key):
    attacked.refused(ASKS[ask]({PARTITION_KEY: key}), 404, 0, NO_ENTITY)


VALUES = [
    ("x", '["y"]'),
    (1, '["1"]'),
    (1, "[1.5]"),
    (True, '["true"]'),
    (True, "[1]"),
    (None, "[{}]"),
    (None, '["null"]'),
    ([1], "[1]"),
    ([], "[null]"),
    ({}, "[null]"),
    ({"a": 1}, '["a"]'),
    (2**53, "[9007199254740994]"),
    ("", "[null]"),
    ("", "[{}]"),
    (0, "[false]"),
    (0, "[null]"),
]


@pytest.mark.parametrize(("value", "key"), VALUES, ids=str)
def test_values_that_only_look_alike(attacked, value, key):
    attacked.refused(
        request("POST", DOCS, {"id": "new", "pk": value}, {PARTITION_KEY: key}), 400, 1001, MISMATCH
    )


def test_an_item_without_the_property(attacked):
    for key in ('["a"]', "[null]", '[""]', "[0]"):
        attacked.refused(
            request("POST", DOCS, {"id": "new"}, {PARTITION_KEY: key}), 400, 1001, MISMATCH
        )
        attacked.refused(
            request("POST", DOCS, {"id": "new", "PK": "a"}, {PARTITION_KEY: key}),
            400,
            1001,
            MISMATCH,
        )


@pytest.mark.parametrize(
    "item", [{"t": "x"}, {"u": "y"}, {"t": "y", "u": "x"}, {}, {"t": "x", "u": ["y"]}, {"t/u": "x"}]
)
def test_items_under_another_hierarchical_key(attacked, item):
    headers = {PARTITION_KEY: '["x","y"]'}
    attacked.refused(
        request("POST", "/dbs/data/colls/h/docs", {"id": "new", **item}, headers),
        400,
        1001,
        MISMATCH,
    )


@pytest.mark.parametrize(
    "key",
    ["a", "", "[", '"a"', 1, True, ["a"], {}, '["a","b"]', '[["a"]]', "x" * 20_000, '["b"]', "[]"],
    ids=lambda it: str(it)[:12],
)
def test_keys_of_bulk_operations(attacked, key):
    """Each operation has its own key; one with a wrong key fails alone."""
    operation = {
        "operationType": "Create",
        "partitionKey": key,
        "resourceBody": {"id": "new", "pk": "a"},
    }
    reply = attacked.survived(request("POST", DOCS, [operation], BULK), 200, 207, 400)
    if reply.status != 400:
        assert [it["statusCode"] for it in reply.json] == [400], reply


def test_the_key_cannot_be_changed(attacked):
    for body in (
        {"id": "1", "pk": "b"},
        {"id": "1"},
        {"id": "1", "pk": None},
        {"id": "1", "pk": ["a"]},
    ):
        attacked.refused(request("PUT", f"{DOCS}/1", body, A), 400, 1001, MISMATCH)
    for operation in (
        {"op": "set", "path": "/pk", "value": "b"},
        {"op": "remove", "path": "/pk"},
        {"op": "replace", "path": "/pk", "value": 1},
        {"op": "move", "from": "/s", "path": "/pk"},
        {"op": "move", "from": "/pk", "path": "/x"},
    ):
        attacked.refused(
            request("PATCH", f"{DOCS}/1", {"operations": [operation]}, A), 400, (0, 1001)
        )
