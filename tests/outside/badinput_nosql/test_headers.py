"""Headers of requests: conditions, contradictions, encodings, throughputs, and the rest."""

import gzip
import json

import pytest
from lib.texts import MISMATCH, PRECONDITION

from badinput_nosql.wire import BATCH, PARTITION_KEY, QUERY, A, query, request

DOCS = "/dbs/data/colls/c/docs"
NEW = {"id": "new", "pk": "a"}

ETAGS = [
    "x",
    '"x"',
    '""',
    '"',
    "0",
    '"00000000-0000-0000-0000-000000000000"',
    '"a", "b"',
    'W/"x"',
    "{}",
    "é",
    "y" * 9000,
    '"ffffffff-ffff-ffff-ffff-ffffffffffff"',
    "**",
    "* *",
    '"*"',
    "null",
]


@pytest.mark.parametrize("etag", ETAGS, ids=lambda it: it[:14])
@pytest.mark.parametrize("verb", ["PUT", "PATCH", "DELETE", "upsert"])
def test_conditions_that_do_not_hold(attacked, verb, etag):
    headers = {**A, "if-match": etag}
    data = {
        "PUT": lambda: request("PUT", f"{DOCS}/1", {"id": "1", "pk": "a", "lost": 1}, headers),
        "PATCH": lambda: request(
            "PATCH",
            f"{DOCS}/1",
            {"operations": [{"op": "set", "path": "/lost", "value": 1}]},
            headers,
        ),
        "DELETE": lambda: request("DELETE", f"{DOCS}/1", None, headers),
        "upsert": lambda: request(
            "POST",
            DOCS,
            {"id": "1", "pk": "a", "lost": 1},
            {**headers, "x-ms-documentdb-is-upsert": "True"},
        ),
    }[verb]()
    attacked.refused(
        data, (412, 400) if etag == "é" else 412, text=None if etag == "é" else PRECONDITION
    )


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (
            "/dbs/data/colls/c",
            {"id": "c", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}},
        ),
        ("/dbs/data/colls/c", None),
        ("/dbs/data", None),
    ],
)
def test_conditions_on_other_resources(attacked, path, body):
    verb = "PUT" if body else "DELETE"
    attacked.refused(request(verb, path, body, {"if-match": '"x"'}), 412, text=PRECONDITION)


@pytest.mark.parametrize("etag", ["x", '""', "\x7f", "y" * 9000, '"a", "b"', "W/*"])
def test_reads_with_odd_conditions(attacked, etag):
    """The client's ETag does not match: the item is returned."""
    attacked.survived(request("GET", f"{DOCS}/1", None, {**A, "if-none-match": etag}), 200, 400)


def flags(**chosen):
    names = {
        "plan": "x-ms-cosmos-is-query-plan-request",
        "batch": "x-ms-cosmos-is-batch-request",
        "isquery": "x-ms-documentdb-isquery",
        "upsert": "x-ms-documentdb-is-upsert",
    }
    found = {PARTITION_KEY: '["a"]'}
    for name, value in chosen.items():
        found[names.get(name, "content-type")] = value
    return found


ITEM, ASKED, OPERATIONS = (
    NEW,
    {"query": "SELECT * FROM c"},
    [{"operationType": "Create", "resourceBody": NEW}],
)
#: The meaning of a POST to items is decided in this order: plan, batch, query, upsert, create.
CONTRADICTIONS = [
    (flags(isquery="True"), ITEM),
    (flags(isquery="True", upsert="True"), ITEM),
    (flags(batch="True"), ITEM),
    (flags(batch="True"), ASKED),
    (flags(plan="True"), ITEM),
    (flags(plan="True"), OPERATIONS),
    (flags(isquery="True"), OPERATIONS),
    (flags(plan="True", batch="True"), OPERATIONS),
    (flags(batch="True", isquery="True"), ASKED),
    (flags(), ASKED),
    (flags(upsert="True"), ASKED),
    (flags(), OPERATIONS),
    (flags(upsert="True"), OPERATIONS),
    (flags(type="application/query+json"), ITEM),
    (flags(type="application/query+json", upsert="True"), ITEM),
    (flags(type="application/query+json", isquery="False"), ITEM),
    (flags(type="application/query+json", batch="True"), ASKED),
    (flags(plan="True", upsert="True", batch="True", isquery="True"), ITEM),
    (flags(plan="True", upsert="True", batch="True", isquery="True"), OPERATIONS),
    (flags(batch="TRUE", upsert="true"), ITEM),
]


@pytest.mark.parametrize(("headers", "body"), CONTRADICTIONS, ids=range(len(CONTRADICTIONS)))
def test_headers_that_contradict_the_body(attacked, headers, body):
    attacked.refused(request("POST", DOCS, body, headers), 400)


@pytest.mark.parametrize("value", ["yes", "1", "", "Truee", "t", "on", "True, True", "[true]"])
@pytest.mark.parametrize("flag", ["isquery", "batch", "plan"])
def test_flags_that_are_not_true(attacked, flag, value):
    """Such a value does not set the flag: the request is a create, which conflicts."""
    reply = attacked.survived(
        request("POST", DOCS, {"id": "1", "pk": "a"}, flags(**{flag: value})), 400, 409
    )
    reply.errors()


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("GET", f"{DOCS}/1"),
        ("PUT", f"{DOCS}/nothing"),
        ("DELETE", f"{DOCS}/nothing"),
        ("PATCH", f"{DOCS}/nothing"),
    ],
)
def test_flags_where_they_mean_nothing(attacked, verb, path):
    body = {
        "PUT": {"id": "nothing", "pk": "a"},
        "PATCH": {"operations": [{"op": "remove", "path": "/a"}]},
    }.get(verb)
    for flag in ("isquery", "batch", "plan", "upsert"):
        reply = attacked.survived(
            request(verb, path, body, flags(**{flag: "True"})), 200, 400, 404, 405
        )
        assert verb != "GET" or reply.status == 200


#: Bodies in encodings other than plain UTF-8 JSON.
CODED = {
    "UTF-16": (
        {"content-type": "application/json; charset=utf-16"},
        json.dumps(NEW).encode("utf-16"),
    ),
    "UTF-16 without a word": ({}, json.dumps(NEW).encode("utf-16-le")),
    "UTF-32": (
        {"content-type": "application/json; charset=utf-32"},
        json.dumps(NEW).encode("utf-32"),
    ),
    "gzip": ({"content-encoding": "gzip"}, gzip.compress(json.dumps(NEW).encode())),
    "gzip without a word": ({}, gzip.compress(json.dumps(NEW).encode())),
    "gzip that is none": ({"content-encoding": "gzip"}, json.dumps(NEW).encode()),
    "deflate that is none": ({"content-encoding": "deflate"}, json.dumps(NEW).encode()),
    "br that is none": ({"content-encoding": "br"}, json.dumps(NEW).encode()),
    "an unknown coding": ({"content-encoding": "nonsense"}, json.dumps(NEW).encode()),
    "a gzip bomb": (
        {"content-encoding": "gzip"},
        gzip.compress(b'{"id":"' + b"x" * (50 << 20) + b'"}'),
    ),
    "a form": ({"content-type": "application/x-www-form-urlencoded"}, b"id=new&pk=a"),
    "parts": (
        {"content-type": "multipart/form-data; boundary=x"},
        b'--x\r\n\r\n{"id":"new"}\r\n--x--\r\n',
    ),
    "XML": ({"content-type": "application/xml"}, b"<id>new</id>"),
    "binary JSON": ({"content-type": "application/json"}, b"\x80\xea\x05\x82\x2a\x83new"),
}


@pytest.mark.parametrize("form", CODED)
def test_bodies_in_other_codings(attacked, form):
    headers, body = CODED[form]
    attacked.refused(request("POST", DOCS, body, {**A, **headers}), (400, 415))


@pytest.mark.parametrize(
    "accept",
    ["", "text/html", "application/xml;q=1", "*/*;q=0", "x" * 9000, "application/json, nonsense/"],
)
def test_answers_in_other_forms(attacked, accept):
    attacked.survived(request("GET", f"{DOCS}/1", None, {**A, "accept": accept}), 200, 406)


@pytest.mark.parametrize(
    "name",
    [
        "x-ms-version",
        "x-ms-consistency-level",
        "user-agent",
        "x-ms-unknown",
        "cookie",
        "x-ms-cosmos-supported-query-features",
        "prefer",
        "x-ms-activity-id",
        "cache-control",
    ],
)
@pytest.mark.parametrize(
    "value",
    ["", "x" * 20_000, b"\xff\xfe", "\t", "{}[]\"'", "%00%0d%0a"],
    ids=lambda it: repr(it[:6]),
)
def test_headers_that_do_not_matter(attacked, name, value):
    attacked.survived(request("GET", f"{DOCS}/1", None, {**A, name: value}), 200, 400)


def test_activities_are_not_split(attacked):
    """An activity id that is echoed in a header and a body cannot inject anything else."""
    for value in ("a b", '"}', "x" * 5000, "é", "\\u0000", "a,b"):
        reply = attacked.survived(
            request("GET", f"{DOCS}/none", None, {**A, "x-ms-activity-id": value}), 404, 400
        )
        assert reply.json["message"].count("ActivityId") == 1


@pytest.mark.parametrize(
    "value",
    ["0", "-1", "399", "401", "x", "1e3", "400.5", "99999999999", "1" * 40, "true", "[400]"],
)
@pytest.mark.parametrize("path", ["/dbs", "/dbs/data/colls"])
def test_throughputs(attacked, path, value):
    body = {"id": "paid", "partitionKey": {"paths": ["/pk"]}}
    attacked.refused(request("POST", path, body, {"x-ms-offer-throughput": value}), 400)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "x",
        "{}",
        "[]",
        "1000",
        '{"maxThroughput":0}',
        '{"maxThroughput":999}',
        "null",
        '{"maxThroughput":"1000"}',
        '{"maxThroughput":-1000}',
        '{"maxThroughput":1e99}',
        "[" * 5000,
        '{"maxThroughput":1000,"maxThroughput":2000}',
        '{"maxThroughput":1500}',
    ],
    ids=lambda it: it[:30],
)
@pytest.mark.parametrize("path", ["/dbs", "/dbs/data/colls"])
def test_throughputs_that_scale(attacked, path, value):
    body = {"id": "paid", "partitionKey": {"paths": ["/pk"]}}
    attacked.refused(
        request("POST", path, body, {"x-ms-cosmos-offer-autopilot-settings": value}), 400
    )


@pytest.mark.parametrize("value", ["x", "nothing", "nothing,more", "x" * 9000])
@pytest.mark.parametrize("when", ["pre", "post"])
def test_triggers_that_are_not_there(attacked, when, value):
    headers = {**A, f"x-ms-documentdb-{when}-trigger-include": value}
    attacked.refused(request("POST", DOCS, NEW, headers), (400, 404, 501))


@pytest.mark.parametrize(
    "name",
    [
        "x-ms-documentdb-partitionkey",
        "if-match",
        "x-ms-session-token",
        "x-ms-continuation",
        "x-ms-max-item-count",
    ],
)
def test_headers_twice_with_different_values(attacked, name):
    """Which of the two is meant cannot be known."""
    values = {
        "x-ms-documentdb-partitionkey": ('["a"]', '["b"]'),
        "if-match": ("*", '"x"'),
        "x-ms-session-token": ("0:-1#0", "x"),
        "x-ms-continuation": ("x", "y"),
        "x-ms-max-item-count": ("1", "2"),
    }[name]
    for pair in (values, values[::-1]):
        headers = {} if name == PARTITION_KEY else A
        extra = [(name, value) for value in pair]
        if name in ("x-ms-continuation", "x-ms-max-item-count"):
            data = request("GET", DOCS, None, {}, extra=extra)
        elif name == "if-match":
            data = request("DELETE", f"{DOCS}/1", None, headers, extra=extra)
        else:
            data = request("GET", f"{DOCS}/1", None, headers, extra=extra)
        attacked.refused(data, (400, 412) if name == "if-match" else 400)


def test_mismatch_of_the_partition_key(attacked):
    for key in ('["b"]', "[1]", "[null]", "[{}]", "[true]", '["A"]', '["a "]', '[""]'):
        attacked.refused(request("POST", DOCS, NEW, {PARTITION_KEY: key}), 400, 1001, MISMATCH)
        attacked.refused(
            request("POST", DOCS, NEW, {PARTITION_KEY: key, "x-ms-documentdb-is-upsert": "True"}),
            400,
            1001,
            MISMATCH,
        )


def test_batches_and_queries_are_what_they_say(attacked):
    """The valid forms of all that is contradicted above."""
    attacked.accepted(query("SELECT * FROM c"), 200)
    attacked.accepted(request("POST", DOCS, ASKED, {**QUERY, PARTITION_KEY: '["a"]'}), 200)
    attacked.accepted(request("POST", DOCS, [{"operationType": "Read", "id": "1"}], BATCH), 200)
