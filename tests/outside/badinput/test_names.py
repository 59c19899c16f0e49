"""Names (B7) that refer to other namespaces, and names that end up in the log (B25)."""

import json

import pytest

from badinput.attacked import AttackedServer, ok_or_error, refused
from badinput.raw import Pairs, Raw, text
from badinput.wire import Wire, command, msg

NAMESPACE = 73
DATABASES = {
    "empty": "",
    "dot": "a.b",
    "dollar": "a$b",
    "slash": "a/b",
    "backslash": "a\\b",
    "quote": 'a"b',
    "space": "a b",
    "NUL": "a\0b",
    "NUL first": "\0",
    "64 bytes": "a" * 64,
    "255 bytes": "a" * 255,
    "100,000 bytes": "a" * 100_000,
    "parent": "../..",
    "64 bytes of UTF-8": "é" * 32,
    "collection too": "sentinel.kept",
    "NUL behind another": "sentinel\0x",
}
COLLECTIONS = {
    "empty": "",
    "NUL": "a\0b",
    "NUL last": "kept\0",
    "dot first": ".a",
    "only a dot": ".",
    "dollar": "a$b",
    "dollar first": "$cmd",
    "system": "system.views",
    "too long": "c" * 256,
    "much too long": "c" * 100_000,
    "dots only": "..",
}
#: Every command that creates or changes a collection; the argument is its name.
WRITES = {
    "insert": lambda name: [("insert", name), ("documents", [{"_id": 1}])],
    "upsert": lambda name: [
        ("update", name),
        ("updates", [{"q": {}, "u": {"a": 1}, "upsert": True}]),
    ],
    "findAndModify": lambda name: [
        ("findAndModify", name),
        ("query", {}),
        ("update", {"a": 1}),
        ("upsert", True),
    ],
    "create": lambda name: [("create", name)],
    "createIndexes": lambda name: [
        ("createIndexes", name),
        ("indexes", [{"key": {"a": 1}, "name": "a"}]),
    ],
}
READS = {
    "find": lambda name: [("find", name)],
    "aggregate": lambda name: [("aggregate", name), ("pipeline", []), ("cursor", {})],
    "count": lambda name: [("count", name)],
    "delete": lambda name: [("delete", name), ("deletes", [{"q": {}, "limit": 0}])],
    "drop": lambda name: [("drop", name)],
    "listIndexes": lambda name: [("listIndexes", name)],
}


def namespaces(attacked):
    databases = attacked.witness.run(("listDatabases", 1), db="admin")["databases"]
    return {
        (db["name"], it["name"])
        for db in databases
        for it in attacked.witness.run(("listCollections", 1), db=db["name"])["cursor"][
            "firstBatch"
        ]
    }


@pytest.fixture(autouse=True)
def nothing_is_made(attacked):
    before = namespaces(attacked)
    yield
    assert namespaces(attacked) == before


@pytest.mark.parametrize("name", DATABASES)
def test_databases(wire, name):
    db = DATABASES[name]
    for make in (*WRITES.values(), *READS.values()):
        refused(wire.ask(msg([*make("c"), ("$db", db)])), NAMESPACE)
    for first in ("dropDatabase", "listCollections", "dbStats", "ping"):
        refused(wire.ask(msg([(first, 1), ("$db", db)])), NAMESPACE)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("name", COLLECTIONS)
def test_collections_to_be_made(wire, write, name):
    reply = wire.ask(msg([*WRITES[write](COLLECTIONS[name]), ("$db", "names")]))
    if reply["ok"] == 1 and "writeErrors" in reply:
        assert {error["code"] for error in reply["writeErrors"]} == {NAMESPACE}, reply
    else:
        refused(reply, NAMESPACE)


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("name", COLLECTIONS)
def test_collections_to_be_read(wire, read, name):
    reply = wire.ask(msg([*READS[read](COLLECTIONS[name]), ("$db", "names")]))
    code = ok_or_error(reply)
    if name in ("empty", "NUL", "NUL last", "dot first") and read != "aggregate":
        assert code == NAMESPACE, reply


def test_a_dotted_name_stays_in_its_database(wire, attacked):
    """A bug of a driver: database `a`, collection `b.c` versus database `a.b`, collection `c`."""
    wire.run(("insert", "kept.x"), db="sentinel", documents=[{"_id": 1}])
    assert ("sentinel", "kept.x") in namespaces(attacked)
    refused(wire.run(("find", "x"), db="sentinel.kept"), NAMESPACE)
    wire.run(("drop", "kept.x"), db="sentinel")


@pytest.mark.parametrize(
    "target",
    [
        "",
        "x",
        "x.",
        ".x",
        "a b.c",
        "a$.c",
        "a/b.c",
        'a".c',
        "\0.c",
        "x.a$b",
        "x.system.y",
        "x." + "c" * 300,
        "a" * 64 + ".c",
        "sentinel\0.kept",
        "sentinel.kept\0x",
    ],
)
def test_full_names(wire, target):
    """In renameCollection and bulkWrite the database is part of the name."""
    for body in (
        [("renameCollection", "sentinel.kept"), ("to", target), ("$db", "admin")],
        [("renameCollection", target), ("to", "names.to"), ("$db", "admin")],
        [
            ("bulkWrite", 1),
            ("ops", [{"insert": 0, "document": {}}]),
            ("nsInfo", [{"ns": target}]),
            ("$db", "admin"),
        ],
    ):
        reply = wire.ask(msg(body))
        if reply["ok"] == 1:
            assert reply["nErrors"] == 1 and reply["nInserted"] == 0, reply
        else:
            # 20 is the code of an invalid target.
            refused(reply, NAMESPACE, 26, 20)


@pytest.mark.parametrize("place", ["from", "coll", "graph"])
@pytest.mark.parametrize("name", ["", "a\0b", ".a", "$cmd", 5, {"db": "sentinel", "coll": "kept"}])
def test_names_inside_pipelines(wire, place, name):
    stage = {
        "from": {"$lookup": {"from": name, "localField": "a", "foreignField": "a", "as": "x"}},
        "coll": {"$unionWith": {"coll": name}},
        "graph": {
            "$graphLookup": {
                "from": name,
                "startWith": "$a",
                "connectFromField": "a",
                "connectToField": "a",
                "as": "x",
            }
        },
    }[place]
    ok_or_error(wire.run(("aggregate", "kept"), db="sentinel", pipeline=[stage], cursor={}))


INDEXES = ["", "_id_", "*", "a\0b", "n" * 100_000, "\r\nx"]


@pytest.mark.parametrize("name", INDEXES)
def test_index_names_and_keys(wire, name):
    for key in (
        {"a": 1},
        {"": 1},
        {"a..b": 1},
        {".a": 1},
        {"a.": 1},
        {"$a": 1},
        {"a.$b": 1},
        {"a": 0},
        {"a": "nonsense"},
        {},
        {"$**": 1, "b": 1},
        {"a": float("nan")},
        {"_ts": 1, "b": 1},
        {f"f{i}": 1 for i in range(33)},
        {"k" * 100_000: 1},
    ):
        body = command(
            ("createIndexes", "kept"), ("indexes", [{"key": key, "name": name}]), db="sentinel"
        )
        if ok_or_error(wire.ask(msg(body))) == 0:
            assert name not in ("", "_id_", "*"), f"made {name!r} on {key}"
            wire.run(("dropIndexes", "kept"), db="sentinel", index=name)
    for first in ("dropIndexes", "collMod"):
        body = {
            "dropIndexes": [("dropIndexes", "kept"), ("index", name)],
            "collMod": [("collMod", "kept"), ("index", {"name": name, "hidden": True})],
        }[first]
        if name != "*":
            refused(wire.ask(msg([*body, ("$db", "sentinel")])), 27, 72, 2)


FIELDS = ["", ".", "..", "a.", ".a", "a..b", "$", "$a", "a.$b", "a.$", "$set", "a\0b"]


@pytest.mark.parametrize("name", FIELDS)
def test_field_names_in_updates(wire, name):
    if "\0" in name:
        refused(wire.ask(msg(command(("find", "kept"), ("filter", Pairs([(b"a\0b", 1)]))))), 22)
        return
    for operator in ("$set", "$unset", "$inc", "$push", "$rename", "$min", "$addToSet"):
        body = [("update", "none"), ("updates", [{"q": {}, "u": {operator: {name: "x"}}}])]
        ok_or_error(wire.run(*body, db="sentinel"))
    for where in ("filter", "projection", "sort"):
        ok_or_error(wire.run(("find", "kept"), (where, {name: 1}), db="sentinel"))
    ok_or_error(wire.run(("distinct", "kept"), db="sentinel", key=name))
    for stage in ("$set", "$project", "$group", "$unset", "$unwind", "$sort", "$count"):
        for value in ({name: 1}, name):
            ok_or_error(
                wire.run(("aggregate", "kept"), db="sentinel", pipeline=[{stage: value}], cursor={})
            )


#: Texts that must not appear in a log unescaped: line breaks, terminal sequences, long texts.
NASTY = ["a\r\nERROR forged", "\x1b[31mred\x1b[0m", "\x07", "\u2028x", "\x9b31m", "n" * 1_000_000]
SECRET = "hunter2-in-a-payload"


@pytest.mark.parametrize("form", ["json", "text"])
def test_logs_take_no_orders_and_hold_no_payload(form):
    with AttackedServer("--log-format", form, log_level="trace") as attacked:
        for name in NASTY:
            with Wire(attacked.address) as wire:
                for body in (
                    [("find", name), ("$db", "test")],
                    [("find", "c"), ("$db", name)],
                    [(name, 1), ("$db", "x")],
                    [
                        ("insert", name[:60]),
                        ("documents", [{"_id": name, "secret": SECRET}]),
                        ("$db", "logged"),
                    ],
                    [
                        ("createIndexes", "c"),
                        ("indexes", [{"key": {"a": 1}, "name": name[:900]}]),
                        ("$db", "logged"),
                    ],
                    [
                        ("find", "c"),
                        ("filter", {"password": {"$nonsense": SECRET}}),
                        ("comment", name),
                        ("$db", "t"),
                    ],
                    [
                        ("hello", 1),
                        ("client", {"application": {"name": name[:100]}}),
                        ("$db", "admin"),
                    ],
                ):
                    wire.ask(msg(body))
                wire.send(b"\xff" * 40 + SECRET.encode())
                assert wire.frame() is None
            with Wire(attacked.address) as wire:
                wire.ask(
                    msg(
                        [("find", "c"), ("filter", Pairs([("a", text(SECRET.encode() + b"\xff"))]))]
                    )
                )
                wire.ask(msg([("ping", Raw(0x77, SECRET.encode()))]))
        attacked.health()
        log = attacked.log()
        assert SECRET not in log
        assert all(sign not in log for sign in ("\x1b", "\x07", "\x9b", "\r", "\nERROR forged")), (
            "raw signs"
        )
        lines = log.splitlines()
        assert all(len(line) < 8192 for line in lines), max(map(len, lines))
        if form == "json":
            assert all(isinstance(json.loads(line), dict) for line in log.split("\n") if line)
