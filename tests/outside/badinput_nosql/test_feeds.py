"""Feeds and queries: session tokens, page sizes, continuations, key ranges, and change feeds."""

import base64

import pytest
from lib.texts import SESSION

from badinput_nosql.wire import A, query, request

DOCS = "/dbs/data/colls/c/docs"

SESSIONS = [
    "x",
    "0:",
    ":",
    ":5",
    "0:x",
    "0:-1#",
    "0:-1#x",
    "0:-1#5#",
    "0:-1#5#1",
    "0:-1#5#1=",
    "0:-1#5#=2",
    "0:-1#5#1=x",
    "0:#5",
    "x:-1#5",
    "-1:-1#5",
    "0:-1#99999999999999999999999",
    "0:5,x",
    ",",
    ",,,",
    "0:-1#5,",
    "0;5",
    "{}",
    "[]",
    "null",
    "0:0x10",
    "0:1e3",
    "0: 5 5",
    "0:-1#5#1=2#",
    "\x01",
    "é:1",
    "0:-1#5;0:-1#6",
    "0" * 5000 + "x",
    "0:-1#" + "9" * 5000,
    "0:1," * 2000,
]


@pytest.mark.parametrize("token", SESSIONS, ids=lambda it: repr(it[:20]))
def test_damaged_session_tokens(attacked, token):
    headers = {"x-ms-session-token": token}
    statuses = (400,)
    attacked.survived(request("GET", f"{DOCS}/1", None, {**A, **headers}), *statuses)
    attacked.survived(query("SELECT * FROM c", headers=headers), *statuses)


@pytest.mark.parametrize("ask", ["read", "feed", "query", "changes"])
@pytest.mark.parametrize(
    "token",
    [
        "0:-1#4000000000",
        "0:4000000000",
        "0:-1#4000000000#1=4000000000",
        "0:-1#1,0:-1#4000000000",
        "0:-1#9223372036854775807",
    ],
)
def test_session_tokens_from_the_future(attacked, ask, token):
    headers = {"x-ms-session-token": token}
    data = {
        "read": request("GET", f"{DOCS}/1", None, {**A, **headers}),
        "feed": request("GET", DOCS, None, headers),
        "query": query("SELECT * FROM c", headers=headers),
        "changes": request("GET", DOCS, None, {"a-im": "Incremental Feed", **headers}),
    }[ask]
    attacked.refused(data, 404, 1002, SESSION)


FEEDS = {
    "feed": lambda h: request("GET", DOCS, None, h),
    "query": lambda h: query("SELECT * FROM c", headers=h),
    "databases": lambda h: request("GET", "/dbs", None, h),
    "containers": lambda h: request("GET", "/dbs/data/colls", None, h),
    "changes": lambda h: request("GET", DOCS, None, {"a-im": "Incremental Feed", **h}),
    "users": lambda h: request("GET", "/dbs/data/users", None, h),
    "offers": lambda h: request("GET", "/offers", None, h),
}
COUNTS = [
    "0",
    "-2",
    "-100",
    "x",
    "",
    "1.5",
    "1e2",
    "0x10",
    "1,2",
    "[1]",
    "true",
    "9" * 30,
    "-" + "9" * 30,
    "NaN",
    "1 2",
]


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("feed", FEEDS)
def test_page_sizes(attacked, feed, count):
    attacked.refused(FEEDS[feed]({"x-ms-max-item-count": count}), 400)


@pytest.mark.parametrize("count", ["-1", "1", "1000", "2147483647", " 5 "])
@pytest.mark.parametrize("feed", FEEDS)
def test_page_sizes_that_are_right(attacked, feed, count):
    attacked.accepted(FEEDS[feed]({"x-ms-max-item-count": count}), 200)


PAGED = {"x-ms-max-item-count": "1"}


def token_of(attacked, data):
    token = attacked.accepted(data, 200).headers.get("x-ms-continuation")
    assert token, "a page of one item has no continuation"
    return token


def changed(token):
    """Yields the token with each character changed, and truncated at each."""
    for at, character in enumerate(token):
        other = "A" if character != "A" else "B"
        yield token[:at] + other + token[at + 1 :]
    for at in range(1, len(token)):
        yield token[:at]
    yield token + "A"
    yield token * 2


@pytest.mark.parametrize("feed", ["feed", "query", "databases", "containers"])
def test_continuation_tokens_damaged_in_every_byte(attacked, feed):
    token = token_of(attacked, FEEDS[feed](PAGED))
    with attacked.wire() as wire:
        for other in changed(token):
            reply = wire.ask(FEEDS[feed]({**PAGED, "x-ms-continuation": other}))
            assert reply is not None and reply.status == 400, f"{other}: {reply}"
            reply.errors()


@pytest.mark.parametrize(
    "token",
    [
        "x",
        "0",
        "{}",
        '{"a":1}',
        "[]",
        "null",
        "%00",
        "+RID:~x#RT:1#TRC:1",
        "-1",
        "AAAA",
        "A" * 1000,
        "A" * 50_000,
        base64.b64encode(b"\x01" + b"\0" * 32).decode(),
        base64.b64encode(bytes(range(256))).decode(),
        "é",
        "a b",
        "=",
    ],
    ids=lambda it: it[:20],
)
#: The change feed continues by ETag.
@pytest.mark.parametrize("feed", [feed for feed in FEEDS if feed != "changes"])
def test_continuation_tokens_of_nobody(attacked, feed, token):
    attacked.refused(FEEDS[feed]({**PAGED, "x-ms-continuation": token}), 400)


def test_continuation_tokens_of_others(attacked):
    tokens = {
        "feed": token_of(attacked, FEEDS["feed"](PAGED)),
        "query": token_of(attacked, FEEDS["query"](PAGED)),
        "databases": token_of(attacked, FEEDS["databases"](PAGED)),
        "containers": token_of(attacked, FEEDS["containers"](PAGED)),
        "filter": token_of(attacked, query("SELECT * FROM c WHERE c.n > 0", headers=PAGED)),
        "parameter": token_of(
            attacked,
            query("SELECT * FROM c WHERE c.n > @n", [{"name": "@n", "value": 0}], headers=PAGED),
        ),
        "container": token_of(
            attacked, query("SELECT * FROM c", path="/dbs/data/colls/off/docs", headers=PAGED)
        ),
        "other feed": token_of(attacked, request("GET", "/dbs/data/colls/off/docs", None, PAGED)),
    }
    asked = {
        "feed": lambda h: request("GET", DOCS, None, h),
        "query": lambda h: query("SELECT * FROM c", headers=h),
        "databases": FEEDS["databases"],
        "containers": FEEDS["containers"],
        "filter": lambda h: query("SELECT * FROM c WHERE c.n > 0", headers=h),
        "parameter": lambda h: query(
            "SELECT * FROM c WHERE c.n > @n", [{"name": "@n", "value": 0}], headers=h
        ),
        "container": lambda h: query("SELECT * FROM c", path="/dbs/data/colls/off/docs", headers=h),
        "other feed": lambda h: request("GET", "/dbs/data/colls/off/docs", None, h),
    }
    for mine, ask in asked.items():
        for yours, token in tokens.items():
            data = ask({**PAGED, "x-ms-continuation": token})
            if mine == yours:
                attacked.accepted(data, 200)
            else:
                attacked.refused(data, 400)
    other = query(
        "SELECT * FROM c WHERE c.n > @n",
        [{"name": "@n", "value": 1}],
        headers={**PAGED, "x-ms-continuation": tokens["parameter"]},
    )
    attacked.refused(other, 400)


EPK = "3A5381E1114EB8D3FCC90795045B49B7"
RANGES = [
    ("x", "y"),
    ("G0", "FF"),
    ("0", "FF"),
    ("", "F"),
    (EPK, "zz"),
    ("é", "FF"),
    (EPK[:-1], EPK),
    ("-1", "FF"),
    ("0x00", "FF"),
    ("[]", "{}"),
    ("..", "FF"),
]


@pytest.mark.parametrize(("start", "end"), RANGES, ids=lambda it: it[:12])
@pytest.mark.parametrize("ask", ["query", "changes"])
def test_damaged_ranges_of_keys(attacked, ask, start, end):
    headers = {
        "x-ms-read-key-type": "EffectivePartitionKeyRange",
        "x-ms-start-epk": start,
        "x-ms-end-epk": end,
        "x-ms-documentdb-partitionkeyrangeid": "0",
    }
    data = (
        query("SELECT * FROM c", headers=headers)
        if ask == "query"
        else request("GET", DOCS, None, {"a-im": "Incremental Feed", **headers})
    )
    attacked.refused(data, 400)


@pytest.mark.parametrize(
    ("start", "end"),
    [("FF", ""), (EPK, "05"), (EPK, EPK), ("FE", "0" * 9000)],
    ids=lambda it: it[:12],
)
def test_ranges_of_keys_that_hold_nothing(attacked, start, end):
    headers = {
        "x-ms-read-key-type": "EffectivePartitionKeyRange",
        "x-ms-start-epk": start,
        "x-ms-end-epk": end,
    }
    reply = attacked.survived(query("SELECT * FROM c", headers=headers), 200, 400)
    assert reply.status == 400 or reply.json["Documents"] == [], reply
    attacked.survived(request("GET", DOCS, None, {"a-im": "Incremental Feed", **headers}), 304, 400)


@pytest.mark.parametrize("ends", [{"x-ms-start-epk": EPK}, {"x-ms-end-epk": EPK}])
def test_half_a_range_of_keys(attacked, ends):
    headers = {"x-ms-read-key-type": "EffectivePartitionKeyRange", **ends}
    reply = attacked.survived(
        request("GET", DOCS, None, {"a-im": "Incremental Feed", **headers}), 200, 400
    )
    assert reply.status == 400 or reply.json["_count"] <= 3


@pytest.mark.parametrize("id_", ["1", "-1", "x", "00", "9" * 40, "0x0", "{}", "*", "0 0"])
@pytest.mark.parametrize("ask", ["query", "changes", "feed"])
def test_ranges_that_are_not_there(attacked, ask, id_):
    headers = {"x-ms-documentdb-partitionkeyrangeid": id_}
    data = (
        query("SELECT * FROM c", headers=headers)
        if ask == "query"
        else request(
            "GET",
            DOCS,
            None,
            {**({"a-im": "Incremental Feed"} if ask == "changes" else {}), **headers},
        )
    )
    attacked.refused(data, (400, 404, 410), (0, 1002))


@pytest.mark.parametrize(
    "since", ["x", "", "0", "Sat, 32 Nov 2026 10:00:00 GMT", "y" * 9000, "2026-11-21"]
)
def test_changes_since_no_time(attacked, since):
    headers = {
        "a-im": "Incremental Feed",
        "if-modified-since": since,
        "x-ms-documentdb-partitionkeyrangeid": "0",
    }
    attacked.survived(request("GET", DOCS, None, headers), *((200, 400) if not since else (400,)))


@pytest.mark.parametrize(
    "etag", ["x", '"x"', '"-1"', '"1e3"', '"' + "9" * 40 + '"', "{}", "y" * 9000, '"5"x', '"a","b"']
)
@pytest.mark.parametrize("mode", ["Incremental Feed", "Full-Fidelity Feed"])
def test_changes_after_no_etag(attacked, mode, etag):
    headers = {
        "a-im": mode,
        "if-none-match": etag,
        "x-ms-documentdb-partitionkeyrangeid": "0",
        "x-ms-cosmos-changefeed-wire-format-version": "2021-09-15",
    }
    attacked.refused(request("GET", DOCS, None, headers), 400)


@pytest.mark.parametrize(
    "mode", ["x", "", "Incremental", "Full-Fidelity", "Incremental Feed, Full-Fidelity Feed", "{}"]
)
def test_feeds_of_no_known_kind(attacked, mode):
    attacked.survived(
        request("GET", DOCS, None, {"a-im": mode}), *((200, 400) if not mode else (400,))
    )


def test_deleted_versions_where_no_policy_says_so(attacked):
    headers = {
        "a-im": "Full-Fidelity Feed",
        "x-ms-cosmos-changefeed-wire-format-version": "2021-09-15",
        "if-none-match": "*",
        "x-ms-documentdb-partitionkeyrangeid": "0",
    }
    attacked.survived(request("GET", DOCS, None, headers), 304)
    del headers["if-none-match"]
    text = "Start from beginning is not supported with 'All Versions and Deletes' mode."
    attacked.refused(request("GET", DOCS, None, headers), 400, text=text)
