"""Resource tokens: of another resource, forged, of a deleted permission, expired; and invalid
permissions."""

import base64
import hashlib
import hmac
import struct
import time
from urllib.parse import quote, unquote

import pytest
from lib.texts import EXISTS

from badinput_nosql.attacked import ONE
from badinput_nosql.wire import BATCH, BULK, PARTITION_KEY, QUERY, A, request

DOCS = "/dbs/data/colls/c/docs"
PERMISSIONS = "/dbs/data/users/u/permissions"
PLAN = {"x-ms-cosmos-is-query-plan-request": "True", "content-type": "application/json"}
PATCH = {"operations": [{"op": "set", "path": "/lost", "value": 1}]}


def permit(attacked, mode="All", resource="dbs/data/colls/c", id_="p", headers=None, **more):
    """Returns the token of a new permission."""
    attacked.run("DELETE", f"{PERMISSIONS}/{id_}")
    made = attacked.run(
        "POST",
        PERMISSIONS,
        {"id": id_, "permissionMode": mode, "resource": resource, **more},
        headers,
    )
    assert made.status == 201, made
    token = made.json["_token"]
    assert token.startswith("type=resource&ver=1"), token
    attacked.held = attacked.state()
    return token


def by(token, verb, path, body=None, headers=None):
    return request(
        verb, path, body, {**A, **(headers or {}), "authorization": quote(token, safe="")}
    )


WRITES = {
    "create": ("POST", DOCS, {"id": "new", "pk": "a"}, {}),
    "replace": ("PUT", f"{DOCS}/1", {"id": "1", "pk": "a"}, {}),
    "upsert": ("POST", DOCS, {"id": "new", "pk": "a"}, {"x-ms-documentdb-is-upsert": "True"}),
    "patch": ("PATCH", f"{DOCS}/1", PATCH, {}),
    "delete": ("DELETE", f"{DOCS}/1", None, {}),
    "batch": ("POST", DOCS, [{"operationType": "Delete", "id": "1"}], BATCH),
    "batch that says it asks": (
        "POST",
        DOCS,
        [{"operationType": "Delete", "id": "1"}],
        {**BATCH, **QUERY},
    ),
    "batch that says it plans": (
        "POST",
        DOCS,
        [{"operationType": "Delete", "id": "1"}],
        {**BATCH, "x-ms-cosmos-is-query-plan-request": "True"},
    ),
    "delete by key": ("POST", "/dbs/data/colls/c/operations/partitionkeydelete", None, {}),
    "delete by key that asks": (
        "POST",
        "/dbs/data/colls/c/operations/partitionkeydelete",
        None,
        QUERY,
    ),
    "procedure": ("POST", "/dbs/data/colls/c/sprocs", {"id": "new", "body": "x"}, {}),
    "definition": ("PUT", "/dbs/data/colls/c", {"id": "c", "partitionKey": ONE}, {}),
    "delete container": ("DELETE", "/dbs/data/colls/c", None, {}),
}
#: Requests that only the account's keys permit.
ADMINISTRATION = {
    "database": ("POST", "/dbs", {"id": "new"}, {}),
    "container": ("POST", "/dbs/data/colls", {"id": "new", "partitionKey": ONE}, {}),
    "user": ("POST", "/dbs/data/users", {"id": "new"}, {}),
    "delete database": ("DELETE", "/dbs/data", None, {}),
    "permission": (
        "POST",
        PERMISSIONS,
        {"id": "more", "permissionMode": "All", "resource": "dbs/data"},
        {},
    ),
    "database that plans": ("POST", "/dbs", {"id": "new"}, PLAN),
    "container that plans": ("POST", "/dbs/data/colls", {"id": "new", "partitionKey": ONE}, PLAN),
    "user that plans": ("POST", "/dbs/data/users", {"id": "new"}, PLAN),
    "procedure that plans": ("POST", "/dbs/data/colls/c/sprocs", {"id": "new", "body": "x"}, PLAN),
    "permission that plans": (
        "POST",
        PERMISSIONS,
        {"id": "more", "permissionMode": "All", "resource": "dbs/data"},
        PLAN,
    ),
    "replace that asks": ("PUT", f"{DOCS}/1", {"id": "1", "pk": "a"}, QUERY),
    "delete that asks": ("DELETE", f"{DOCS}/1", None, QUERY),
    "patch that plans": ("PATCH", f"{DOCS}/1", PATCH, PLAN),
    "execute that asks": ("POST", "/dbs/data/colls/c/sprocs/x", [], QUERY),
    "delete user": ("DELETE", "/dbs/data/users/u", None, {}),
    "execute": ("POST", "/dbs/data/colls/c/sprocs/x", [], {}),
}


def odd(what):
    """Returns the allowed status codes; a write parsed as a query may be malformed."""
    return {"execute that asks": (400, 403, 501)}.get(what, (400, 403) if "that" in what else 403)


@pytest.mark.parametrize("what", WRITES)
def test_tokens_that_may_only_read(attacked, what):
    token = permit(attacked, "Read")
    attacked.accepted(by(token, "GET", f"{DOCS}/1"), 200)
    attacked.accepted(by(token, "POST", DOCS, {"query": "SELECT * FROM c"}, QUERY), 200)
    attacked.refused(by(token, *WRITES[what]), odd(what))


def administration():
    """Yields requests that a read-only token, and one for a container, may not make."""
    for mode in ("Read", "All"):
        for what, (_, path, _, _) in ADMINISTRATION.items():
            if mode == "Read" or not path.startswith("/dbs/data/colls/c/"):
                yield mode, what


@pytest.mark.parametrize(("mode", "what"), administration())
def test_tokens_are_for_their_resource(attacked, mode, what):
    verb, path, body, headers = ADMINISTRATION[what]
    token = permit(attacked, mode)
    attacked.refused(by(token, verb, path, body, headers), odd(what))


OUTSIDE = [
    "/dbs/data/colls/off/docs/1",
    "/dbs/data/colls/off",
    "/dbs/data/colls/h/docs",
    "/dbs/sentinel/colls/kept/docs/1",
    "/dbs/data",
    "/dbs",
    "/dbs/data/users",
    "/dbs/data/users/u",
    PERMISSIONS,
    f"{PERMISSIONS}/p",
    "/dbs/data/colls",
    "/offers",
    "/dbs/data/colls/c2/docs/1",
    "/dbs/data/colls/C/docs/1",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_tokens_of_a_container_elsewhere(attacked, path):
    attacked.refused(by(permit(attacked), "GET", path), 403)


def test_tokens_of_an_item(attacked):
    bare = {"id": "bare", "permissionMode": "All", "resource": "dbs/data/colls/c/docs/1"}
    attacked.refused(request("POST", PERMISSIONS, bare), 400)
    token = permit(attacked, "All", "dbs/data/colls/c/docs/1", resourcePartitionKey=["a"])
    for path in (f"{DOCS}/1", "/dbs/data/colls/c", "/dbs/data/colls/c/pkranges"):
        attacked.accepted(by(token, "GET", path), 200)
    for path in (
        f"{DOCS}/2",
        DOCS,
        f"{DOCS}/11",
        "/dbs/data/colls/off/docs/1",
        "/dbs/data/colls/off",
        "/dbs/data/colls/c/udfs",
        f"{DOCS}/1%2F..%2F2",
    ):
        attacked.refused(by(token, "GET", path), (403, 404) if "%" in path else 403)


@pytest.mark.parametrize("key", ['["b"]', None, "[]", '["a","b"]', "[{}]", "[null]", "x"])
def test_tokens_of_a_partition_key(attacked, key):
    token = permit(attacked, "All", resourcePartitionKey=["a"])
    attacked.accepted(by(token, "GET", f"{DOCS}/1"), 200)
    headers = {PARTITION_KEY: key}
    for data in (
        by(token, "GET", f"{DOCS}/3", None, headers),
        by(token, "DELETE", f"{DOCS}/3", None, headers),
        by(token, "GET", DOCS, None, headers),
        by(token, "POST", DOCS, {"query": "SELECT * FROM c"}, {**QUERY, **headers}),
        by(token, "POST", DOCS, {"id": "new", "pk": "b"}, headers),
        by(token, "GET", DOCS, None, {**headers, "a-im": "Incremental Feed"}),
    ):
        attacked.refused(data, (400, 403), (0, 1001))


def test_forged_tokens(attacked):
    """A change of any byte of a token is detected."""
    token = permit(attacked)
    attacked.accepted(by(token, "GET", f"{DOCS}/1"), 200)
    head, content = token.split("sig=", 1)
    content, *rest = content.split(";")
    data = base64.b64decode(content)
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        other = head + "sig=" + ";".join([base64.b64encode(changed).decode(), *rest])
        with attacked.wire() as wire:
            reply = wire.ask(by(other, "DELETE", f"{DOCS}/1"))
        assert reply.status in (401, 403), f"byte {at}: {reply}"
    for length in range(0, len(data), 3):
        attacked.refused(
            by(f"{head}sig={base64.b64encode(data[:length]).decode()}", "DELETE", f"{DOCS}/1"),
            (401, 403),
        )
    for other in (
        token + "A",
        token.replace("type=resource", "type=master"),
        token.replace("type=resource", "type=aad"),
        token[:-4],
        token * 2,
    ):
        attacked.refused(by(other, "DELETE", f"{DOCS}/1"), (401, 403))


def test_tokens_of_deleted_permissions(attacked):
    token = permit(attacked)
    attacked.accepted(by(token, "GET", f"{DOCS}/1"), 200)
    attacked.remove(f"{PERMISSIONS}/p")
    attacked.held = attacked.state()
    attacked.refused(by(token, "GET", f"{DOCS}/1"), (401, 403))
    attacked.refused(by(token, "DELETE", f"{DOCS}/1"), (401, 403))


def test_tokens_of_changed_permissions(attacked):
    """The old tokens of a permission that became read-only lose the right to write."""
    token = permit(attacked)
    body = {"id": "p", "permissionMode": "Read", "resource": "dbs/data/colls/c"}
    assert attacked.run("PUT", f"{PERMISSIONS}/p", body).status == 200
    attacked.held = attacked.state()
    attacked.refused(by(token, "DELETE", f"{DOCS}/1"), (401, 403))


def test_tokens_of_a_container_that_was_made_anew(attacked):
    attacked.make("/dbs/data/colls", {"id": "new", "partitionKey": ONE})
    token = permit(attacked, "All", "dbs/data/colls/new")
    attacked.remove("/dbs/data/colls/new")
    attacked.make("/dbs/data/colls", {"id": "new", "partitionKey": ONE})
    reply = attacked.survived_any(by(token, "GET", "/dbs/data/colls/new"))
    attacked.remove("/dbs/data/colls/new")
    attacked.held = attacked.state()
    assert reply.status in (200, 401, 403, 404), reply


@pytest.mark.parametrize(
    "seconds",
    ["0", "-1", "599", "86401", "x", "", "1e3", "3600.5", "9" * 40, "NaN", "0x1000", "[3600]"],
)
def test_lives_of_tokens(attacked, seconds):
    body = {"id": "new", "permissionMode": "Read", "resource": "dbs/data/colls/c"}
    attacked.refused(
        request("POST", PERMISSIONS, body, {"x-ms-documentdb-expiry-seconds": seconds}), 400
    )


PERMISSION = {"id": "new", "permissionMode": "Read", "resource": "dbs/data/colls/c"}
BAD = {
    "no id": {"permissionMode": "Read", "resource": "dbs/data/colls/c"},
    "no mode": {"id": "new", "resource": "dbs/data/colls/c"},
    "no resource": {"id": "new", "permissionMode": "Read"},
    "mode": {**PERMISSION, "permissionMode": "Write"},
    "empty mode": {**PERMISSION, "permissionMode": ""},
    "empty resource": {**PERMISSION, "resource": ""},
    "resource of slashes": {**PERMISSION, "resource": "///"},
    "resource of no kind": {**PERMISSION, "resource": "x"},
    "an unknown route": {**PERMISSION, "resource": "dbs/data/x/y"},
    "a deep resource": {**PERMISSION, "resource": "dbs/" * 5000},
    "key of an object": {**PERMISSION, "resourcePartitionKey": [{"a": 1}]},
    "key of arrays": {**PERMISSION, "resourcePartitionKey": [[]]},
    "long key": {**PERMISSION, "resourcePartitionKey": ["x" * 5000]},
    "many keys": {**PERMISSION, "resourcePartitionKey": ["a"] * 100},
}


@pytest.mark.parametrize("what", BAD)
def test_permissions_that_are_none(attacked, what):
    attacked.refused(request("POST", PERMISSIONS, BAD[what]), 400)


def test_users_and_permissions_that_are_there_or_not(attacked):
    permit(attacked)
    attacked.refused(request("POST", PERMISSIONS, {**PERMISSION, "id": "p"}), 409, 0, (EXISTS))
    attacked.refused(request("POST", "/dbs/data/users", {"id": "u"}), 409, 0, EXISTS)
    attacked.refused(
        request("POST", "/dbs/data/users/none/permissions", PERMISSION), 404, (0, 1003)
    )
    attacked.refused(request("GET", "/dbs/data/users/none/permissions"), 404, (0, 1003))
    attacked.refused(request("PUT", "/dbs/data/users/none", {"id": "none"}), 404, (0, 1003))
    attacked.refused(
        request("PUT", f"{PERMISSIONS}/none", {**PERMISSION, "id": "none"}), 404, (0, 1003)
    )


def test_tokens_as_they_are_sent(attacked):
    """A token is accepted with or without percent-encoding."""
    token = permit(attacked)
    for header in (token, quote(token, safe=""), quote(unquote(token), safe="=&")):
        attacked.accepted(request("GET", f"{DOCS}/1", None, {**A, "authorization": header}), 200)


LIMITED = {
    "bulk": (
        "POST",
        DOCS,
        [
            {
                "operationType": "Create",
                "partitionKey": '["b"]',
                "resourceBody": {"id": "new", "pk": "b"},
            }
        ],
        BULK,
    ),
    "bulk that deletes": (
        "POST",
        DOCS,
        [{"operationType": "Delete", "partitionKey": '["b"]', "id": "3"}],
        BULK,
    ),
    "batch": (
        "POST",
        DOCS,
        [{"operationType": "Delete", "partitionKey": '["b"]', "id": "3"}],
        BATCH,
    ),
    "item": ("POST", DOCS, {"id": "new", "pk": "b"}, {}),
    "upsert": ("POST", DOCS, {"id": "3", "pk": "b"}, {"x-ms-documentdb-is-upsert": "True"}),
    "replace": ("PUT", f"{DOCS}/3", {"id": "3", "pk": "b"}, {}),
    "delete": ("DELETE", f"{DOCS}/3", None, {}),
}


@pytest.mark.parametrize("what", LIMITED)
def test_tokens_of_a_partition_key_that_say_two(attacked, what):
    """The header has the token's key, and the body another one."""
    verb, path, body, headers = LIMITED[what]
    token = permit(attacked, "All", resourcePartitionKey=["a"])
    with attacked.wire() as wire:
        reply = wire.ask(by(token, verb, path, body, {**headers, **A}))
    assert reply.status in (200, 207, 400, 403, 404), reply
    attacked.unchanged()


RANGE = {"x-ms-documentdb-partitionkeyrangeid": "0"}
EVERYTHING = {
    "x-ms-read-key-type": "EffectivePartitionKeyRange",
    "x-ms-start-epk": "",
    "x-ms-end-epk": "FF",
}


@pytest.mark.parametrize(
    "headers",
    [
        {},
        RANGE,
        EVERYTHING,
        {**RANGE, **EVERYTHING},
        {"x-ms-documentdb-query-enablecrosspartition": "True"},
    ],
    ids=["plain", "range", "keys", "both", "cross"],
)
@pytest.mark.parametrize("ask", ["query", "feed", "changes", "all versions"])
def test_tokens_of_a_partition_key_see_no_other(attacked, ask, headers):
    token = permit(attacked, "Read", resourcePartitionKey=["a"])
    feed = {
        "changes": {"a-im": "Incremental Feed"},
        "all versions": {"a-im": "Full-Fidelity Feed", "if-none-match": "*"},
    }.get(ask, {})
    if ask == "query":
        data = by(token, "POST", DOCS, {"query": "SELECT * FROM c"}, {**QUERY, **headers, **A})
    else:
        data = by(token, "GET", DOCS, None, {**feed, **headers, **A})
    reply = attacked.survived(data, 200, 304, 400, 403)
    assert b'"pk":"b"' not in reply.body, reply


def test_reading_tokens_do_not_become_more(attacked):
    """The right to read a database does not give access to the tokens of other users."""
    permit(attacked, "All", id_="all")
    token = permit(attacked, "Read", "dbs/data")
    for verb, path, body, headers in (
        ("GET", PERMISSIONS, None, {}),
        ("GET", f"{PERMISSIONS}/all", None, {}),
        ("POST", PERMISSIONS, {"query": "SELECT * FROM c"}, QUERY),
    ):
        reply = attacked.survived(by(token, verb, path, body, headers), 200, 403)
        assert b"type=resource" not in reply.body, reply
    attacked.remove(f"{PERMISSIONS}/all")
    attacked.held = attacked.state()


@pytest.mark.parametrize(
    "resource", ["dbs/sentinel", "dbs/sentinel/colls/kept", "dbs/data", "dbs/data/colls/off"]
)
def test_tokens_do_not_make_tokens(attacked, resource):
    """A token with all rights in a container or a database cannot create permissions beyond it."""
    for own in ("dbs/data/colls/c", "dbs/data"):
        if resource.startswith(own):
            continue
        token = permit(attacked, "All", own)
        attacked.refused(
            by(
                token,
                "POST",
                PERMISSIONS,
                {"id": "more", "permissionMode": "All", "resource": resource},
            ),
            (400, 403),
        )


def aged(attacked, token, seconds):
    """Returns the same token with another expiry time, signed with the server's own secret."""
    # The file ends with a checksum.
    secret = (attacked.server.data_dir / "nosql" / "secret").read_bytes()[:32]
    head, content = token.split("sig=", 1)
    data = base64.b64decode(content)[:-32]
    if seconds is not None:
        data = data[:2] + struct.pack(">q", int(time.time()) + seconds) + data[10:]
    mac = hmac.new(secret, b"resource token\0" + data, hashlib.sha256).digest()
    return f"{head}sig={base64.b64encode(data + mac).decode()}"


@pytest.mark.parametrize("seconds", [-1, 0, -3600, -(2**40), -(2**62)])
def test_tokens_that_are_over(attacked, seconds):
    """The tokens are valid except for their age."""
    token = permit(attacked)
    assert aged(attacked, token, None) == token, (
        "tokens are made otherwise: this test has to learn how"
    )
    attacked.accepted(by(aged(attacked, token, 60), "GET", f"{DOCS}/1"), 200)
    attacked.refused(by(aged(attacked, token, seconds), "GET", f"{DOCS}/1"), (401, 403))
    attacked.refused(by(aged(attacked, token, seconds), "DELETE", f"{DOCS}/1"), (401, 403))
