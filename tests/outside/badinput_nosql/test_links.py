"""Paths: unknown routes, unsupported methods, links with too many or too few parts, malformed
percent-encoding, and unknown resource ids."""

import pytest
from lib.texts import NO_OWNER

from badinput_nosql.wire import A, request

DOCS = "/dbs/data/colls/c/docs"
BODY = {"id": "new", "pk": "a", "partitionKey": {"paths": ["/pk"]}}

UNKNOWN = [
    "/x",
    "/dbss",
    "/DBS",
    "/Dbs",
    "/db",
    "/dbs/data/x",
    "/dbs/data/collections",
    "/dbs/data/colls/c/x",
    "/dbs/data/colls/c/documents",
    "/dbs/data/colls/c/docs/1/x",
    "/dbs/data/colls/c/docs/1/attachments",
    "/dbs/data/colls/c/docs/1/attachments/2",
    "/dbs/data/users/u/x",
    "/dbs/data/users/u/permissions/p/x",
    "/dbs/data/colls/c/docs/1/2/3/4/5/6/7/8/9",
    "/dbs/data/docs",
    "/dbs/data/docs/1",
    "/colls",
    "/colls/c",
    "/docs",
    "/users",
    "/offers/x/y",
    "/dbs/data/offers",
    "/dbs/data/colls/c/operations",
    "/dbs/data/colls/c/operations/x",
    "/dbs/data/colls/c/operations/partitionkeydelete/x",
    "/dbs/data/colls/c/users",
    "/dbs/data/udfs",
    "/admin",
    "/metrics",
    "/healthz",
    "/_ebb/",
    "/index.html",
    "/favicon.ico",
    "/.git/config",
    "/etc/passwd",
    "/dbs/data/colls/c/docs/../../../../../etc/passwd",
    "/dbs/../admin",
    "/_explorers",
    "/media/x",
    "/dbs/data/colls/c/pkranges/0/x",
    "/" + "x" * 5000,
    "/" + "a/" * 500,
    "/dbs/data/colls/c/partitionkey",
    "/addresses/x",
    "/dbs/data/clientencryptionkeys/x/y",
    "/dbs/data/colls/c/clientencryptionkeys",
]


@pytest.mark.parametrize("verb", ["GET", "POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("path", UNKNOWN, ids=lambda it: it[:40])
def test_routes_that_are_not_there(attacked, path, verb):
    body = BODY if verb in ("POST", "PUT", "PATCH") else None
    attacked.refused(request(verb, path, body, A), (404, 400, 405), (0, 1003))


METHODS = {
    "/": ["POST", "PUT", "DELETE", "PATCH"],
    "/dbs": ["PUT", "DELETE", "PATCH"],
    "/dbs/data": ["POST", "PATCH", "PUT"],
    "/dbs/data/colls": ["PUT", "DELETE", "PATCH"],
    "/dbs/data/colls/c": ["POST", "PATCH"],
    DOCS: ["PUT", "DELETE", "PATCH"],
    f"{DOCS}/1": ["POST"],
    "/dbs/data/colls/c/pkranges": ["PUT", "DELETE", "PATCH", "POST"],
    "/offers": ["PUT", "DELETE", "PATCH"],
    "/dbs/data/users": ["PUT", "DELETE", "PATCH"],
    "/dbs/data/colls/c/sprocs": ["PUT", "DELETE", "PATCH"],
    "/dbs/data/colls/c/triggers/x": ["POST", "PATCH"],
    "/dbs/data/colls/c/udfs/x": ["POST", "PATCH"],
    "/dbs/data/colls/c/conflicts": ["PUT", "DELETE", "PATCH"],
    "/dbs/data/colls/c/operations/partitionkeydelete": ["GET", "PUT", "DELETE", "PATCH"],
    "/dbs/data/users/u/permissions": ["PUT", "DELETE", "PATCH"],
}


@pytest.mark.parametrize(
    ("path", "verb"), [(path, verb) for path, verbs in METHODS.items() for verb in verbs]
)
def test_methods_that_are_not_there(attacked, path, verb):
    body = BODY if verb in ("POST", "PUT", "PATCH") else None
    attacked.refused(request(verb, path, body, A), 405)


@pytest.mark.parametrize(
    "verb",
    [
        "OPTIONS",
        "TRACE",
        "MERGE",
        "PROPFIND",
        "get",
        "Get",
        "GETT",
        "X" * 30,
        "QUERY",
        "LINK",
        "$",
        "DELETE-ALL",
    ],
)
@pytest.mark.parametrize("path", ["/", "/dbs", f"{DOCS}/1", DOCS])
def test_methods_of_others(attacked, path, verb):
    attacked.survived(request(verb, path, None, A), 400, 401, 404, 405, 501)


def test_connect(attacked):
    date = request("GET", "/")
    for target in ("localhost:80", "/dbs", "*", ""):
        attacked.survived(
            date.replace(b"GET / ", f"CONNECT {target} ".encode(), 1), 400, 401, 404, 405, 501, None
        )


ENCODED = [
    "%",
    "%4",
    "%zz",
    "%%",
    "a%",
    "%2",
    "%f",
    "%ff",
    "%c0%80",
    "%ed%a0%80",
    "%e2%82",
    "%00",
    "%0a",
    "%0d%0a",
    "%u0041",
    "%C3%28",
    "%25%",
    "%-1",
    "%fe%ff",
    "%2f",
    "%5c",
    "%3f",
    "%23",
    "%2F..%2F",
    "%252f",
]


@pytest.mark.parametrize("part", ENCODED)
@pytest.mark.parametrize("where", ["database", "container", "item"])
def test_broken_percent_encoding(attacked, where, part):
    path = {
        "database": f"/dbs/{part}",
        "container": f"/dbs/data/colls/{part}",
        "item": f"{DOCS}/{part}",
    }[where]
    attacked.refused(request("GET", path, None, A), (400, 401, 404), (0, 1003))
    attacked.refused(request("DELETE", path, None, A), (400, 401, 404), (0, 1003))


RIDS = [
    "AAAAAA==",
    "AAAAAAA=",
    "////",
    "----",
    "AAAAAIAAAAA=",
    "AAAAAIAAAAAAAAAAAAAAAA==",
    "AAAA",
    "=",
    "A" * 24,
    "zzzzzz==",
    "AQAAAA==" * 3,
    "+-+-+-==",
    "AAAAAA",
    "aaaaaa==",
    "//////8=",
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAA",
]


@pytest.mark.parametrize("rid", RIDS)
def test_resource_ids_that_name_nothing(attacked, rid):
    rid = rid.replace("/", "-")
    for path in (
        f"/dbs/{rid}",
        f"/dbs/{rid}/colls",
        f"/dbs/data/colls/{rid}",
        f"/dbs/data/colls/{rid}/docs",
        f"/dbs/{rid}/colls/{rid}/docs/{rid}",
        f"{DOCS}/{rid}",
        f"/offers/{rid}",
        f"/dbs/data/users/{rid}",
    ):
        attacked.refused(
            request("GET", path, None, A), (400, 404) if "/offers/" in path else 404, (0, 1003)
        )


def test_resource_ids_of_others(attacked):
    """A resource id leads to its resource, and to no other."""
    ids = {
        path: attacked.run("GET", path).json["_rid"]
        for path in (
            "/dbs/data",
            "/dbs/sentinel",
            "/dbs/data/colls/c",
            "/dbs/data/colls/off",
            "/dbs/sentinel/colls/kept",
        )
    }
    data, sentinel, c, off, kept = ids.values()
    item = attacked.run("GET", f"{DOCS}/1", None, A).json["_rid"]
    attacked.accepted(request("GET", f"/dbs/{data}/colls/{c}"), 200)
    for path in (
        f"/dbs/{sentinel}/colls/{c}",
        f"/dbs/{data}/colls/{kept}",
        f"/dbs/{data}/colls/{data}",
        f"/dbs/{c}",
        f"/dbs/{data}/colls/{off}/docs/{item}",
        f"/dbs/{item}",
        f"/dbs/data/colls/{item}",
        f"/dbs/{data}/colls/{kept}/docs",
        f"/dbs/{sentinel}/users/{c}",
        f"/offers/{data}",
        f"/offers/{c}",
    ):
        attacked.refused(request("GET", path, None, A), 404, (0, 1003))


SLASHES = [
    "//dbs",
    "/dbs//",
    "//dbs//data",
    "/dbs//data",
    "/dbs/data//colls/c",
    "/dbs/data/colls//c/docs",
    "/dbs/data/colls/c//docs/1",
    "/dbs/data/colls/c/docs//1",
    "/dbs/data/colls/c/docs/1//",
    "///",
    "/./dbs",
    "/dbs/.",
    "/dbs/./data",
    "/dbs/data/colls/c/./docs",
    "/dbs//colls//docs",
    "/dbs///",
]


@pytest.mark.parametrize("path", SLASHES)
def test_slashes(attacked, path):
    """A link with extra slashes is resolved as without them, or not at all."""
    attacked.survived(request("GET", path, None, A), 200, 400, 401, 404)
    if "data" in path:
        attacked.survived(
            request("DELETE", path.replace("data", "none"), None, A), 400, 401, 404, 405
        )


TARGETS = [
    "http://localhost/dbs",
    "http://evil.example/dbs",
    "https://localhost:1/dbs/data",
    "*",
    "dbs",
    "?",
    "#",
    "/dbs#x",
    "/dbs?x",
    "/dbs/data?x=y",
    "/?",
    "//",
    "localhost:80",
    "http://",
    "/dbs/data/colls/c/docs?$resolveFor=x",
    "/dbs/ro om",
    "/dbs/\tdata",
    "/dbs/\x7f",
    "/dbs/é",
    "/dbs/{}",
    "/dbs/[]",
    "/dbs/|^`",
    "/dbs/\\data",
    "/dbs/<>",
]


@pytest.mark.parametrize("target", TARGETS)
def test_targets_of_other_forms(attacked, target):
    attacked.survived(request("GET", target), 200, 400, 401, 404, 405, 421, None)


@pytest.mark.parametrize(
    ("size", "statuses"),
    [
        (4000, (404, 414, 431)),
        (60_000, (404, 414, 431)),
        (70_000, (400, 404, 414, 431)),
        (1 << 20, (400, 414, 431, None)),
    ],
)
def test_long_paths(attacked, size, statuses):
    attacked.survived(request("GET", "/dbs/" + "x" * size), *statuses)
    attacked.survived(request("GET", "/dbs?" + "x" * size), *(200, *statuses))


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "localhost",
        "evil.example",
        "a" * 9000,
        "[::1]:80",
        "x:99999",
        '"><script>',
        "a b",
        "\xff",
        "localhost\t",
        "-",
        "a,b",
    ],
)
def test_hosts(attacked, host):
    """The account resource echoes the host as a JSON string only."""
    reply = attacked.survived(request("GET", "/", None, {"host": host}), 200, 400, 421)
    if reply.status == 200:
        assert reply.json["id"]
        assert b"<script>" not in reply.body.replace(b'\\"><script>', b"")


def test_two_hosts(attacked):
    attacked.survived(request("GET", "/", extra=[("host", "evil.example")]), 400)


@pytest.mark.parametrize(
    ("path", "kind", "link", "status"),
    [
        ("//addresses/?$resolveFor=dbs&$filter=protocol%20eq%20rntbd", "dbs", "", 200),
        ("//addresses/?$resolveFor=dbs", "docs", "", 401),
        ("//addresses/?$resolveFor=dbs", "addresses", "", 401),
        ("//addresses/?$resolveFor=", "dbs", "", 400),
        ("//addresses/?$resolveFor=%ff", "dbs", "", 400),
        ("//addresses/", "dbs", "", 400),
        ("/addresses", "dbs", "", 400),
        ("//addresses/?$resolveFor=dbs%2fnone%2fcolls%2fnone%2fdocs", "docs", "none", 404),
        ("//addresses/?$resolveFor=dbs%2fdata%2fcolls%2fc%2fdocs", "docs", "dbs/data/colls/c", 401),
        (
            "//addresses/?$resolveFor=dbs%2fdata%2fcolls%2fc%2fdocs&$partitionKeyRangeIds=9",
            "docs",
            "c",
            410,
        ),
        ("//addresses/?$resolveFor=" + "dbs%2f" * 500, "dbs", "", 400),
    ],
)
def test_addresses(attacked, path, kind, link, status):
    """A signature covers the container's resource id alone, or nothing for the account."""
    from urllib.parse import quote

    from lib.signature import signature

    from badinput_nosql.wire import http_date

    date = http_date()
    header = quote(f"type=master&ver=1.0&sig={signature('get', kind, link, date)}", safe="")
    data = request("GET", path, None, {"authorization": header}, date=date)
    reply = attacked.survived(data, status)
    assert reply.status != 200 or b'"rntbd://' in reply.body, reply


def test_addresses_without_a_signature(attacked):
    data = request("GET", "//addresses/?$resolveFor=dbs", None, {"authorization": None})
    attacked.refused(data, 401)


def test_nothing_in_a_missing_database(attacked):
    attacked.refused(request("GET", "/dbs/none/colls"), 404, 1003, NO_OWNER)
    attacked.refused(request("GET", "/dbs/none/users"), 404, 1003, NO_OWNER)
