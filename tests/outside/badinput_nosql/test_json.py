"""Bodies that are not JSON, or JSON that is refused: on every route that takes a body."""

import json

import pytest
from lib.texts import TOO_LARGE

from badinput_nosql.wire import BATCH, BULK, QUERY, A, request

DOCS = "/dbs/data/colls/c/docs"
PLAN = {
    "content-type": "application/query+json",
    "x-ms-cosmos-is-query-plan-request": "True",
    "x-ms-cosmos-query-version": "1.4",
    "x-ms-cosmos-supported-query-features": "OrderBy, Top",
}
UPSERT = {**A, "x-ms-documentdb-is-upsert": "True"}
C = {"id": "c", "partitionKey": {"paths": ["/pk"], "kind": "Hash", "version": 2}, "defaultTtl": -1}
#: name: method, path, headers, a valid body
TARGETS = {
    "database": ("POST", "/dbs", {}, {"id": "new"}),
    "container": ("POST", "/dbs/data/colls", {}, {"id": "new", "partitionKey": {"paths": ["/pk"]}}),
    "replaced container": ("PUT", "/dbs/data/colls/c", {}, {**C, "defaultTtl": 7}),
    "item": ("POST", DOCS, A, {"id": "new", "pk": "a", "x": [1, {"y": None}]}),
    "upsert": ("POST", DOCS, UPSERT, {"id": "1", "pk": "a", "lost": True}),
    "replace": ("PUT", f"{DOCS}/1", A, {"id": "1", "pk": "a", "lost": True}),
    "patch": (
        "PATCH",
        f"{DOCS}/1",
        A,
        {"operations": [{"op": "set", "path": "/lost", "value": 1}]},
    ),
    "batch": (
        "POST",
        DOCS,
        BATCH,
        [{"operationType": "Create", "resourceBody": {"id": "new", "pk": "a"}}],
    ),
    "bulk": (
        "POST",
        DOCS,
        BULK,
        [
            {
                "operationType": "Create",
                "partitionKey": '["a"]',
                "resourceBody": {"id": "n", "pk": "a"},
            }
        ],
    ),
    "query": (
        "POST",
        DOCS,
        QUERY,
        {"query": "SELECT * FROM c", "parameters": [{"name": "@a", "value": {"b": [1]}}]},
    ),
    "plan": ("POST", DOCS, PLAN, {"query": "SELECT * FROM c ORDER BY c.n", "parameters": []}),
    "query of databases": ("POST", "/dbs", QUERY, {"query": "SELECT * FROM c"}),
    "query of containers": ("POST", "/dbs/data/colls", QUERY, {"query": "SELECT * FROM c"}),
    "query of offers": ("POST", "/offers", QUERY, {"query": "SELECT * FROM c"}),
    "user": ("POST", "/dbs/data/users", {}, {"id": "new"}),
    "procedure": ("POST", "/dbs/data/colls/c/sprocs", {}, {"id": "new", "body": "function(){}"}),
    "trigger": (
        "POST",
        "/dbs/data/colls/c/triggers",
        {},
        {"id": "new", "body": "function(){}", "triggerType": "Pre", "triggerOperation": "All"},
    ),
    "function": ("POST", "/dbs/data/colls/c/udfs", {}, {"id": "new", "body": "function(){}"}),
}
ARRAYS = ("batch", "bulk")


def send(target, body):
    verb, path, headers, _ = TARGETS[target]
    return request(verb, path, body, headers)


def statuses(target):
    """Returns the allowed status codes. A body that does not start as JSON may be read as the
    binary form of batches, which is not supported."""
    return (400, 501) if target in ARRAYS else 400


def deep(levels, opening="[", closing="]", inner="1"):
    return opening * levels + inner + closing * levels


def inside(target, text):
    """Returns the valid body of a target with one more property, whose value is this text."""
    body = TARGETS[target][3]
    if isinstance(body, list):
        inner = json.dumps(body[0]["resourceBody"])[:-1] + f',"more":{text}}}'
        return json.dumps([{**body[0], "resourceBody": "@"}]).replace('"@"', inner)
    return json.dumps(body)[:-1] + f',"more":{text}}}'


#: Texts that are not JSON at all, or not one value.
NO_JSON = {
    "empty": b"",
    "blank": b" ",
    "lines": b"\r\n\t ",
    "NUL": b"\0",
    "words": b"hello",
    "bracket": b"{",
    "closing": b"}",
    "mixed brackets": b"{]",
    "quote": b'"',
    "comma": b",",
    "colon": b":",
    "BOM alone": b"\xef\xbb\xbf",
    "minus": b"-",
    "undefined": b"undefined",
    "nul": b"nul",
    "True": b"True",
    "None": b"None",
    "xml": b"<a/>",
    "high bytes": b"\xff\xfe\xfd",
    "a million brackets": b"[" * 1_000_000,
    "a million objects": b'{"a":' * 400_000,
    "half a million of both": b'[{"a":' * 300_000,
    "brackets that close": b"]" * 100_000,
}
#: Invalid values inside a valid body.
NO_VALUES = {
    "NaN": b"NaN",
    "Infinity": b"Infinity",
    "-Infinity": b"-Infinity",
    "too large": b"1e999",
    "too small": b"-1e999",
    "leading zero": b"01",
    "plus": b"+1",
    "leading point": b".5",
    "point behind": b"1.",
    "no exponent": b"1e",
    "hex": b"0x10",
    "digits apart": b"1_000",
    "single quotes": b"'x'",
    "no quotes": b"x",
    "comment": b"/* c */ 1",
    "line comment": b"1 // c\n",
    "comma behind": b"[1,]",
    "comma before": b"[,1]",
    "two commas": b"[1,,2]",
    "comma behind a member": b'{"a":1,}',
    "no colon": b'{"a" 1}',
    "no name": b"{:1}",
    "name without quotes": b"{a:1}",
    "number as name": b"{1:1}",
    "no value": b'{"a":}',
    "bad escape": b'"\\x41"',
    "short escape": b'"\\u12"',
    "escape of letters": b'"\\uzzzz"',
    "high surrogate": b'"\\ud800"',
    "low surrogate": b'"\\udc00"',
    "surrogates turned": b'"\\udc00\\ud800"',
    "surrogate and letter": b'"\\ud800x"',
    "surrogate in a name": b'{"\\ud800":1}',
    "NUL in a text": b'"a\0b"',
    "invalid UTF-8": b'"\xff"',
    "cut UTF-8": b'"\xe2\x82"',
    "overlong UTF-8": b'"\xc0\x80"',
    "overlong slash": b'"\xe0\x80\xaf"',
    "surrogate in UTF-8": b'"\xed\xa0\x80"',
    "beyond Unicode": b'"\xf4\x90\x80\x80"',
    "five bytes": b'"\xf8\x88\x80\x80\x80"',
    "invalid UTF-8 in a name": b'{"\xff":1}',
    "NUL in a name": b'{"a\\u0000b":1}',
    "names twice": b'{"a":1,"a":2}',
    "names twice by escapes": b'{"a":1,"\\u0061":2}',
    "names twice deep": b'[[{"b":{"a":1,"c":[],"a":1}}]]',
    "names twice far apart": b'{"a":1,'
    + b",".join(b'"n%d":1' % i for i in range(2000))
    + b',"a":2}',
    "deep arrays": deep(140).encode(),
    "deep objects": deep(140, '{"a":', "}").encode(),
    "deeper": deep(100_000).encode(),
    "deeper objects": deep(100_000, '{"a":', "}").encode(),
    "deeper and open": b"[" * 200_000,
    "an endless number": b"1" * 5000 + b"e999",
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", NO_JSON)
def test_bodies_that_are_no_json(attacked, target, form):
    attacked.refused(send(target, NO_JSON[form]), statuses(target))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", NO_VALUES)
def test_bodies_with_something_wrong_inside(attacked, target, form):
    body = (
        inside(target, "@").encode().replace(b"@", NO_VALUES[form])
        if target != "query"
        else (b'{"query":"SELECT * FROM c","more":' + NO_VALUES[form] + b"}")
    )
    attacked.refused(send(target, body), 400)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "body",
    [
        b"1",
        b"-1.5",
        b'"x"',
        b'""',
        b"true",
        b"false",
        b"null",
        b"[]",
        b"[1]",
        b"[[]]",
        b'["x"]',
        b"[null]",
        b"{}",
        b'{"":1}',
    ],
)
def test_bodies_of_another_kind(attacked, target, body):
    """Scalars, arrays and empty objects where another type is required."""
    if target in ARRAYS and body.startswith(b"[") and body != b"[]":
        reply = attacked.survived(send(target, body), 200, 207, 400)
        assert reply.status == 400 or all(it["statusCode"] == 400 for it in reply.json), reply
    else:
        attacked.refused(send(target, body), 400)


@pytest.mark.parametrize("target", TARGETS)
def test_bodies_cut_at_every_byte(attacked, target):
    whole = json.dumps(TARGETS[target][3]).encode()
    with attacked.wire() as wire:
        for length in range(len(whole)):
            reply = wire.ask(send(target, whole[:length]))
            assert reply is not None and reply.status == 400, f"{length} bytes: {reply}"
            reply.errors()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "tail", [b"x", b"{}", b"[]", b",", b"\0", b"}", b"]", b"\xff", b"\xef\xbb\xbf", b"// c", b"1"]
)
def test_bodies_with_something_behind(attacked, target, tail):
    whole = json.dumps(TARGETS[target][3]).encode()
    attacked.refused(send(target, whole + tail), 400)
    attacked.refused(send(target, whole + b"\r\n " + tail), 400)


@pytest.mark.parametrize("target", TARGETS)
def test_names_twice_at_the_top(attacked, target):
    whole = json.dumps(TARGETS[target][3])
    if target in ARRAYS:
        body = whole.replace('"operationType"', '"operationType": "Read", "operationType"')
    else:
        name = next(iter(TARGETS[target][3]))
        body = whole[:-1] + f',"{name}":{json.dumps(TARGETS[target][3][name])}}}'
    attacked.refused(send(target, body), 400)


@pytest.mark.parametrize("target", ["item", "upsert", "replace"])
@pytest.mark.parametrize(
    ("levels", "status"), [(127, 201), (128, 400), (129, 400), (1000, 400), (100_000, 400)]
)
@pytest.mark.parametrize("kind", ["arrays", "objects"])
def test_depth(attacked, target, levels, kind, status):
    """The item itself is the first of 128 levels."""
    ends = ("[", "]") if kind == "arrays" else ('{"a":', "}")
    data = send(target, inside(target, deep(levels, *ends)))
    if status == 201:
        attacked.accepted(data, 200, 201)
        attacked.tidy()
    else:
        attacked.refused(data, status)


BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize("target", TARGETS)
def test_a_mark_in_front(attacked, target):
    attacked.refused(send(target, BOM + json.dumps(TARGETS[target][3]).encode()), statuses(target))


#: Unusual but valid texts of values, and the values that are returned.
RIGHT = {
    "-0": ("-0", [0]),
    "-0.0": ("-0.0", [0.0]),
    "0e0": ("0e0", [0]),
    "1E+2": ("1E+2", [100]),
    "1e308": ("1e308", [1e308]),
    "smallest": ("5e-324", [5e-324]),
    "too small to tell": ("1e-999", [0]),
    "2^53+1": ("9007199254740993", [9007199254740993, 2**53]),
    "2^63-1": ("9223372036854775807", [2**63 - 1, 2.0**63]),
    "2^63": ("9223372036854775808", [2**63]),
    "-2^63": ("-9223372036854775808", [-(2**63)]),
    "2^64": ("18446744073709551616", [2.0**64]),
    "a long number": ("1" * 300, [float("1" * 300)]),
    "many digits": ("0." + "1" * 2000, [float("0.1111111111111111111")]),
    "NUL": ('"a\\u0000b"', ["a\0b"]),
    "pair of surrogates": ('"\\ud83d\\ude00"', ["😀"]),
    "all escapes": ('"\\"\\\\\\/\\b\\f\\n\\r\\t"', ['"\\/\b\f\n\r\t']),
    "not a character": ('"\\uffff"', ["\uffff"]),
    "tab and lines as they are": ('"a\tb\r\nc"', ["a\tb\r\nc"]),
    "controls": ('"\\u0001\\u001f\x7f"', ["\x01\x1f\x7f"]),
    "empty name": ('{"":1}', [{"": 1}]),
    "names like operators": (
        '{"$set":1,"a.b":2,"__proto__":3}',
        [{"$set": 1, "a.b": 2, "__proto__": 3}],
    ),
    "names that differ by case": ('{"a":1,"A":2}', [{"a": 1, "A": 2}]),
    "names that differ by form": ('{"\u00e9":1,"e\u0301":2}', [{"é": 1, "e\u0301": 2}]),
    "long name": ('{"' + "n" * 100_000 + '":1}', [{"n" * 100_000: 1}]),
    "many names": (
        json.dumps({str(i): i for i in range(20_000)}),
        [{str(i): i for i in range(20_000)}],
    ),
    "many values": (json.dumps([0] * 100_000), [[0] * 100_000]),
    "many empties": ("[" + "[]," * 50_000 + "{}]", [[[]] * 50_000 + [{}]]),
    "blanks": ("\r\n\t [ 1 , 2 ] \n", [[1, 2]]),
    "right to left": ('"\\u202e\\u200b"', ["\u202e\u200b"]),
}


@pytest.mark.parametrize("form", RIGHT)
def test_values_that_are_odd_and_right(attacked, form):
    text, wanted = RIGHT[form]
    made = attacked.accepted(
        request("POST", DOCS, f'{{"id":"odd","pk":"a","v":{text}}}', A), 201, within=5
    )
    read = attacked.run("GET", f"{DOCS}/odd", None, A)
    attacked.remove(f"{DOCS}/odd", A)
    assert read.status == 200
    assert read.json["v"] in wanted
    assert made.json == read.json


@pytest.mark.parametrize(
    ("size", "status"),
    [((2 << 20) - 30, 201), ((2 << 20) + 1, 413), (3 << 20, 413), (20 << 20, 413)],
)
def test_sizes_of_items(attacked, size, status):
    body = b'{"id":"large","pk":"a","x":"' + b"y" * (size - 30) + b'"}'
    data = request("POST", DOCS, body, A)
    if status == 201:
        attacked.accepted(data, 201, within=5)
        attacked.remove(f"{DOCS}/large", A)
    else:
        attacked.refused(data, status, text=TOO_LARGE, within=5)


@pytest.mark.parametrize("target", TARGETS)
def test_bodies_of_three_megabytes(attacked, target):
    attacked.refused(
        send(target, inside(target, '"' + "x" * (3 << 20) + '"')), 413, text=TOO_LARGE, within=5
    )


def test_many_small_values_take_no_more_than_their_share(attacked):
    """As many values as two megabytes can hold: memory stays bounded, others are served."""
    before = attacked.server.rss()
    with attacked.undisturbed():
        for text in (
            "[" + "0," * 1_000_000 + "0]",
            "[" + "{}," * 600_000 + "0]",
            "[" + "[]," * 600_000 + "0]",
        ):
            attacked.survived(
                request("POST", DOCS, f'{{"id":"1","pk":"a","x":{text}}}', A), 409, within=5
            )
    assert attacked.server.rss() - before < 400 << 20


def test_names_that_collide(attacked):
    """Many names that collide in a weak hash function are read as fast as others."""
    names = ["Aa", "BB"]
    for _ in range(13):
        names = [a + b for a in names for b in ("Aa", "BB")][:40_000]
    body = json.dumps({"id": "1", "pk": "a", **dict.fromkeys(names, 1)})
    attacked.survived(request("POST", DOCS, body, A), 409, within=2)
