"""Hostile commands: handshakes (B9), logins (B10), not for clients (B11), hashes (B15)."""

import bson
from access.scram import Exchange
from badinput.raw import Pairs, Raw, element, framed, nested
from badinput.wire import command, msg, op_query

from hostile.entry import DATABASE, KEPT, MARK, Kind, answered, asks, raw, runs, steps, word

CLIENT = {"driver": {"name": "d", "version": "1"}, "os": {"type": "Linux"}}
LONG = bson.Int64(2**63 - 1)
TOPOLOGY = {"processId": bson.ObjectId(b"123456789012"), "counter": bson.Int64(-1)}


def hello(what, flags=0, **fields):
    """A handshake; the connection must still reply to a ping, and not as to a handshake."""

    def run(place):
        body = command(("hello", 1), *fields.items(), db="admin")
        found = answered(place, msg(body, flags=flags))
        if found != "closed":
            pong = place.wire.run(("ping", 1), db="admin")
            assert pong["ok"] == 1 and "maxWireVersion" not in pong, pong
        return found

    return steps(what, run)


def repeated(place):
    """Sends client metadata repeatedly; a connection may send it once."""
    for _ in range(200):
        assert place.wire.run(("hello", 1), db="admin")["ok"] == 1
    place.wire.run(("hello", 1), db="admin", client=CLIENT)
    return word(place.wire.run(("hello", 1), db="admin", client=CLIENT))


B9 = Kind(
    "B9",
    "Handshakes with giant and malformed metadata",
    "CVE-2024-3372, CVE-2024-3374, CVE-2026-13074",
    [
        *(
            hello(f"metadata with {size:,} bytes of nothing", client={**CLIENT, "pad": "x" * size})
            for size in (512, 60_000, 1 << 20, 15 << 20)
        ),
        hello("an application's name of 129 bytes", client={"application": {"name": "a" * 129}}),
        hello("a client in the client, 150 times", client=Pairs([("client", Raw(3, nested(150)))])),
        hello("a client that is a number", client=5),
        hello("a driver that is an array", client={"driver": [1, 2]}),
        hello("an application whose name is a document", client={"application": {"name": {}}}),
        steps("metadata twice, after 200 handshakes", repeated),
        hello("maxAwaitTimeMS of 2^63-1", maxAwaitTimeMS=LONG, topologyVersion=TOPOLOGY),
        hello(
            "maxAwaitTimeMS of 2^63-1, exhaust",
            flags=1 << 16,
            maxAwaitTimeMS=LONG,
            topologyVersion=TOPOLOGY,
        ),
        hello("maxAwaitTimeMS of -1", maxAwaitTimeMS=-1, topologyVersion=TOPOLOGY),
        hello("maxAwaitTimeMS without topologyVersion", maxAwaitTimeMS=600_000),
        hello(
            "a topologyVersion of text",
            topologyVersion={"processId": "x", "counter": MARK},
            maxAwaitTimeMS=1000,
        ),
        hello("a topologyVersion that is an array", topologyVersion=[1, 2], maxAwaitTimeMS=1),
        hello("exhaust of a plain handshake", flags=1 << 16),
        hello("100,000 compressors", compression=["zlib"] * 100_000),
        hello("compressors of every type", compression=["nonsense", 5, None, "", {}]),
        hello("saslSupportedMechs of 100 KB", saslSupportedMechs="x" * 100_000),
        hello("saslSupportedMechs without a dot", saslSupportedMechs="nodot"),
        hello(
            "internalClient with versions out of range",
            internalClient={"minWireVersion": -1, "maxWireVersion": 2**31 - 1},
        ),
        hello("loadBalanced", loadBalanced=True),
        raw(
            "ismaster in OP_QUERY with 50,000 keys of metadata",
            lambda: op_query(
                "admin.$cmd",
                Pairs([("ismaster", 1), ("client", Raw(3, framed(element("k", MARK) * 50_000)))]),
            ),
        ),
        raw(
            "ismaster in OP_QUERY with 5,000 levels of metadata",
            lambda: op_query(
                "admin.$cmd", Pairs([("ismaster", 1), ("client", Raw(3, nested(5000)))])
            ),
        ),
    ],
)


def start(what, db="admin", **fields):
    """The first message of a login."""
    return asks(what, ("saslStart", 1), *fields.items(), db=db)


def first(text):
    return {"mechanism": "SCRAM-SHA-256", "payload": bson.Binary(text)}


def begun(place, user="nobody"):
    exchange = Exchange(user, MARK)
    reply = place.wire.run(
        ("saslStart", 1), db="admin", mechanism="SCRAM-SHA-256", payload=exchange.first()
    )
    return exchange, reply


def going_on(payload, conversation):
    body = ("payload", payload), ("conversationId", conversation)
    return msg(command(("saslContinue", 1), *body, db="admin"))


def goes_on(change):
    """A login whose second message is changed."""

    def run(place):
        exchange, reply = begun(place)
        if reply["ok"] != 1:
            return word(reply)
        payload, conversation = change(exchange, reply)
        return answered(place, going_on(payload, conversation))

    return run


def without_beginning(place):
    return answered(place, going_on(b"x", 1))


def a_thousand(place):
    for _ in range(1000):
        _, reply = begun(place)
    return word(reply)


def twice_over(place):
    """Sends the last message again after it has failed."""
    exchange, reply = begun(place)
    if reply["ok"] != 1:
        return word(reply)
    last = going_on(exchange.final(reply["payload"]), reply["conversationId"])
    answered(place, last)
    return answered(place, last)


def speculative(what, **fields):
    return hello(what, speculativeAuthenticate={"saslStart": 1, "db": "admin", **fields})


B10 = Kind(
    "B10",
    "Logins out of order and out of shape",
    "CVE-2026-9742",
    [
        start("no mechanism", payload=b"x"),
        *(
            start(f"the mechanism {name!r}", mechanism=name, payload=b"x")
            for name in (
                "",
                "NONSENSE",
                "PLAIN",
                "GSSAPI",
                "MONGODB-AWS",
                "MONGODB-OIDC",
                "MONGODB-CR",
                "scram-sha-256",
            )
        ),
        start("a mechanism of 1 MB", mechanism="S" * (1 << 20), payload=b"x"),
        start("a mechanism that is a number", mechanism=5, payload=b"x"),
        start("a mechanism of a NUL", mechanism="SCRAM-SHA-256\0", payload=b"x"),
        start("a payload that is a document", mechanism="SCRAM-SHA-256", payload={"a": MARK}),
        start("no payload", mechanism="SCRAM-SHA-256"),
        *(
            start(f"the first message {text[:24]!r}", **first(text))
            for text in (
                b"",
                b"n",
                b"n,,",
                b"n,,n=a",
                b"n,,r=a",
                b"n,,n=,r=",
                b"y,,n=a,r=" + b"b" * 24,
                b"p=tls-unique,,n=a,r=bbbbbbbbbbbb",
                b"n,a=b,n=a,r=bbbbbbbbbbbb",
                b"n,,m=x,n=a,r=bbbbbbbbbbbb",
                b"n,,n=a=,r=bbbbbbbbbbbb",
                b"n,,n=a=00,r=bbbbbbbbbbbb",
                b"n,,n=\xff,r=bbbbbbbbbbbb",
                b"n,,n=a\0b,r=bbbbbbbbbbbb",
                b",,,,,,,,,,,,",
                b"\0" * 32,
            )
        ),
        start("a first message of 1 MB", **first(b"n,,n=" + b"a" * (1 << 20) + b",r=b")),
        start("a nonce of 1 MB", **first(b"n,,n=a,r=" + b"b" * (1 << 20))),
        start("a login of a user of $external", db="$external", **first(b"n,,n=a,r=bbbbbbbbbbbb")),
        asks("authenticate without a mechanism", ("authenticate", 1), db="$external"),
        asks(
            "authenticate with MONGODB-CR",
            ("authenticate", 1),
            ("mechanism", "MONGODB-CR"),
            ("user", "a"),
            ("nonce", "b"),
            ("key", MARK),
            db="admin",
        ),
        asks(
            "authenticate with MONGODB-X509 and no certificate",
            ("authenticate", 1),
            ("mechanism", "MONGODB-X509"),
            ("user", "CN=root"),
            db="$external",
        ),
        asks(
            "authenticate with a mechanism that is a document",
            ("authenticate", 1),
            ("mechanism", {"a": 1}),
            db="$external",
        ),
        steps("saslContinue of nothing", without_beginning),
        steps("a proof of nothing", goes_on(lambda e, r: (b"", r["conversationId"]))),
        steps(
            "a proof of 1 MB", goes_on(lambda e, r: (b"p=" + b"A" * (1 << 20), r["conversationId"]))
        ),
        steps(
            "the nonce of another login",
            goes_on(lambda e, r: (e.final(r["payload"], nonce="x" * 48), r["conversationId"])),
        ),
        steps(
            "a channel that is not bound",
            goes_on(
                lambda e, r: (e.final(r["payload"], binding="p=tls-unique,,x"), r["conversationId"])
            ),
        ),
        steps(
            "another conversation's number",
            goes_on(lambda e, r: (e.final(r["payload"]), 2**31 - 1)),
        ),
        steps(
            "a number of a conversation that is text",
            goes_on(lambda e, r: (e.final(r["payload"]), MARK)),
        ),
        steps(
            "the right proof of nobody",
            goes_on(lambda e, r: (e.final(r["payload"]), r["conversationId"])),
        ),
        steps("the last message twice", twice_over),
        steps("1,000 logins that are begun", a_thousand),
        speculative(
            "speculativeAuthenticate with an unknown mechanism",
            mechanism="NONSENSE",
            payload=b"\xff" * 10_000,
        ),
        speculative(
            "speculativeAuthenticate of 1 MB",
            mechanism="SCRAM-SHA-256",
            payload=b"n,,n=" + b"a" * (1 << 20),
        ),
        hello("speculativeAuthenticate that is no document", speculativeAuthenticate=5),
        hello(
            "speculativeAuthenticate of another command",
            speculativeAuthenticate={"dropDatabase": 1, "db": DATABASE},
        ),
        asks("logout of nobody", ("logout", 1), db="admin"),
    ],
)
COMMANDS = [
    "_isSelf", "_recvChunkStart", "_shardsvrDropDatabase", "_configsvrCreateDatabase",
    "_getUserCacheGeneration", "_killOperations", "_mergeAuthzCollections", "applyOps", "features",
    "replSetHeartbeat", "replSetStepDown", "moveChunk", "splitVector", "getShardMap", "godinsert",
    "sleep", "_hashBSONElement", "shutdown", "rotateCertificates", "logRotate", "clone", "copydb",
    "captrunc", "emptycapped", "$eval", "__proto__", "", "$", "Find", "find ",
]  # fmt: skip
STAGES = [
    "$_internalApplyOplogUpdate", "$_internalInhibitOptimization", "$_internalUnpackBucket",
    "$_internalSplitPipeline", "$_internalReshardingIterateTransaction", "$mergeCursors", "$queue",
    "$backupCursor", "$operationMetrics", "$setMetadata", "$_unpackBucket", "$nonsense", "$", "",
]  # fmt: skip
EXPRESSIONS = ["$_internalFindAllValuesAtPath", "$_internalFleEq", "$_internalKeyStringValue"]

B11 = Kind(
    "B11",
    "Commands and stages that are not for clients",
    "CVE-2022-24272, CVE-2026-9753, CVE-2021-32036",
    [
        *(
            asks(f"the command {name!r}", (name, 1), ("root", MARK), db="admin")
            for name in COMMANDS
        ),
        *(
            runs(f"the stage {name!r}", [{name: {"oplogNamespace": "shop.kept", "a": MARK}}])
            for name in STAGES
        ),
        *(
            runs(f"the expression {name!r}", [{"$project": {"x": {name: "$a"}}}])
            for name in EXPRESSIONS
        ),
        *(
            asks(
                f"a write of {collection} in {db}",
                ("insert", collection),
                ("documents", [{"_id": "shop.eve", "user": "eve", "db": db, "s": MARK}]),
                db=db,
            )
            for db in ("$external", "admin", "local", "config")
            for collection in ("system.users", "system.roles")
        ),
        asks(
            "a database twice, the user's first",
            ("insert", "made"),
            ("documents", [{"s": MARK}]),
            ("$db", DATABASE),
            db="admin",
        ),
        asks(
            "a database twice, the user's last",
            ("insert", "made"),
            ("documents", [{"s": MARK}]),
            ("$db", "admin"),
        ),
        asks("a collection twice", ("find", KEPT), ("find", "system.users")),
        asks("a read of system.users", ("find", "system.users"), db="admin"),
        asks("an operation log to be read", ("find", "oplog.rs"), db="local"),
        asks(
            "$out to another database",
            ("aggregate", KEPT),
            ("pipeline", [{"$out": {"db": "admin", "coll": "system.users"}}]),
            ("cursor", {}),
        ),
        asks(
            "$lookup into another database",
            ("aggregate", KEPT),
            (
                "pipeline",
                [
                    {
                        "$lookup": {
                            "from": {"db": "admin", "coll": "system.users"},
                            "pipeline": [],
                            "as": "x",
                        }
                    }
                ],
            ),
            ("cursor", {}),
        ),
        asks(
            "currentOp of everybody as a stage",
            ("aggregate", 1),
            ("pipeline", [{"$currentOp": {"allUsers": True}}]),
            ("cursor", {}),
            db="admin",
        ),
        asks(
            "a user who is made with all rights",
            ("createUser", "eve"),
            ("pwd", MARK),
            ("roles", [{"role": "root", "db": "admin"}]),
            ("writeConcern", {"w": -1}),
        ),
    ],
)
B15 = Kind(
    "B15",
    "Hashes over malformed BSON",
    "CVE-2026-6914",
    [
        *(
            asks(f"{name} {what}", (name, value), ("root", MARK), db="admin")
            for name in ("dbHash", "filemd5", "md5", "_hashBSONElement")
            for what, value in {
                "of a document": {"a": 1},
                "of a document that claims 2^31-1 bytes": Raw(3, b"\xff\xff\xff\x7f"),
                "of a string of length 0": Raw(2, bytes(4)),
                "of 500 levels": Raw(3, nested(500)),
            }.items()
        ),
    ],
)
KINDS = [B9, B10, B11, B15]
