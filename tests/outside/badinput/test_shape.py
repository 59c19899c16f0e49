"""Commands with fields missing, unknown, repeated or empty, and batches of the wrong size."""

import bson
import pytest

from badinput.attacked import ok_or_error, refused
from badinput.fields import COMMANDS
from badinput.raw import Pairs, Raw, element, framed
from badinput.wire import command, msg, sequence

BAD_VALUE, MISSING, UNKNOWN, LENGTH = 2, 40414, 40415, 16
LARGEST_BATCH = 100_000

#: Required fields of commands; with MongoDB's code if it is not the usual one.
REQUIRED = {
    "insert": ["documents"],
    "update": ["updates", "updates.0.q", "updates.0.u"],
    "delete": ["deletes", "deletes.0.q", "deletes.0.limit"],
    "createIndexes": ["indexes", "indexes.0.key", "indexes.0.name"],
    "distinct": ["key"],
    "getMore": ["collection"],
    "killCursors": ["cursors"],
    "aggregate": ["pipeline", "cursor"],
    "renameCollection": ["to"],
    "bulkWrite": [
        "ops",
        "nsInfo",
        "nsInfo.0.ns",
        "ops.0.document",
        "ops.1.filter",
        "ops.1.updateMods",
        "ops.2.filter",
    ],
    "findAndModify": ["update"],
    "dropIndexes": ["index"],
    "configureFailPoint": ["mode"],
    "killOp": ["op"],
    "collMod": ["index.name"],
}


def without(held, path):
    first, *rest = path
    if isinstance(held, list):
        return [without(it, rest) if i == int(first) else it for i, it in enumerate(held)]
    if not rest:
        return {name: value for name, value in held.items() if name != first}
    return {name: without(value, rest) if name == first else value for name, value in held.items()}


def skeleton(name):
    database, fields, _ = COMMANDS[name]
    fields = dict(fields)
    if name == "bulkWrite":
        fields["ordered"] = False
    return {name: fields.pop("@", 1), **fields, "$db": database}


def codes_of(name, reply):
    """Returns the error codes of a reply, including those of its operations."""
    rows = reply["cursor"]["firstBatch"] if name == "bulkWrite" and reply["ok"] else []
    rows = rows + reply.get("writeErrors", [])
    return {ok_or_error(reply), *(row.get("code", 0) for row in rows)} - {0}


@pytest.mark.parametrize(("name", "path"), [(n, p) for n, paths in REQUIRED.items() for p in paths])
def test_missing_fields(wire, name, path):
    body = without(skeleton(name), path.split("."))
    codes = codes_of(name, wire.ask(msg(body)))
    assert codes & {MISSING, 4, 9, 72, 2}, f"{name} without {path}: {codes or 'accepted'}"


NAMES = ("nonsense", "", "$x", "$nonsense", "a.b", "__proto__", "DOCUMENTS")


#: Commands that ignore unknown fields, as in MongoDB.
LAX = {
    "hello",
    "isMaster",
    "ismaster",
    "buildInfo",
    "buildinfo",
    "collStats",
    "collstats",
    "dataSize",
    "dbStats",
    "dbstats",
    "fsync",
    "getDiagnosticData",
    "getParameter",
    "killAllSessions",
    "killAllSessionsByPattern",
    "killOp",
    "killSessions",
    "listCommands",
    "startSession",
    "top",
    "validate",
    "whatsmyuri",
    # Its fields name sections, which may not exist.
    "serverStatus",
}


@pytest.mark.parametrize("name", sorted(LAX & COMMANDS.keys()))
def test_unknown_fields_that_are_ignored(wire, name):
    for field in (*NAMES, name * 2):
        reply = wire.ask(msg({**skeleton(name), field: 1}))
        # 26: the collection to validate does not exist.
        assert reply.get("code") in (None, 26), reply


#: Commands with their own error codes for unknown fields, or that always fail.
OWN_ERRORS = {"currentOp": None, "replSetGetStatus": 76, "setParameter": 72}


@pytest.mark.parametrize("name", [name for name in OWN_ERRORS if OWN_ERRORS[name]])
def test_unknown_fields_with_errors_of_their_own(wire, name):
    for field in (*NAMES, name * 2):
        refused(wire.ask(msg({**skeleton(name), field: 1})), OWN_ERRORS[name])


@pytest.mark.parametrize(
    "name", [name for name in COMMANDS if name not in OWN_ERRORS and name not in LAX]
)
def test_unknown_fields(wire, name):
    for field in (*NAMES, name * 2):
        refused(wire.ask(msg({**skeleton(name), field: 1})), UNKNOWN)


def test_unknown_fields_of_current_op_are_a_filter(wire):
    for field in NAMES:
        reply = wire.ask(msg({**skeleton("currentOp"), field: 1}))
        if field.startswith("$"):
            refused(reply, BAD_VALUE)
        else:
            assert (reply["ok"], reply["inprog"]) == (1, []), field


@pytest.mark.parametrize(
    "place",
    [
        "updates.0",
        "deletes.0",
        "indexes.0",
        "writeConcern",
        "index",
        "ops.0",
        "ops.1",
        "ops.2",
        "nsInfo.0",
        "cursor",
    ],
)
def test_unknown_fields_inside(wire, place):
    names = {
        "updates.0": "update",
        "deletes.0": "delete",
        "indexes.0": "createIndexes",
        "writeConcern": "insert",
        "index": "collMod",
        "cursor": "aggregate",
    }
    name = names.get(place, "bulkWrite")
    body = skeleton(name)
    first, *at = place.split(".")
    inner = body.setdefault(first, {})
    inner = {**(inner[int(at[0])] if at else inner), "nonsense": 1}
    body[first] = (
        [inner if i == int(at[0]) else it for i, it in enumerate(body[first])] if at else inner
    )
    codes = codes_of(name, wire.ask(msg(body)))
    assert codes & {UNKNOWN, 9, 197, 72}, f"{place}: {codes or 'accepted'}"


@pytest.mark.parametrize("name", COMMANDS)
def test_fields_given_twice(wire, name):
    """Either value may count or the command is refused, but the server must not fail."""
    pairs = list(skeleton(name).items())
    for pair in pairs:
        ok_or_error(wire.ask(msg([*pairs, pair])))
        ok_or_error(wire.ask(msg([*pairs, (pair[0], None)])))
        ok_or_error(wire.ask(msg([*pairs, (pair[0], [{"x": 1}])])))
    wire.run(("configureFailPoint", "failCommand"), db="admin", mode="off")


@pytest.mark.parametrize(
    ("name", "field"), [("insert", "documents"), ("update", "updates"), ("delete", "deletes")]
)
def test_arguments_in_body_and_sequence(wire, name, field):
    """A field in both the body and a document sequence is refused; nothing is executed."""
    rows = {
        "documents": [{"_id": "twice"}],
        "updates": [{"q": {}, "u": {"a": 1}, "upsert": True}],
        "deletes": [{"q": {}, "limit": 0}],
    }[field]
    reply = wire.ask(msg(command((name, "twice"), (field, rows)), sequence(field, rows)))
    assert reply is None or reply["ok"] == 0
    assert wire.run(("find", "twice"))["cursor"]["firstBatch"] == []


def test_sequences_of_other_names_and_places(wire):
    for body, name in [
        (command(("ping", 1)), "documents"),
        (command(("find", "c")), "filter"),
        (command(("insert", "c")), "nonsense"),
        (command(("insert", "c")), "insert"),
        (command(("insert", "c")), "$db"),
        (command(("insert", "c")), ""),
        (command(("aggregate", "c"), ("cursor", {})), "pipeline"),
        (command(("createIndexes", "c")), "indexes"),
    ]:
        ok_or_error(wire.ask(msg(body, sequence(name, [{"a": 1}]))))


@pytest.mark.parametrize(
    ("name", "field"),
    [
        ("insert", "documents"),
        ("update", "updates"),
        ("delete", "deletes"),
        ("createIndexes", "indexes"),
    ],
)
def test_empty_arrays(wire, name, field):
    refused(wire.run((name, "empty"), (field, [])), LENGTH, 2)
    if name != "createIndexes":
        refused(wire.ask(msg(command((name, "empty")), sequence(field, []))), LENGTH, 2)


def test_empty_bulk_write(wire):
    for ops, spaces in [([], []), ([], [{"ns": "t.c"}])]:
        refused(wire.run(("bulkWrite", 1), db="admin", ops=ops, nsInfo=spaces), LENGTH, 2)
    reply = wire.run(
        ("bulkWrite", 1), db="admin", ops=[{"insert": 5, "document": {}}], nsInfo=[{"ns": "t.c"}]
    )
    assert codes_of("bulkWrite", reply) & {2}


ROWS = {
    "insert": ("documents", lambda i: Pairs([("_id", i)])),
    "update": ("updates", lambda i: Pairs([("q", {"_id": -1}), ("u", {"a": 1})])),
    "delete": ("deletes", lambda i: Pairs([("q", {"_id": -1}), ("limit", 1)])),
}


@pytest.mark.parametrize("name", ROWS)
def test_batches_of_one_too_many(wire, attacked, name):
    """A batch may have 100,000 operations; one more is refused without effect."""
    field, row = ROWS[name]
    one = b"".join(element(str(i), row(i)) for i in range(LARGEST_BATCH + 1))
    body = msg(command((name, "batch"), (field, Raw(4, framed(one)))))
    with attacked.undisturbed():
        refused(wire.ask(body, within=5), LENGTH)
    assert wire.run(("count", "batch"))["n"] == 0
    rows = [row(i) for i in range(LARGEST_BATCH)]
    message = msg(command((name, "batch")), sequence(field, rows))
    with attacked.undisturbed():
        reply = wire.ask(message, within=30)
    assert reply["ok"] == 1 and "writeErrors" not in reply, str(reply)[:300]
    if name == "insert":
        assert reply["n"] == LARGEST_BATCH == wire.run(("count", "batch"))["n"]
        wire.run(("drop", "batch"))


def test_malformed_statements_change_nothing(wire):
    """A malformed statement fails the command before any other statement runs."""
    wire.run(("insert", "whole"), documents=[{"_id": 1}])
    good = {"q": {"_id": 1}, "u": {"$set": {"x": 1}}}
    for bad in (
        {"q": 5, "u": {"$set": {"x": 1}}},
        {"q": {}, "u": {}, "nonsense": 1},
        {"q": {}},
        {"u": {}},
    ):
        reply = wire.run(("update", "whole"), updates=[good, bad])
        assert reply["ok"] == 0, f"{bad}: {reply}"
        assert wire.run(("find", "whole"))["cursor"]["firstBatch"] == [{"_id": 1}]


def test_sixty_five_indexes(wire):
    wire.run(("insert", "indexed"), documents=[{"_id": 1}])
    indexes = [{"key": {f"f{i}": 1}, "name": f"f{i}"} for i in range(64)]
    refused(wire.run(("createIndexes", "indexed"), indexes=indexes), 67)
    assert len(wire.run(("listIndexes", "indexed"))["cursor"]["firstBatch"]) == 1
    ok_or_error(wire.run(("createIndexes", "indexed"), indexes=indexes[:1] * 1_000))


def test_cursor_ids(wire):
    for number in (0, 1, -1, 2**63 - 1, -(2**63)):
        refused(wire.run(("getMore", bson.Int64(number)), collection="c"), 43, 2)
    many = wire.run(("killCursors", "c"), cursors=[bson.Int64(i) for i in range(100_000)])
    assert len(many["cursorsNotFound"]) == 100_000
    wire.run(("insert", "rows"), documents=[{"_id": i} for i in range(10)])
    opened = wire.run(("find", "rows"), batchSize=2)["cursor"]["id"]
    refused(wire.run(("getMore", opened), collection="other"), 43, 13)
    refused(wire.run(("getMore", opened), collection="rows", db="other"), 43, 13)
    assert len(wire.run(("getMore", opened), collection="rows")["cursor"]["nextBatch"]) == 8
