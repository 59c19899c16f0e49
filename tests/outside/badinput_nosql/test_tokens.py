"""Resource tokens: of another resource, forged, of a deleted permission, expired; permissions that
are none."""

import base64
import hashlib
import hmac
import struct
import time
from urllib.parse import quote, unquote

import pytest
from lib.texts import EXISTS

from badinput_nosql.house import ONE
from badinput_nosql.wire import BATCH, BULK, PARTITION_KEY, QUERY, A, request

DOCS = "/dbs/room/colls/c/docs"
PERMISSIONS = "/dbs/room/users/u/permissions"
PLAN = {"x-ms-cosmos-is-query-plan-request": "True", "content-type": "application/json"}
PATCH = {"operations": [{"op": "set", "path": "/lost", "value": 1}]}


def permit(house, mode="All", resource="dbs/room/colls/c", id_="p", headers=None, **more):
    """A new permission's token."""
    house.run("DELETE", f"{PERMISSIONS}/{id_}")
    made = house.run(
        "POST",
        PERMISSIONS,
        {"id": id_, "permissionMode": mode, "resource": resource, **more},
        headers,
    )
    assert made.status == 201, made
    token = made.json["_token"]
    assert token.startswith("type=resource&ver=1"), token
    house.held = house.state()
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
    "delete by key": ("POST", "/dbs/room/colls/c/operations/partitionkeydelete", None, {}),
    "delete by key that asks": (
        "POST",
        "/dbs/room/colls/c/operations/partitionkeydelete",
        None,
        QUERY,
    ),
    "procedure": ("POST", "/dbs/room/colls/c/sprocs", {"id": "new", "body": "x"}, {}),
    "definition": ("PUT", "/dbs/room/colls/c", {"id": "c", "partitionKey": ONE}, {}),
    "delete container": ("DELETE", "/dbs/room/colls/c", None, {}),
}
#: What nobody but the owner may do.
ADMINISTRATION = {
    "database": ("POST", "/dbs", {"id": "new"}, {}),
    "container": ("POST", "/dbs/room/colls", {"id": "new", "partitionKey": ONE}, {}),
    "user": ("POST", "/dbs/room/users", {"id": "new"}, {}),
    "delete database": ("DELETE", "/dbs/room", None, {}),
    "permission": (
        "POST",
        PERMISSIONS,
        {"id": "more", "permissionMode": "All", "resource": "dbs/room"},
        {},
    ),
    "database that plans": ("POST", "/dbs", {"id": "new"}, PLAN),
    "container that plans": ("POST", "/dbs/room/colls", {"id": "new", "partitionKey": ONE}, PLAN),
    "user that plans": ("POST", "/dbs/room/users", {"id": "new"}, PLAN),
    "procedure that plans": ("POST", "/dbs/room/colls/c/sprocs", {"id": "new", "body": "x"}, PLAN),
    "permission that plans": (
        "POST",
        PERMISSIONS,
        {"id": "more", "permissionMode": "All", "resource": "dbs/room"},
        PLAN,
    ),
    "replace that asks": ("PUT", f"{DOCS}/1", {"id": "1", "pk": "a"}, QUERY),
    "delete that asks": ("DELETE", f"{DOCS}/1", None, QUERY),
    "patch that plans": ("PATCH", f"{DOCS}/1", PATCH, PLAN),
    "execute that asks": ("POST", "/dbs/room/colls/c/sprocs/x", [], QUERY),
    "delete user": ("DELETE", "/dbs/room/users/u", None, {}),
    "execute": ("POST", "/dbs/room/colls/c/sprocs/x", [], {}),
}


def odd(what):
    """What takes a write for a question may find that it is a bad one."""
    return {"execute that asks": (400, 403, 501)}.get(what, (400, 403) if "that" in what else 403)


@pytest.mark.parametrize("what", WRITES)
def test_tokens_that_may_only_read(house, what):
    token = permit(house, "Read")
    house.accepted(by(token, "GET", f"{DOCS}/1"), 200)
    house.accepted(by(token, "POST", DOCS, {"query": "SELECT * FROM c"}, QUERY), 200)
    house.refused(by(token, *WRITES[what]), odd(what))


def administration():
    """What a token that reads, and one that may do all in its container, may not."""
    for mode in ("Read", "All"):
        for what, (_, path, _, _) in ADMINISTRATION.items():
            if mode == "Read" or not path.startswith("/dbs/room/colls/c/"):
                yield mode, what


@pytest.mark.parametrize(("mode", "what"), administration())
def test_tokens_are_for_their_resource(house, mode, what):
    verb, path, body, headers = ADMINISTRATION[what]
    token = permit(house, mode)
    house.refused(by(token, verb, path, body, headers), odd(what))


OUTSIDE = [
    "/dbs/room/colls/off/docs/1",
    "/dbs/room/colls/off",
    "/dbs/room/colls/h/docs",
    "/dbs/sentinel/colls/kept/docs/1",
    "/dbs/room",
    "/dbs",
    "/dbs/room/users",
    "/dbs/room/users/u",
    PERMISSIONS,
    f"{PERMISSIONS}/p",
    "/dbs/room/colls",
    "/offers",
    "/dbs/room/colls/c2/docs/1",
    "/dbs/room/colls/C/docs/1",
]


@pytest.mark.parametrize("path", OUTSIDE)
def test_tokens_of_a_container_elsewhere(house, path):
    house.refused(by(permit(house), "GET", path), 403)


def test_tokens_of_an_item(house):
    bare = {"id": "bare", "permissionMode": "All", "resource": "dbs/room/colls/c/docs/1"}
    house.refused(request("POST", PERMISSIONS, bare), 400)
    token = permit(house, "All", "dbs/room/colls/c/docs/1", resourcePartitionKey=["a"])
    house.accepted(by(token, "GET", f"{DOCS}/1"), 200)
    for path in (
        f"{DOCS}/2",
        DOCS,
        f"{DOCS}/11",
        "/dbs/room/colls/off/docs/1",
        "/dbs/room/colls/c",
        f"{DOCS}/1%2F..%2F2",
    ):
        house.refused(by(token, "GET", path), (403, 404) if "%" in path else 403)


@pytest.mark.parametrize("key", ['["b"]', None, "[]", '["a","b"]', "[{}]", "[null]", "x"])
def test_tokens_of_a_partition_key(house, key):
    token = permit(house, "All", resourcePartitionKey=["a"])
    house.accepted(by(token, "GET", f"{DOCS}/1"), 200)
    headers = {PARTITION_KEY: key}
    for data in (
        by(token, "GET", f"{DOCS}/3", None, headers),
        by(token, "DELETE", f"{DOCS}/3", None, headers),
        by(token, "GET", DOCS, None, headers),
        by(token, "POST", DOCS, {"query": "SELECT * FROM c"}, {**QUERY, **headers}),
        by(token, "POST", DOCS, {"id": "new", "pk": "b"}, headers),
        by(token, "GET", DOCS, None, {**headers, "a-im": "Incremental Feed"}),
    ):
        house.refused(data, (400, 403), (0, 1001))


def test_forged_tokens(house):
    """Every byte of a token counts."""
    token = permit(house)
    house.accepted(by(token, "GET", f"{DOCS}/1"), 200)
    head, content = token.split("sig=", 1)
    content, *rest = content.split(";")
    data = base64.b64decode(content)
    for at in range(len(data)):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        other = head + "sig=" + ";".join([base64.b64encode(changed).decode(), *rest])
        with house.wire() as wire:
            reply = wire.ask(by(other, "DELETE", f"{DOCS}/1"))
        assert reply.status in (401, 403), f"byte {at}: {reply}"
    for length in range(0, len(data), 3):
        house.refused(
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
        house.refused(by(other, "DELETE", f"{DOCS}/1"), (401, 403))


def test_tokens_of_deleted_permissions(house):
    token = permit(house)
    house.accepted(by(token, "GET", f"{DOCS}/1"), 200)
    house.remove(f"{PERMISSIONS}/p")
    house.held = house.state()
    house.refused(by(token, "GET", f"{DOCS}/1"), (401, 403))
    house.refused(by(token, "DELETE", f"{DOCS}/1"), (401, 403))


def test_tokens_of_changed_permissions(house):
    """A permission that now only reads gives its old tokens no more."""
    token = permit(house)
    body = {"id": "p", "permissionMode": "Read", "resource": "dbs/room/colls/c"}
    assert house.run("PUT", f"{PERMISSIONS}/p", body).status == 200
    house.held = house.state()
    house.refused(by(token, "DELETE", f"{DOCS}/1"), (401, 403))


def test_tokens_of_a_container_that_was_made_anew(house):
    house.make("/dbs/room/colls", {"id": "new", "partitionKey": ONE})
    token = permit(house, "All", "dbs/room/colls/new")
    house.remove("/dbs/room/colls/new")
    house.make("/dbs/room/colls", {"id": "new", "partitionKey": ONE})
    reply = house.survived_any(by(token, "GET", "/dbs/room/colls/new"))
    house.remove("/dbs/room/colls/new")
    house.held = house.state()
    assert reply.status in (200, 401, 403, 404), reply


@pytest.mark.parametrize(
    "seconds",
    ["0", "-1", "599", "86401", "x", "", "1e3", "3600.5", "9" * 40, "NaN", "0x1000", "[3600]"],
)
def test_lives_of_tokens(house, seconds):
    body = {"id": "new", "permissionMode": "Read", "resource": "dbs/room/colls/c"}
    house.refused(
        request("POST", PERMISSIONS, body, {"x-ms-documentdb-expiry-seconds": seconds}), 400
    )


PERMISSION = {"id": "new", "permissionMode": "Read", "resource": "dbs/room/colls/c"}
BAD = {
    "no id": {"permissionMode": "Read", "resource": "dbs/room/colls/c"},
    "no mode": {"id": "new", "resource": "dbs/room/colls/c"},
    "no resource": {"id": "new", "permissionMode": "Read"},
    "mode": {**PERMISSION, "permissionMode": "Write"},
    "empty mode": {**PERMISSION, "permissionMode": ""},
    "empty resource": {**PERMISSION, "resource": ""},
    "resource of slashes": {**PERMISSION, "resource": "///"},
    "resource of no kind": {**PERMISSION, "resource": "x"},
    "an unknown route": {**PERMISSION, "resource": "dbs/room/x/y"},
    "a deep resource": {**PERMISSION, "resource": "dbs/" * 5000},
    "key of an object": {**PERMISSION, "resourcePartitionKey": [{"a": 1}]},
    "key of arrays": {**PERMISSION, "resourcePartitionKey": [[]]},
    "long key": {**PERMISSION, "resourcePartitionKey": ["x" * 5000]},
    "many keys": {**PERMISSION, "resourcePartitionKey": ["a"] * 100},
}


@pytest.mark.parametrize("what", BAD)
def test_permissions_that_are_none(house, what):
    house.refused(request("POST", PERMISSIONS, BAD[what]), 400)


def test_users_and_permissions_that_are_there_or_not(house):
    permit(house)
    house.refused(request("POST", PERMISSIONS, {**PERMISSION, "id": "p"}), 409, 0, (EXISTS))
    house.refused(request("POST", "/dbs/room/users", {"id": "u"}), 409, 0, EXISTS)
    house.refused(request("POST", "/dbs/room/users/none/permissions", PERMISSION), 404, (0, 1003))
    house.refused(request("GET", "/dbs/room/users/none/permissions"), 404, (0, 1003))
    house.refused(request("PUT", "/dbs/room/users/none", {"id": "none"}), 404, (0, 1003))
    house.refused(
        request("PUT", f"{PERMISSIONS}/none", {**PERMISSION, "id": "none"}), 404, (0, 1003)
    )


def test_tokens_as_they_are_sent(house):
    """Encoded or not, a token is one."""
    token = permit(house)
    for header in (token, quote(token, safe=""), quote(unquote(token), safe="=&")):
        house.accepted(request("GET", f"{DOCS}/1", None, {**A, "authorization": header}), 200)


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
def test_tokens_of_a_partition_key_that_say_two(house, what):
    """The header names the token's key, and the body another."""
    verb, path, body, headers = LIMITED[what]
    token = permit(house, "All", resourcePartitionKey=["a"])
    with house.wire() as wire:
        reply = wire.ask(by(token, verb, path, body, {**headers, **A}))
    assert reply.status in (200, 207, 400, 403, 404), reply
    house.unchanged()


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
def test_tokens_of_a_partition_key_see_no_other(house, ask, headers):
    token = permit(house, "Read", resourcePartitionKey=["a"])
    feed = {
        "changes": {"a-im": "Incremental Feed"},
        "all versions": {"a-im": "Full-Fidelity Feed", "if-none-match": "*"},
    }.get(ask, {})
    if ask == "query":
        data = by(token, "POST", DOCS, {"query": "SELECT * FROM c"}, {**QUERY, **headers, **A})
    else:
        data = by(token, "GET", DOCS, None, {**feed, **headers, **A})
    reply = house.survived(data, 200, 304, 400, 403)
    assert b'"pk":"b"' not in reply.body, reply


def test_reading_tokens_do_not_become_more(house):
    """Who may read a database is not given the tokens of others, which may be for all."""
    permit(house, "All", id_="all")
    token = permit(house, "Read", "dbs/room")
    for verb, path, body, headers in (
        ("GET", PERMISSIONS, None, {}),
        ("GET", f"{PERMISSIONS}/all", None, {}),
        ("POST", PERMISSIONS, {"query": "SELECT * FROM c"}, QUERY),
    ):
        reply = house.survived(by(token, verb, path, body, headers), 200, 403)
        assert b"type=resource" not in reply.body, reply
    house.remove(f"{PERMISSIONS}/all")
    house.held = house.state()


@pytest.mark.parametrize(
    "resource", ["dbs/sentinel", "dbs/sentinel/colls/kept", "dbs/room", "dbs/room/colls/off"]
)
def test_tokens_do_not_make_tokens(house, resource):
    """Who has all rights in a container, or a database, gives none for what is beyond."""
    for own in ("dbs/room/colls/c", "dbs/room"):
        if resource.startswith(own):
            continue
        token = permit(house, "All", own)
        house.refused(
            by(
                token,
                "POST",
                PERMISSIONS,
                {"id": "more", "permissionMode": "All", "resource": resource},
            ),
            (400, 403),
        )


def aged(house, token, seconds):
    """The same token with another end, signed with the server's own secret."""
    # A checksum stands behind it.
    secret = (house.server.data_dir / "nosql" / "secret").read_bytes()[:32]
    head, content = token.split("sig=", 1)
    data = base64.b64decode(content)[:-32]
    if seconds is not None:
        data = data[:2] + struct.pack(">q", int(time.time()) + seconds) + data[10:]
    mac = hmac.new(secret, b"resource token\0" + data, hashlib.sha256).digest()
    return f"{head}sig={base64.b64encode(data + mac).decode()}"


@pytest.mark.parametrize("seconds", [-1, 0, -3600, -(2**40), -(2**62)])
def test_tokens_that_are_over(house, seconds):
    """Nothing is wrong with them but their age."""
    token = permit(house)
    assert aged(house, token, None) == token, (
        "tokens are made otherwise: this test has to learn how"
    )
    house.accepted(by(aged(house, token, 60), "GET", f"{DOCS}/1"), 200)
    house.refused(by(aged(house, token, seconds), "GET", f"{DOCS}/1"), (401, 403))
    house.refused(by(aged(house, token, seconds), "DELETE", f"{DOCS}/1"), (401, 403))
