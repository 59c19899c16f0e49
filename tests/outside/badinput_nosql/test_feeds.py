"""Feeds and queries: session tokens, sizes of pages, continuations, ranges of keys, and changes."""

import base64

import pytest
from lib.texts import SESSION

from badinput_nosql.wire import A, query, request

DOCS = "/dbs/room/colls/c/docs"

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
def test_damaged_session_tokens(house, token):
    headers = {"x-ms-session-token": token}
    statuses = (400,)
    house.survived(request("GET", f"{DOCS}/1", None, {**A, **headers}), *statuses)
    house.survived(query("SELECT * FROM c", headers=headers), *statuses)


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
def test_session_tokens_from_the_future(house, ask, token):
    headers = {"x-ms-session-token": token}
    data = {
        "read": request("GET", f"{DOCS}/1", None, {**A, **headers}),
        "feed": request("GET", DOCS, None, headers),
        "query": query("SELECT * FROM c", headers=headers),
        "changes": request("GET", DOCS, None, {"a-im": "Incremental Feed", **headers}),
    }[ask]
    house.refused(data, 404, 1002, SESSION)


FEEDS = {
    "feed": lambda h: request("GET", DOCS, None, h),
    "query": lambda h: query("SELECT * FROM c", headers=h),
    "databases": lambda h: request("GET", "/dbs", None, h),
    "containers": lambda h: request("GET", "/dbs/room/colls", None, h),
    "changes": lambda h: request("GET", DOCS, None, {"a-im": "Incremental Feed", **h}),
    "users": lambda h: request("GET", "/dbs/room/users", None, h),
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
def test_page_sizes(house, feed, count):
    house.refused(FEEDS[feed]({"x-ms-max-item-count": count}), 400)


@pytest.mark.parametrize("count", ["-1", "1", "1000", "2147483647", " 5 "])
@pytest.mark.parametrize("feed", FEEDS)
def test_page_sizes_that_are_right(house, feed, count):
    house.accepted(FEEDS[feed]({"x-ms-max-item-count": count}), 200)


PAGED = {"x-ms-max-item-count": "1"}


def token_of(house, data):
    token = house.accepted(data, 200).headers.get("x-ms-continuation")
    assert token, "a page of one item has no continuation"
    return token


def changed(token):
    """The token with each of its characters another one, and cut at each."""
    for at, character in enumerate(token):
        other = "A" if character != "A" else "B"
        yield token[:at] + other + token[at + 1 :]
    for at in range(1, len(token)):
        yield token[:at]
    yield token + "A"
    yield token * 2


@pytest.mark.parametrize("feed", ["feed", "query", "databases", "containers"])
def test_continuation_tokens_damaged_in_every_byte(house, feed):
    token = token_of(house, FEEDS[feed](PAGED))
    with house.wire() as wire:
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
#: The feed of changes goes on by ETag.
@pytest.mark.parametrize("feed", [feed for feed in FEEDS if feed != "changes"])
def test_continuation_tokens_of_nobody(house, feed, token):
    house.refused(FEEDS[feed]({**PAGED, "x-ms-continuation": token}), 400)


def test_continuation_tokens_of_others(house):
    tokens = {
        "feed": token_of(house, FEEDS["feed"](PAGED)),
        "query": token_of(house, FEEDS["query"](PAGED)),
        "databases": token_of(house, FEEDS["databases"](PAGED)),
        "containers": token_of(house, FEEDS["containers"](PAGED)),
        "filter": token_of(house, query("SELECT * FROM c WHERE c.n > 0", headers=PAGED)),
        "parameter": token_of(
            house,
            query("SELECT * FROM c WHERE c.n > @n", [{"name": "@n", "value": 0}], headers=PAGED),
        ),
        "container": token_of(
            house, query("SELECT * FROM c", path="/dbs/room/colls/off/docs", headers=PAGED)
        ),
        "other feed": token_of(house, request("GET", "/dbs/room/colls/off/docs", None, PAGED)),
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
        "container": lambda h: query("SELECT * FROM c", path="/dbs/room/colls/off/docs", headers=h),
        "other feed": lambda h: request("GET", "/dbs/room/colls/off/docs", None, h),
    }
    for mine, ask in asked.items():
        for yours, token in tokens.items():
            data = ask({**PAGED, "x-ms-continuation": token})
            if mine == yours:
                house.accepted(data, 200)
            else:
                house.refused(data, 400)
    other = query(
        "SELECT * FROM c WHERE c.n > @n",
        [{"name": "@n", "value": 1}],
        headers={**PAGED, "x-ms-continuation": tokens["parameter"]},
    )
    house.refused(other, 400)


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
def test_damaged_ranges_of_keys(house, ask, start, end):
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
    house.refused(data, 400)


@pytest.mark.parametrize(
    ("start", "end"),
    [("FF", ""), (EPK, "05"), (EPK, EPK), ("FE", "0" * 9000)],
    ids=lambda it: it[:12],
)
def test_ranges_of_keys_that_hold_nothing(house, start, end):
    headers = {
        "x-ms-read-key-type": "EffectivePartitionKeyRange",
        "x-ms-start-epk": start,
        "x-ms-end-epk": end,
    }
    reply = house.survived(query("SELECT * FROM c", headers=headers), 200, 400)
    assert reply.status == 400 or reply.json["Documents"] == [], reply
    house.survived(request("GET", DOCS, None, {"a-im": "Incremental Feed", **headers}), 304, 400)


@pytest.mark.parametrize("ends", [{"x-ms-start-epk": EPK}, {"x-ms-end-epk": EPK}])
def test_half_a_range_of_keys(house, ends):
    headers = {"x-ms-read-key-type": "EffectivePartitionKeyRange", **ends}
    reply = house.survived(
        request("GET", DOCS, None, {"a-im": "Incremental Feed", **headers}), 200, 400
    )
    assert reply.status == 400 or reply.json["_count"] <= 3


@pytest.mark.parametrize("id_", ["1", "-1", "x", "00", "9" * 40, "0x0", "{}", "*", "0 0"])
@pytest.mark.parametrize("ask", ["query", "changes", "feed"])
def test_ranges_that_are_not_there(house, ask, id_):
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
    house.refused(data, (400, 404, 410), (0, 1002))


@pytest.mark.parametrize(
    "since", ["x", "", "0", "Sat, 32 Nov 2026 10:00:00 GMT", "y" * 9000, "2026-11-21"]
)
def test_changes_since_no_time(house, since):
    headers = {
        "a-im": "Incremental Feed",
        "if-modified-since": since,
        "x-ms-documentdb-partitionkeyrangeid": "0",
    }
    house.survived(request("GET", DOCS, None, headers), *((200, 400) if not since else (400,)))


@pytest.mark.parametrize(
    "etag", ["x", '"x"', '"-1"', '"1e3"', '"' + "9" * 40 + '"', "{}", "y" * 9000, '"5"x', '"a","b"']
)
@pytest.mark.parametrize("mode", ["Incremental Feed", "Full-Fidelity Feed"])
def test_changes_after_no_etag(house, mode, etag):
    headers = {
        "a-im": mode,
        "if-none-match": etag,
        "x-ms-documentdb-partitionkeyrangeid": "0",
        "x-ms-cosmos-changefeed-wire-format-version": "2021-09-15",
    }
    house.refused(request("GET", DOCS, None, headers), 400)


@pytest.mark.parametrize(
    "mode", ["x", "", "Incremental", "Full-Fidelity", "Incremental Feed, Full-Fidelity Feed", "{}"]
)
def test_feeds_of_no_known_kind(house, mode):
    house.survived(
        request("GET", DOCS, None, {"a-im": mode}), *((200, 400) if not mode else (400,))
    )


def test_deleted_versions_where_they_are_not_kept(house):
    headers = {
        "a-im": "Full-Fidelity Feed",
        "x-ms-cosmos-changefeed-wire-format-version": "2021-09-15",
        "if-none-match": "*",
        "x-ms-documentdb-partitionkeyrangeid": "0",
    }
    text = (
        "Change Feed 'All Versions and Deletes' mode must be enabled. Refer to "
        "https://aka.ms/ChangeFeed-AllVersionsAndDeletes for Preview program."
    )
    house.refused(request("GET", DOCS, None, headers), 400, text=text)
