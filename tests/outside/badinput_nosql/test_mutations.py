"""Valid requests with random damage: each gets a reply or a closed connection, none stops the
server, none gets 500."""

import contextlib
import random

import pytest
from lib.seed import SEED, TORTURE
from lib.wire import Silence

from badinput_nosql.attacked import ONE
from badinput_nosql.wire import ALERT, BATCH, TLS, A, query, request

DOCS = "/dbs/data/colls/c/docs"
ROUNDS = 5000 if TORTURE else 100
WORDS = [
    b"\0",
    b"\xff",
    b"\r\n",
    b"\n",
    b" ",
    b":",
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"\\",
    b",",
    b"%",
    b"/",
    b"?",
    b"-1",
    b"99999999999999999999",
    b"1e999",
    b"null",
    b"true",
    b"'",
    b"(",
    b")",
    b"@",
    b"SELECT",
    b"c.",
    b"\xed\xa0\x80",
    b"\\ud800",
    b"transfer-encoding: chunked\r\n",
    b"content-length: 1\r\n",
    b"x" * 5000,
    b"[" * 2000,
]
FEATURES = {
    "x-ms-documentdb-isquery": None,
    "x-ms-cosmos-is-query-plan-request": "True",
    "x-ms-cosmos-query-version": "1.4",
    "x-ms-cosmos-supported-query-features": "OrderBy, Top",
}
LONG = (
    "SELECT DISTINCT TOP 5 c.n AS x, UPPER(c.s) ?? 'y', {a: [1, c.o.p]}, c.n > 1 ? 2 : 3 "
    "FROM c JOIN l IN c.list WHERE (c.n BETWEEN 1 AND @n) AND c.s LIKE '%o%' "
    "AND EXISTS(SELECT VALUE m FROM m IN c.list WHERE m IN (1, 2)) ORDER BY c.n DESC"
)


def requests():
    parameters = [{"name": "@n", "value": 3}]
    return {
        "create": request("POST", DOCS, {"id": "m", "pk": "a", "x": [1, {"y": None}]}, A),
        "upsert": request(
            "POST", DOCS, {"id": "1", "pk": "a"}, {**A, "x-ms-documentdb-is-upsert": "True"}
        ),
        "read": request("GET", f"{DOCS}/1", None, A),
        "replace": request("PUT", f"{DOCS}/1", {"id": "1", "pk": "a", "n": 1}, A),
        "delete": request("DELETE", f"{DOCS}/1", None, A),
        "patch": request(
            "PATCH",
            f"{DOCS}/1",
            {
                "condition": "from c where c.n = 1",
                "operations": [
                    {"op": "move", "from": "/s", "path": "/o/s"},
                    {"op": "incr", "path": "/n", "value": 1},
                ],
            },
            A,
        ),
        "batch": request(
            "POST",
            DOCS,
            [
                {"operationType": "Upsert", "resourceBody": {"id": "m", "pk": "a"}},
                {"operationType": "Read", "id": "1", "ifNoneMatch": '"x"'},
            ],
            BATCH,
        ),
        "query": query(LONG, parameters),
        "plan": query(LONG, parameters, headers=FEATURES),
        "feed": request(
            "GET", DOCS, None, {"x-ms-max-item-count": "1", "x-ms-session-token": "0:-1#1"}
        ),
        "changes": request(
            "GET",
            DOCS,
            None,
            {
                "a-im": "Incremental Feed",
                "if-none-match": '"1"',
                "x-ms-documentdb-partitionkeyrangeid": "0",
            },
        ),
        "container": request(
            "PUT",
            "/dbs/data/colls/c",
            {
                "id": "c",
                "partitionKey": ONE,
                "defaultTtl": -1,
                "indexingPolicy": {
                    "indexingMode": "consistent",
                    "includedPaths": [{"path": "/*"}],
                    "excludedPaths": [],
                },
            },
        ),
        "user": request("PUT", "/dbs/data/users/u", {"id": "u"}),
        "permission": request(
            "POST",
            "/dbs/data/users/u/permissions",
            {"id": "m", "permissionMode": "Read", "resource": "dbs/data/colls/c"},
        ),
        "offers": query(
            "SELECT * FROM root r WHERE r.resource = @n",
            [{"name": "@n", "value": "dbs/x/"}],
            path="/offers",
        ),
        "ranges": request("GET", "/dbs/data/colls/c/pkranges", None, {"a-im": "Incremental Feed"}),
        "account": request("GET", "/"),
        "chunks": request(
            "POST", DOCS, None, {**A, "content-length": None, "transfer-encoding": "chunked"}
        )
        + b'5\r\n{"id"\r\n10\r\n:"m2","pk":"a" }\r\n0\r\n\r\n',
    }


def damaged(data, rng):
    """Returns the request after one to three changes; half of the lengths are corrected."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(data))
        kind = rng.randrange(6)
        if kind == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del data[at : at + rng.choice((1, 2, 10, 100))]
        elif kind == 2:
            data[at:at] = rng.choice(WORDS)
        elif kind == 3:
            end = at + rng.randint(1, 60)
            data[at:at] = data[at:end]
        elif kind == 4:
            data[at : at + 1] = bytes([rng.randrange(256)])
        else:
            del data[max(1, at) :]
        if not data:
            data = bytearray(b"x")
    if rng.random() < 0.5 and b"\r\n\r\n" in data:
        head, body = bytes(data).split(b"\r\n\r\n", 1)
        lines = [
            b"content-length: %d" % len(body) if it.startswith(b"content-length") else it
            for it in head.split(b"\r\n")
        ]
        data = b"\r\n".join(lines) + b"\r\n\r\n" + body
    return bytes(data)


@pytest.mark.parametrize("what", requests())
def test_damage(attacked, what):
    rng = random.Random(f"{SEED} {what}")
    for _ in range(ROUNDS):
        data = damaged(requests()[what], rng)
        with attacked.wire() as wire:
            wire.send(data)
            # The server may have closed the connection already.
            with contextlib.suppress(OSError):
                wire.half_close()
            if data.startswith(TLS):
                assert wire.rest(5)[:1] in (b"", ALERT), f"{data!r}: {wire.read!r}"
                continue
            try:
                reply = wire.reply(5)
            except Silence as silence:
                raise AssertionError(f"{data!r}: {silence}") from None
            while reply is not None:
                assert reply.status < 500 or reply.status in (501, 505), f"{data!r}: {reply}"
                if reply.status >= 400 and not reply.is_bare:
                    reply.errors()
                reply = wire.reply(5)
    attacked.tidy()
