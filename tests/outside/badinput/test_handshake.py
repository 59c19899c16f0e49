"""hello with metadata and options that no driver sends (B9), and commands that are not for clients
(B11) or that would hash their arguments (B15)."""

import bson
import pytest

from badinput.attacked import ok_or_error, refused
from badinput.raw import Pairs, Raw, element, framed, nested, of_every_type
from badinput.wire import command, msg, op_query

HELLOS = ["hello", "isMaster", "ismaster"]
CLIENT = {"driver": {"name": "d", "version": "1"}, "os": {"type": "Linux"}}


@pytest.mark.parametrize("hello", HELLOS)
def test_metadata_has_512_bytes(attacked, hello):
    def client(size):
        empty = len(bson.encode({**CLIENT, "pad": ""}))
        return {**CLIENT, "pad": "x" * (size - empty)}

    for size, right in [(512, True), (513, False), (100_000, False), (15 << 20, False)]:
        with attacked.wire() as wire:
            reply = wire.run((hello, 1), db="admin", client=client(size))
            if right:
                assert reply["ok"] == 1
            else:
                refused(reply, 2, 186, 187)


def test_metadata_is_given_once(wire):
    assert wire.run(("hello", 1), db="admin", client=CLIENT)["ok"] == 1
    refused(wire.run(("hello", 1), db="admin", client=CLIENT), 186)
    for _ in range(200):
        assert wire.run(("hello", 1), db="admin")["ok"] == 1


@pytest.mark.parametrize(("size", "right"), [(128, True), (129, False), (400, False)])
def test_application_names(wire, size, right):
    reply = wire.run(
        ("hello", 1), db="admin", client={"application": {"name": "a" * size}, **CLIENT}
    )
    assert (ok_or_error(reply) == 0) is right


@pytest.mark.parametrize("kind", of_every_type())
def test_metadata_of_every_type(attacked, kind):
    value = of_every_type()[kind]
    for client in (
        value,
        Pairs([("application", value)]),
        Pairs([("application", Pairs([("name", value)]))]),
        Pairs([("driver", value)]),
        Pairs([("os", Pairs([("type", value)]))]),
        Pairs([("client", value)]),
    ):
        with attacked.wire() as wire:
            ok_or_error(wire.ask(msg(command(("hello", 1), ("client", client), db="admin"))))
            assert wire.run(("ping", 1))["ok"] == 1


@pytest.mark.parametrize(
    "fields",
    [
        {
            "topologyVersion": {"processId": 5, "counter": "x"},
            "maxAwaitTimeMS": bson.Int64(2**63 - 1),
        },
        {"topologyVersion": {}, "maxAwaitTimeMS": -1},
        {"topologyVersion": [1, 2, 3], "maxAwaitTimeMS": float("inf")},
        {
            "topologyVersion": {"processId": bson.ObjectId(), "counter": bson.Int64(-1)},
            "maxAwaitTimeMS": 2**31,
        },
        {"maxAwaitTimeMS": bson.Int64(2**63 - 1)},
        {"maxTimeMS": bson.Int64(2**63 - 1)},
        {
            "topologyVersion": {"processId": bson.ObjectId(), "counter": bson.Int64(0)},
            "maxAwaitTimeMS": 600_000,
        },
        {"compression": ["zlib"] * 100_000},
        {"compression": ["nonsense", 5, None, "", "zlib"]},
        {"saslSupportedMechs": "x" * 100_000},
        {"saslSupportedMechs": "no dot"},
        {"saslSupportedMechs": "$external."},
        {
            "speculativeAuthenticate": {
                "saslStart": 1,
                "mechanism": "NONSENSE",
                "payload": b"\xff" * 10_000,
            }
        },
        {"speculativeAuthenticate": {"authenticate": 1}},
        {"loadBalanced": True},
        {"helloOk": "x"},
        {"internalClient": {"minWireVersion": -1, "maxWireVersion": 2**31 - 1}},
    ],
)
@pytest.mark.parametrize("flags", [0, 1 << 16])
def test_options(wire, fields, flags):
    """No option makes the server wait for hours or stream without end."""
    ok_or_error(wire.ask(msg(command(("hello", 1), *fields.items(), db="admin"), flags=flags)))
    reply = wire.ask(msg([("ping", 1), ("$db", "admin")], request=99))
    assert reply["ok"] == 1
    assert "maxWireVersion" not in reply


def test_hello_in_old_messages(attacked):
    for body in (
        {"hello": 1},
        {"isMaster": 1},
        {"ismaster": 1, "client": CLIENT},
        {"ismaster": {"a": 1}},
    ):
        with attacked.wire() as wire:
            ok_or_error(wire.ask(op_query("admin.$cmd", body)))
    with attacked.wire() as wire:
        big = Pairs([("ismaster", 1), ("client", Raw(3, framed(element("k", "v") * 50_000)))])
        refused(wire.ask(op_query("admin.$cmd", big)), 2, 186, 187)
    with attacked.wire() as wire:
        wire.send(
            op_query("admin.$cmd", Pairs([("ismaster", 1), ("client", Raw(3, nested(5_000)))]))
        )
        wire.frame()


INTERNAL = [
    "_isSelf",
    "_recvChunkStart",
    "_shardsvrDropDatabase",
    "_configsvrCreateDatabase",
    "_mergeAuthzCollections",
    "_addShard",
    "_flushRoutingTableCacheUpdates",
    "_getUserCacheGeneration",
    "_killOperations",
    "applyOps",
    "features",
    "replSetUpdatePosition",
    "replSetHeartbeat",
    "replSetRequestVotes",
    "replSetStepDown",
    "mergeChunks",
    "moveChunk",
    "splitVector",
    "getShardMap",
    "internalRenameIfOptionsAndIndexesMatch",
    "godinsert",
    "sleep",
    "_hashBSONElement",
    "logMessage",
    "refreshLogicalSessionCacheNow",
    "setIndexCommitQuorum",
    "shutdown",
    "rotateCertificates",
    "logRotate",
    "eval",
    "$eval",
    "clone",
    "cloneCollection",
    "copydb",
    "forceerror",
    "resetError",
    "getLastError",
    "getPrevError",
    "group",
    "geoNear",
    "parallelCollectionScan",
    "planCacheSetFilter",
    "oidReset",
    "waitForFailPoint",
    "captrunc",
    "emptycapped",
    "testDeprecation",
    "Find",
    "FIND",
    "find ",
    " find",
    "",
    ".",
    "$",
    "findandModify",
    "__proto__",
    "0",
    "atlasVersion",
]
HASHES = ["dbHash", "dbhash", "filemd5", "md5", "_dbHash"]
NOT_FOUND, UNSUPPORTED = 59, 115


@pytest.mark.parametrize("name", INTERNAL + HASHES)
@pytest.mark.parametrize("db", ["admin", "test", "local", "config", "$external"])
def test_commands_that_are_not_here(wire, name, db):
    """An unknown command gets 59 in every database, with any arguments."""
    for value in (1, "c", {"a": [1, {"b": None}]}):
        refused(wire.run((name, value), ("root", "fs"), db=db), NOT_FOUND, UNSUPPORTED)


@pytest.mark.parametrize("name", HASHES)
def test_hashes_of_malformed_bson(wire, name):
    for bad in (Raw(3, b"\xff\xff\xff\x7f"), Raw(2, b"\0\0\0\0"), Raw(3, nested(500))):
        refused(wire.ask(msg([(name, bad), ("$db", "admin")])), 22, 15)


STAGES = [
    "$_internalApplyOplogUpdate",
    "$_internalInhibitOptimization",
    "$_internalSplitPipeline",
    "$_internalUnpackBucket",
    "$_internalSearchMongotRemote",
    "$_internalReshardingIterateTransaction",
    "$_internalAllCollectionStats",
    "$_internalSetWindowFields",
    "$_internalShardFilter",
    "$_internalConvertBucketIndexStats",
    "$_addReshardingResumeId",
    "$mergeCursors",
    "$queue",
    "$operationMetrics",
    "$backupCursor",
    "$backupCursorExtend",
    "$nonsense",
    "match",
    "$",
    "",
    "$Match",
    "$match ",
    "$setMetadata",
    "$_analyzeShardKeyReadWriteDistribution",
    "$_unpackBucket",
]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("where", ["c", 1])
def test_stages_that_are_not_here(wire, stage, where):
    for value in ({}, {"oplogNamespace": "sentinel.kept", "a": 1}, [], 1):
        refused(
            wire.run(("aggregate", where), db="admin", pipeline=[{stage: value}], cursor={}),
            40324,
            115,
        )


@pytest.mark.parametrize(
    "name",
    [
        "$_internalFindAllValuesAtPath",
        "$_internalFleEq",
        "$_internalKeyStringValue",
        "$_testApiVersion",
    ],
)
def test_expressions_that_are_not_here(wire, name):
    pipeline = [{"$project": {"x": {name: "$a"}}}]
    refused(
        wire.run(("aggregate", "kept"), db="sentinel", pipeline=pipeline, cursor={}),
        168,
        31325,
        40325,
        115,
    )
    refused(wire.run(("find", "kept"), db="sentinel", filter={"a": {name: 1}}), 2, 115)
    refused(
        wire.run(("find", "kept"), db="sentinel", filter={"$expr": {name: 1}}),
        168,
        31325,
        40325,
        115,
    )


@pytest.mark.parametrize("db", ["$external", "local", "config", "admin"])
def test_databases_of_the_system(wire, db):
    """Users and settings cannot be written to the databases that hold them in MongoDB."""
    for name in (
        "system.users",
        "system.roles",
        "system.version",
        "system.js",
        "system.views",
        "$cmd.sys.inprog",
    ):
        body = [("insert", name), ("documents", [{"_id": "x"}])]
        reply = wire.run(*body, db=db)
        if reply["ok"] == 1:
            assert reply["n"] == 0 and reply["writeErrors"], f"{db}.{name} was written"
        else:
            refused(reply, 73, 13)
    ok_or_error(wire.run(("find", "system.users"), db=db))
    ok_or_error(wire.run(("dropDatabase", 1), db=db))


def test_admin_commands_stay_on_admin(wire):
    listed = wire.run(("listCommands", 1), db="admin")["commands"]
    for name in (name for name, about in listed.items() if about["adminOnly"]):
        refused(wire.run((name, 1), db="test"), 13)
