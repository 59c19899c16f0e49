"""Ids of all resources: empty, too long, with characters that links cannot contain, and unusual
valid ones; and existing and missing items."""

import json
from urllib.parse import quote

import pytest
from lib.texts import EXISTS, NO_ENTITY, NO_OWNER, UNIQUE, bad_ttl

from badinput_nosql.attacked import ONE
from badinput_nosql.wire import BATCH, PARTITION_KEY, A, request

DOCS = "/dbs/data/colls/c/docs"
UPSERT = {**A, "x-ms-documentdb-is-upsert": "True"}

BAD = {
    "empty": "",
    "blank": " ",
    "blank behind": "x ",
    "slash": "a/b",
    "slash alone": "/",
    "backslash": "a\\b",
    "backslash alone": "\\",
    "question": "a?b",
    "question alone": "?",
    "hash": "a#b",
    "hash alone": "#",
    "slash in front": "/a",
    "slash behind": "a/",
    "dots and slash": "../../x",
    "1,024 bytes": "x" * 1024,
    "1,024 bytes of two each": "é" * 512,
    "1,025 bytes": "日" * 341 + "xx",
    "100,000 bytes": "x" * 100_000,
}
#: Unusual but valid ids of items.
GOOD = {
    "1,023 bytes": "x" * 1023,
    "1,023 bytes of three each": "日" * 341,
    "percent": "a%b",
    "percent and digits": "a%2Fb",
    "encoded": "%41",
    "blank in front": " x",
    "blank inside": "a b",
    "dot": ".",
    "dots": "..",
    "plus": "a+b",
    "ampersand": "a&b=c",
    "quotes": "'\"`",
    "brackets": "[]{}<>",
    "colon": "a:b;c,d",
    "at": "@$!*()",
    "unicode": "é日😀",
    "combining": "e\u0301",
    "right to left": "\u202eabc",
    "like a rid": "AAAAAA==",
    "like null": "null",
    "like a word": "docs",
    "like a number": "0",
    "tilde": "~0~1",
    "caret": "a^b|c",
}
WRONG_TYPES = {
    "null": None,
    "true": True,
    "number": 1,
    "fraction": 1.5,
    "array": ["x"],
    "object": {"id": "x"},
    "empty array": [],
}


def targets(id_):
    """Returns a request for each kind of resource that creates one with this id."""
    function = {"id": id_, "body": "function(){}"}
    return {
        "item": request("POST", DOCS, {"id": id_, "pk": "a"}, A),
        "upsert": request("POST", DOCS, {"id": id_, "pk": "a"}, UPSERT),
        "database": request("POST", "/dbs", {"id": id_}),
        "container": request("POST", "/dbs/data/colls", {"id": id_, "partitionKey": ONE}),
        "user": request("POST", "/dbs/data/users", {"id": id_}),
        "procedure": request("POST", "/dbs/data/colls/c/sprocs", function),
        "trigger": request(
            "POST",
            "/dbs/data/colls/c/triggers",
            {**function, "triggerType": "Pre", "triggerOperation": "All"},
        ),
        "function": request("POST", "/dbs/data/colls/c/udfs", function),
    }


KINDS = list(targets("x"))
#: Ids that items may have, though not all of them can be part of a link.
ITEMS = {
    "blank",
    "blank behind",
    "slash",
    "slash alone",
    "question",
    "question alone",
    "hash",
    "hash alone",
    "slash in front",
    "slash behind",
    "dots and slash",
}
CASES = [
    (kind, what)
    for kind in KINDS
    for what in BAD
    if kind not in ("item", "upsert") or what not in ITEMS
]


@pytest.mark.parametrize(("kind", "what"), CASES)
def test_ids_that_are_none(attacked, kind, what):
    attacked.refused(targets(BAD[what])[kind], 400)


@pytest.mark.parametrize("what", sorted(ITEMS))
def test_ids_that_links_cannot_name(attacked, what):
    id_ = BAD[what]
    path = f"{DOCS}/{quote(id_, safe='')}"
    made = attacked.accepted(request("POST", DOCS, {"id": id_, "pk": "a"}, A), 201)
    by_name = attacked.run("GET", path, None, A)
    by_link = attacked.run("GET", f"/{made.json['_self']}", None, A)
    attacked.remove(f"/{made.json['_self']}", A)
    attacked.held = attacked.state()
    named = id_.rstrip(" ") == id_ and not set(id_) & set("/\\#")
    assert by_name.status == (200 if named else 401), by_name
    assert by_link.status == 200 and by_link.json["id"] == id_, by_link


@pytest.mark.parametrize("what", WRONG_TYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_ids_that_are_no_text(attacked, kind, what):
    attacked.refused(targets(WRONG_TYPES[what])[kind], 400)


@pytest.mark.parametrize("kind", KINDS)
def test_no_id(attacked, kind):
    head, body = targets("x")[kind].split(b"\r\n\r\n", 1)
    body = json.loads(body)
    del body["id"]
    data = json.dumps(body).encode()
    head = b"\r\n".join(
        b"content-length: %d" % len(data) if line.startswith(b"content-length") else line
        for line in head.split(b"\r\n")
    )
    attacked.refused(head + b"\r\n\r\n" + data, 400)


@pytest.mark.parametrize("kind", ["database", "container", "user"])
@pytest.mark.parametrize("name", ["x" * 256, "日" * 256, "a\nb", "a\rb", "a\0b"], ids=repr)
def test_names_of_resources(attacked, kind, name):
    attacked.refused(targets(name)[kind], 400)


@pytest.mark.parametrize("control", range(32))
def test_control_characters(attacked, control):
    """An accepted id with a control character can be read again."""
    id_ = f"a{chr(control)}b"
    reply = attacked.survived_any(request("POST", DOCS, {"id": id_, "pk": "a"}, A))
    assert reply.status in (201, 400), reply
    if reply.status == 201:
        path = f"{DOCS}/{quote(id_, safe='')}"
        read = attacked.run("GET", path, None, A)
        attacked.remove(path, A)
        attacked.held = attacked.state()
        assert read.status == 200 and read.json["id"] == id_, read


@pytest.mark.parametrize("what", GOOD)
def test_ids_that_are_odd_and_right(attacked, what):
    id_ = GOOD[what]
    path = f"{DOCS}/{quote(id_, safe='')}"
    attacked.accepted(request("POST", DOCS, {"id": id_, "pk": "a"}, A), 201)
    read = attacked.run("GET", path, None, A)
    other = attacked.run("GET", path, None, {PARTITION_KEY: '["b"]'})
    attacked.remove(path, A)
    assert read.status == 200 and read.json["id"] == id_, read
    assert other.status == 404


def test_a_replace_may_rename(attacked):
    attacked.refused(request("PUT", f"{DOCS}/1", {"id": "", "pk": "a", "lost": 1}, A), 400)
    attacked.accepted(request("POST", DOCS, {"id": "old", "pk": "a"}, A), 201)
    attacked.accepted(request("PUT", f"{DOCS}/old", {"id": "new", "pk": "a"}, A), 200)
    gone = attacked.run("GET", f"{DOCS}/old", None, A)
    taken = attacked.run("PUT", f"{DOCS}/new", {"id": "1", "pk": "a", "lost": 1}, A)
    attacked.remove(f"{DOCS}/new", A)
    attacked.held = attacked.state()
    assert (gone.status, taken.status) == (404, 409), (gone, taken)


def test_items_that_are_there(attacked):
    attacked.refused(request("POST", DOCS, {"id": "1", "pk": "a", "lost": 1}, A), 409, 0, EXISTS)
    for body in ({"id": "9", "pk": "a", "n": 1}, {"id": "9", "pk": "a", "n": 2.0}):
        attacked.refused(request("POST", "/dbs/data/colls/u/docs", body, A), 409, 0, UNIQUE)
    attacked.refused(
        request("PUT", "/dbs/data/colls/u/docs/1", {"id": "1", "pk": "a", "n": 2}, A),
        409,
        0,
        UNIQUE,
    )


@pytest.mark.parametrize(
    "path",
    ["none", "1x", "%31x", "x" * 1023, "%00", "..", "%2e%2e", "AAAAAAAAAAA=", "null"],
    ids=lambda it: it[:12],
)
def test_items_that_are_not_there(attacked, path):
    link = f"{DOCS}/{path}"
    patch = {"operations": [{"op": "set", "path": "/x", "value": 1}]}
    attacked.refused(request("GET", link, None, A), 404, 0, NO_ENTITY)
    attacked.refused(request("DELETE", link, None, A), 404, 0, NO_ENTITY)
    attacked.refused(request("PATCH", link, patch, A), (404, 400), 0)
    attacked.refused(request("PUT", link, {"id": "none", "pk": "a"}, A), (404, 400), 0)


@pytest.mark.parametrize(
    "path",
    [
        "/dbs/data/users/none",
        "/dbs/data/users/none/permissions/x",
        "/dbs/data/colls/c/sprocs/none",
        "/dbs/data/colls/c/triggers/none",
        "/dbs/data/colls/c/udfs/none",
        "/offers/none",
        "/dbs/data/colls/c/conflicts/none",
        "/dbs/none",
        "/dbs/data/colls/none",
    ],
)
@pytest.mark.parametrize("verb", ["GET", "DELETE"])
def test_resources_that_are_not_there(attacked, verb, path):
    statuses = (400, 405) if path.startswith("/offers") else 404
    attacked.refused(request(verb, path), statuses, (0, 1003))


@pytest.mark.parametrize(
    "path", ["/dbs/none/colls/c/docs", "/dbs/data/colls/none/docs", "/dbs/none/colls/none/docs"]
)
def test_parents_that_are_not_there(attacked, path):
    for data in (
        request("GET", path),
        request("GET", f"{path}/1", None, A),
        request("POST", path, {"id": "1", "pk": "a"}, A),
        request("PUT", f"{path}/1", {"id": "1", "pk": "a"}, A),
        request("DELETE", f"{path}/1", None, A),
        request(
            "POST", path, {"query": "SELECT * FROM c"}, {"content-type": "application/query+json"}
        ),
        request("POST", path, [{"operationType": "Read", "id": "1"}], BATCH),
        request("GET", path.replace("/docs", "/pkranges")),
        request("GET", path, None, {"a-im": "Incremental Feed"}),
        request("POST", path.replace("/docs", "/operations/partitionkeydelete"), None, A),
    ):
        attacked.refused(data, 404, 1003, NO_OWNER)


TTLS = {
    "0": 0,
    "null": None,
    "-10": -10,
    "-2": -2,
    "2147483648": 2**31,
    "5.5": 5.5,
    "true": True,
    "false": False,
    "5": "5",
    "": "",
    "-1": "-1",
    "{}": {},
    "[]": [],
    "9007199254740993": 2**53 + 1,
}


@pytest.mark.parametrize("shown", TTLS)
def test_ttl_of_items(attacked, shown):
    """Refused where TTL is on, with the documented message, also in a patch and a batch."""
    value = TTLS[shown]
    item = {"id": "new", "pk": "a", "ttl": value}
    attacked.refused(request("POST", DOCS, item, A), 400, 0, bad_ttl(shown))
    attacked.refused(request("POST", DOCS, item, UPSERT), 400, 0, bad_ttl(shown))
    attacked.refused(request("PUT", f"{DOCS}/1", {**item, "id": "1"}, A), 400, 0, bad_ttl(shown))
    attacked.refused(
        request(
            "PATCH", f"{DOCS}/1", {"operations": [{"op": "set", "path": "/ttl", "value": value}]}, A
        ),
        400,
        0,
        bad_ttl(shown),
    )
    reply = attacked.accepted(
        request("POST", DOCS, [{"operationType": "Create", "resourceBody": item}], BATCH), 200, 207
    )
    assert [it["statusCode"] for it in reply.json] == [400]


@pytest.mark.parametrize("shown", TTLS)
def test_ttl_where_it_means_nothing(attacked, shown):
    docs = "/dbs/data/colls/off/docs"
    attacked.accepted(request("POST", docs, {"id": "new", "pk": "a", "ttl": TTLS[shown]}, A), 201)
    assert attacked.run("GET", f"{docs}/new", None, A).json["ttl"] == TTLS[shown]
    attacked.remove(f"{docs}/new", A)
