"""Hostile requests of the NoSQL API: query texts (B17), JSON (B18), headers (B19), ids and links
(B20)."""

import functools
import json

from badinput_nosql.wire import BATCH, PARTITION_KEY, A
from lib.nosql import PLAN, QUERY
from lib.wire import WITHIN

from hostile.entry import ITEMS, MADE, MARK, Kind, http, page


def asked(what, text, parameters=(), within=WITHIN):
    """An entry of a query."""

    def data(ask):
        body = {"query": text() if callable(text) else text, "parameters": list(parameters)}
        return ask("POST", ITEMS, body, QUERY)

    return http(what, data, within=within)


def where(what, condition, parameters=()):
    return asked(what, f"SELECT * FROM c WHERE {condition}", parameters)


def around(begin, middle, end, levels):
    return "SELECT VALUE " + begin * levels + middle + end * levels + " FROM c"


LIST = "[" + ",".join(map(str, range(2000))) + "]"

B17 = Kind(
    "B17",
    "Query texts",
    "parsers by recursion, joins without bound",
    [
        *(
            asked(
                f"{levels:,} levels of {what}",
                functools.partial(around, begin, middle, end, levels),
            )
            for levels in (300, 100_000)
            for what, begin, middle, end in (
                ("parentheses", "(", "1", ")"),
                ("arrays", "[", "1", "]"),
                ("objects", '{"a":', "1", "}"),
                ("NOT", "NOT ", "true", ""),
                ("signs", "-", "1", ""),
                ("ABS()", "ABS(", "1", ")"),
                ("ARRAY()", "ARRAY(SELECT VALUE ", "1", ")"),
                ("EXISTS()", "EXISTS(SELECT VALUE ", "1", ")"),
                ("subqueries", "(SELECT VALUE ", "1", ")"),
                ("conditions", "true ? ", "1", " : 2"),
            )
        ),
        asked("100,000 steps of a path", lambda: "SELECT c" + ".a" * 100_000 + " FROM c"),
        asked(
            "100,000 branches of OR",
            lambda: "SELECT * FROM c WHERE " + " OR ".join(["c.a=1"] * 100_000),
        ),
        asked("1 MB of text", lambda: "SELECT '" + MARK * 150_000 + "' FROM c"),
        asked("1 MB of blanks", lambda: "SELECT *" + " " * (1 << 20) + "FROM c"),
        asked(
            "100,000 parameters",
            "SELECT @p1 FROM c",
            [{"name": f"@p{i}", "value": i} for i in range(100_000)],
        ),
        asked(
            "a parameter twice",
            "SELECT @p FROM c",
            [{"name": "@p", "value": MARK}, {"name": "@p", "value": 2}],
        ),
        asked("a parameter without its sign", "SELECT @p FROM c", [{"name": "p", "value": MARK}]),
        asked(
            "joins of five arrays of 2,000",
            "SELECT VALUE COUNT(1) FROM c "
            + " ".join(f"JOIN x{i} IN (SELECT VALUE {LIST})" for i in range(5)),
            within=30,
        ),
        asked(
            "1,000 joins",
            "SELECT VALUE 1 FROM c " + " ".join(f"JOIN x{i} IN c.list" for i in range(1000)),
        ),
        asked("ORDER BY of mixed types", "SELECT * FROM c ORDER BY c.nothing, c.n"),
        asked(
            "ORDER BY of 1,000 paths",
            "SELECT * FROM c ORDER BY " + ",".join(f"c.a{i}" for i in range(1000)),
        ),
        *(
            where(f"the number {text[:20]}", f"c.n = {text}")
            for text in (
                "1e400",
                "-0",
                "9007199254740993",
                "1e",
                "1.",
                ".5",
                "0x1F",
                "0x",
                "--1",
                "1" * 100_000,
            )
        ),
        where("a string without end", f"c.s = '{MARK}"),
        where("a name without end", 'c["s'),
        where("a comment without end", "/* c.s"),
        where("a comment of a line that hides a condition", "c.n = 1 -- AND c.pk = 'x'"),
        where("an escape without end", "c.s = '\\"),
        where("an escape of half a character", "c.s = '\\u12'"),
        where("a lone surrogate", "c.s = '\\ud800'"),
        where("NUL in a string", "c.s = 'a\0b'"),
        where("NUL in a name", "c.a\0b = 1"),
        where("a second statement", "1 = 1; DROP TABLE c"),
        where("another language's injection", "c.s = '' OR 1=1 --'"),
        asked("nothing", ""),
        asked("blanks", "   "),
        asked("TOP of 2^63", "SELECT TOP 9223372036854775808 * FROM c"),
        asked("TOP of -1", "SELECT TOP -1 * FROM c"),
        asked("OFFSET of 2^63-1", "SELECT * FROM c OFFSET 9223372036854775807 LIMIT 1"),
        asked("a function that is not there", "SELECT VALUE NOTHING(1) FROM c"),
        asked(
            "a function of 10,000 arguments",
            "SELECT VALUE CONCAT(" + ",".join(["'a'"] * 10_000) + ") FROM c",
        ),
        asked(
            "REPLICATE that grows without bound",
            "SELECT VALUE REPLICATE(REPLICATE(REPLICATE('aaaaaaaaaa', 10000), 10000), 10000)"
            " FROM c",
        ),
        where("RegexMatch of (a+)+$", f"RegexMatch('{'a' * 10_000}!', '(a+)+$')"),
        where("RegexMatch of a{1000} in {1000}", "RegexMatch('a', '(?:a{1000}){1000}')"),
        where("RegexMatch of a back reference", r"RegexMatch('aa', '(a)\\1')"),
        where("LIKE of a thousand %", f"'{'a' * 5000}' LIKE '{'%a' * 1000}%b'"),
        where("LIKE that ends in its escape", "c.s LIKE 'a!' ESCAPE '!'"),
        where(
            "a spatial function of junk",
            "ST_DISTANCE({'type':'Point','coordinates':[1e308,-1e308]},"
            "{'type':'Polygon','coordinates':[[[0]]]}) < 1",
        ),
        http("a body that is no query", lambda ask: ask("POST", ITEMS, [1, 2], QUERY)),
        http("a query that is a number", lambda ask: ask("POST", ITEMS, {"query": 1}, QUERY)),
        http(
            "a plan of a query of 300 levels",
            lambda ask: ask("POST", ITEMS, {"query": around("(", "1", ")", 300)}, PLAN),
        ),
    ],
)


def posted(what, body, headers=A, verb="POST", path=MADE):
    return http(what, lambda ask: ask(verb, path, body() if callable(body) else body, headers))


def deep(begin, end, levels):
    return f'{{"id":"deep","pk":"a","s":"{MARK}","v":' + begin * levels + "1" + end * levels + "}"


B18 = Kind(
    "B18",
    "JSON",
    "CVE-2020-36518 (jackson-databind)",
    [
        *(
            posted(f"{levels:,} levels of {what}", functools.partial(deep, begin, end, levels))
            for levels in (129, 1000, 100_000)
            for what, begin, end in (("arrays", "[", "]"), ("objects", '{"a":', "}"))
        ),
        *(
            posted(f"a document that is {what}", body)
            for what, body in {
                "nothing": b"",
                "null": b"null",
                "an array": b"[]",
                "text": b'"x"',
                "half": b'{"id":"x","pk":"a"',
                "two": b'{"id":"x","pk":"a"}{}',
                "of a byte order mark": b'\xef\xbb\xbf{"id":"x","pk":"a"}',
                "in UTF-16": '{"id":"x","pk":"a"}'.encode("utf-16"),
                "NaN": b'{"id":"x","pk":"a","v":NaN}',
                "Infinity": b'{"id":"x","pk":"a","v":-Infinity}',
                "1e999": b'{"id":"x","pk":"a","v":1e999}',
                "with a comment": b'{"id":"x",/**/"pk":"a"}',
                "with single quotes": b"{'id':'x'}",
                "with a last comma": b'{"id":"x","pk":"a",}',
                "with a control character": b'{"id":"x","pk":"a","v":"\x01"}',
                "with an escape cut short": b'{"id":"x","pk":"a","v":"\\u12"}',
                "binary JSON's mark": b"\x80\x8d\x01x",
            }.items()
        ),
        posted(
            "a number of 1,000,000 digits",
            lambda: b'{"id":"x","pk":"a","v":' + b"9" * 1_000_000 + b"x}",
        ),
        posted("2 MB and one byte", lambda: {"id": "x", "pk": "a", "v": MARK * 300_000}),
        posted("a body of 20 MB", lambda: b'{"v":"' + b"x" * (20 << 20) + b'"'),
        posted("a batch of 101", [{"operationType": "Create"}] * 101, BATCH),
        posted("a batch that is no array", {"a": MARK}, BATCH),
        posted("a batch nested 1,000 deep", "[" * 1000 + "]" * 1000, BATCH),
        posted(
            "a patch of 11 operations",
            {"operations": [{"op": "set", "path": "/x", "value": 1}] * 11},
            {**A, "content-type": "application/json-patch+json"},
            "PATCH",
            f"{ITEMS}/1",
        ),
        posted(
            "a patch of a path of 100,000 steps",
            {"operations": [{"op": "set", "path": "/a" * 100_000, "value": MARK}]},
            {**A, "content-type": "application/json-patch+json"},
            "PATCH",
            f"{ITEMS}/1",
        ),
        posted(
            "a patch of an index of 2^63",
            {"operations": [{"op": "add", "path": "/list/9223372036854775808", "value": 1}]},
            {**A, "content-type": "application/json-patch+json"},
            "PATCH",
            f"{ITEMS}/1",
        ),
    ],
)


def got(what, headers, path=f"{ITEMS}/1", verb="GET", **options):
    return http(what, lambda ask: ask(verb, path, None, {**A, **headers}, **options))


def authorized(what, value):
    """An entry that sends this header instead of the station's signature."""
    return got(what, {"authorization": value})


def paged(what, token):
    return http(
        what,
        lambda ask: ask(
            "POST", ITEMS, {"query": "SELECT * FROM c"}, {**QUERY, "x-ms-continuation": token}
        ),
    )


SIGNED = "type%3Dmaster%26ver%3D1.0%26sig%3D"

B19 = Kind(
    "B19",
    "Headers: signatures, dates, partition keys, counts, continuation tokens",
    "CVE-2026-90799 (CouchDB), CVE-2014-2668",
    [
        *(
            authorized(f"the signature {what}", value)
            for what, value in {
                "of nothing": SIGNED,
                "that is no base64": SIGNED + "%21%21" + MARK,
                "of one byte": SIGNED + "AA%3D%3D",
                "of 31 bytes": SIGNED + "A" * 42,
                "of 60 KB": SIGNED + "A" * 60_000,
                "of another type": "type%3Dnothing%26sig%3Dx",
                "of a version that is not there": "type%3Dmaster%26ver%3D9%26sig%3DAAAA",
                "not escaped": "type=master&ver=1.0&sig=AAAA",
                "escaped twice": "type%253Dmaster",
                "cut within an escape": SIGNED + "%",
                "of NUL": SIGNED + "%00",
                "of a resource token that is none": "type%3Dresource%26ver%3D1%26sig%3DAAAA%3B"
                + MARK,
                "of Entra that is none": "type%3Daad%26ver%3D1.0%26sig%3Da.b.c",
                "Bearer": "Bearer " + MARK,
                "Basic": "Basic cm9vdDpyb290",
                "empty": "",
            }.items()
        ),
        got("two signatures", {}, extra=[("authorization", "type%3Dmaster")]),
        *(
            got(f"the date {what}", {"x-ms-date": value})
            for what, value in {
                "of 1970": "Thu, 01 Jan 1970 00:00:00 GMT",
                "of 9999": "Fri, 31 Dec 9999 23:59:59 GMT",
                "that is no date": MARK,
                "of the year 10^9": "Fri, 31 Dec 1000000000 23:59:59 GMT",
                "of month 13": "Fri, 31 Foo 2026 23:59:59 GMT",
                "empty": "",
            }.items()
        ),
        got("a version that is not there", {"x-ms-version": "1066-10-14"}),
        got("a version of 10 KB", {"x-ms-version": "2" * 10_000}),
        *(
            got(f"the partition key {what}", {PARTITION_KEY: value})
            for what, value in {
                "that is no JSON": "[a",
                "that is no array": '"a"',
                "of nothing": "[]",
                "of two values": '["a","b"]',
                "of an object": '[{"a":1}]',
                "of an array": "[[1]]",
                "of NaN": "[NaN]",
                "of 1e999": "[1e999]",
                "of 3,000 bytes": json.dumps(["a" * 3000]),
                "of 1,000 levels": "[" * 1000 + "]" * 1000,
                "empty": "",
                "of a surrogate": '["\\ud800"]',
                "of 10,000 values": "[" + ",".join(["1"] * 10_000) + "]",
            }.items()
        ),
        got("two partition keys", {}, extra=[(PARTITION_KEY, '["b"]')]),
        *(
            got(f"pages of {count} items", {"x-ms-max-item-count": count}, path=ITEMS)
            for count in ("0", "-2", "2147483648", "99999999999999999999", "1e3", "x", "")
        ),
        *(
            paged(f"the continuation token {what}", token)
            for what, token in {
                "of text": MARK,
                "empty": "",
                "of an object": "{}",
                "of 1,000 levels": "[" * 1000,
                "of zeros": "AAAAAAAAAAAAAAAAAAAAAAAA",
                "of 30 KB": "A" * 30_000,
                "of another API": '{"token":"+RID:~a==#RT:1","range":{"min":"","max":"FF"}}',
                "of a range turned": '{"compositeToken":{"range":{"min":"FF","max":""}}}',
            }.items()
        ),
        *(
            got(f"If-Match {what}", {"if-match": value}, verb="DELETE", path=f"{ITEMS}/none")
            for what, value in {"*": "*", "of 50 KB": "x" * 50_000, "that is half": '"'}.items()
        ),
        *(
            http(
                f"a change feed from {what}",
                lambda ask, v=value: ask(
                    "GET", ITEMS, None, {"a-im": "Incremental Feed", "if-none-match": v}
                ),
            )
            for what, value in {
                "2^64": '"18446744073709551616"',
                "-1": '"-1"',
                "text": MARK,
            }.items()
        ),
        got("a session token of junk", {"x-ms-session-token": "0:-1#9999999999999999999#x"}),
        got(
            "a range of keys turned",
            {
                "x-ms-start-epk": "FF",
                "x-ms-end-epk": "00",
                "x-ms-read-key-type": "EffectivePartitionKeyRange",
            },
            path=ITEMS,
        ),
        got(
            "a partition that is not there",
            {"x-ms-documentdb-partitionkeyrangeid": "-1"},
            path=ITEMS,
        ),
        got("a consistency that is not there", {"x-ms-consistency-level": MARK}),
        got("the verb TRACE", {}, verb="TRACE"),
        got("the verb of lower case", {}, verb="get"),
        got("the verb CONNECT", {}, verb="CONNECT", path="localhost:27017"),
    ],
)


def created(what, id_):
    return posted(f"an id {what}", {"id": id_, "pk": "a", "s": MARK})


def no_file(reply):
    """Checks that the reply is at most a page of the portal, and never a file of the machine."""
    assert b"root:" not in reply.body and b"==" not in reply.body, reply
    assert reply.status != 200 or reply.headers["content-type"].startswith("text/html"), reply


def path(what, tail):
    return http(f"the path {what}", lambda ask: ask("GET", tail, None, A))


B20 = Kind(
    "B20",
    "Ids and paths",
    "CVE-2021-41773 (Apache), directory traversal",
    [
        *(
            created(what, id_)
            for what, id_ in {
                "of a slash": "a/b",
                "of a backslash": "a\\b",
                "of a question mark": "a?b",
                "of a hash": "a#b",
                "of 256 characters": "a" * 256,
                "of 1,024 bytes": "é" * 512,
                "that is empty": "",
                "of a NUL": "a\0b",
                "of CR and LF": "a\r\nx-y: z",
                "with a blank at its end": "a ",
                "that is a number": 5,
                "that is null": None,
                "that is an object": {"a": 1},
            }.items()
        ),
        *(
            path(what, tail)
            for what, tail in {
                "of ..": f"{ITEMS}/../../../dbs",
                "of %2e%2e": f"{ITEMS}/%2e%2e/%2e%2e",
                "of %2f": f"{ITEMS}/a%2fb",
                "of %00": f"{ITEMS}/1%00",
                "of %0d%0a": f"{ITEMS}/1%0d%0ax:%20y",
                "of half an escape": f"{ITEMS}/%4",
                "of no escape": f"{ITEMS}/%zz",
                "of %c0%af": f"{ITEMS}/%c0%af",
                "of 60,000 bytes": f"{ITEMS}/" + "a" * 60_000,
                "of 10,000 parts": "/dbs" + "/a" * 10_000,
                "of empty parts": "//dbs//sentinel//colls",
                "of a whole URL": "http://evil.example/dbs",
                "of *": "*",
                "of a resource id that is junk": "/dbs/AAAAAA==/colls/AAAAAAAAAAA=/docs/////",
                "of a query of 20 KB": f"{ITEMS}/1?" + "a=b&" * 5000,
            }.items()
        ),
        *(
            page(
                f"the portal's path {tail[:40]}",
                b"GET " + tail.encode() + b" HTTP/1.1\r\nhost: localhost\r\n\r\n",
                check=no_file,
            )
            for tail in (
                "/../../../../etc/passwd",
                "/%2e%2e/%2e%2e/etc/passwd",
                "/assets/..%2f..%2fetc",
                "/assets/%00",
                "/assets/..\\..\\etc",
                "//etc/passwd",
                "/assets/" + "a" * 20_000,
                "/_explorer/../../admin.key",
                "/_ebb/databases/..%2f..",
            )
        ),
    ],
)
KINDS = [B17, B18, B19, B20]
