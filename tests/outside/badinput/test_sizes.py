"""Documents and messages of the maximum size, and one byte more."""

import struct

import pytest

from badinput.attacked import refused
from badinput.raw import Raw, document, framed, i32
from badinput.wire import (
    LARGEST_DOCUMENT,
    LARGEST_MESSAGE,
    OP_MSG,
    command,
    frame,
    msg,
    section,
    sequence,
)

TOO_LARGE = 10334
LONG = 20


def sized(size, id_=1):
    """Returns a document of exactly this many bytes."""
    spare = size - len(document([("_id", id_), ("x", "")]))
    return document([("_id", id_), ("x", Raw(2, i32(spare + 1) + b"x" * spare + b"\0"))])


@pytest.fixture(autouse=True)
def empty(attacked):
    yield
    attacked.witness.run(("delete", "sizes"), deletes=[{"q": {}, "limit": 0}], within=LONG)


@pytest.mark.parametrize("over", [0, 1, 2, 16 * 1024, 1 << 20])
@pytest.mark.parametrize("form", ["array", "sequence"])
def test_documents(wire, attacked, form, over):
    data = sized(LARGEST_DOCUMENT + over)
    assert len(data) == LARGEST_DOCUMENT + over
    inner = Raw(3, data)
    message = (
        msg(command(("insert", "sizes"), ("documents", [inner])))
        if form == "array"
        else msg(command(("insert", "sizes")), sequence("documents", [data]))
    )
    with attacked.undisturbed():
        reply = wire.ask(message, within=LONG)
    if not over:
        assert reply["n"] == 1, reply
        return
    if reply["ok"] == 1:
        assert (reply["n"], [it["code"] for it in reply["writeErrors"]]) == (0, [TOO_LARGE])
    else:
        refused(reply, TOO_LARGE)
    assert wire.run(("count", "sizes"))["n"] == 0


def test_a_document_that_gets_its_id_here(wire):
    """The id that the server adds does not count towards the size limit."""
    spare = LARGEST_DOCUMENT - len(document([("x", "")]))
    data = document([("x", Raw(2, i32(spare + 1) + b"x" * spare + b"\0"))])
    reply = wire.ask(msg(command(("insert", "sizes")), sequence("documents", [data])), within=LONG)
    assert reply["n"] == 1 or reply["writeErrors"][0]["code"] == TOO_LARGE


@pytest.mark.parametrize(
    "update",
    [
        {"$set": {"y": "y" * 2000}},
        {"$push": {"y": "y" * 2000}},
        {"$rename": {"x": "x" * 2000}},
        [{"$set": {"y": {"$concat": ["y" * 2000]}}}],
    ],
)
def test_updates_past_the_limit(wire, update):
    wire.ask(
        msg(command(("insert", "sizes")), sequence("documents", [sized(LARGEST_DOCUMENT - 1000)])),
        within=LONG,
    )
    reply = wire.run(("update", "sizes"), updates=[{"q": {"_id": 1}, "u": update}], within=LONG)
    codes = {reply.get("code"), *(it["code"] for it in reply.get("writeErrors", []))}
    assert codes & {TOO_LARGE, 17419, 17420}, reply
    found = wire.run(
        ("aggregate", "sizes"),
        pipeline=[{"$project": {"n": {"$bsonSize": "$$ROOT"}}}],
        cursor={},
        within=LONG,
    )
    assert found["cursor"]["firstBatch"] == [{"_id": 1, "n": LARGEST_DOCUMENT - 1000}]


@pytest.mark.parametrize("over", [-1, 0])
def test_the_largest_messages(wire, attacked, over):
    """A message may have 48,000,000 bytes; three large documents and one that fills it."""
    large = [sized(15 << 20, i) for i in range(3)]
    head = msg(command(("insert", "sizes")), sequence("documents", large))
    last = sized(LARGEST_MESSAGE + over - len(head), 3)
    message = msg(command(("insert", "sizes")), sequence("documents", [*large, last]))
    assert len(message) == LARGEST_MESSAGE + over
    with attacked.undisturbed():
        reply = wire.ask(message, within=LONG)
    assert (reply["ok"], reply["n"]) == (1, 4), reply


@pytest.mark.parametrize("over", [1, 2, 1 << 20])
def test_messages_past_the_limit(wire, over):
    wire.send(struct.pack("<iiii", LARGEST_MESSAGE + over, 1, 0, OP_MSG))
    assert wire.frame() is None
    wire.send(bytes(1 << 20))


def test_claims_cost_nothing(attacked):
    """500 headers that announce 48 MB each allocate no memory for data that has not arrived."""
    before = attacked.server.rss()
    wires = [attacked.wire() for _ in range(500)]
    for wire in wires:
        wire.send(struct.pack("<iiii", LARGEST_MESSAGE, 1, 0, OP_MSG) + b"\0\0\0\0")
    attacked.health()
    grown = attacked.server.rss() - before
    assert grown < 500 * (128 << 10), f"{grown >> 10} KiB for 500 claims"
    for wire in wires:
        wire.close()


def test_bodies_as_large_as_a_message(wire):
    """A body may be a document of the maximum size plus some space for the command around it."""
    big = framed(b"\x02x\0" + i32(40_000_001) + b"x" * 40_000_000 + b"\0")
    for data in (
        frame(OP_MSG, b"\0\0\0\0" + section([("ping", 1), ("comment", Raw(3, big)), ("$db", "t")])),
        msg(command(("insert", "sizes")), sequence("documents", [big])),
    ):
        wire.send(data)
        reply = wire.reply(within=5)
        if reply is None:
            return
        assert reply["ok"] == 0 and reply["code"] in (TOO_LARGE, 22), str(reply)[:300]


def test_replies_at_their_largest(wire, attacked):
    """16 MB documents are returned one per batch; one that is too large for a reply is an error,
    not a crash."""
    for i in range(3):
        wire.ask(
            msg(command(("insert", "sizes")), sequence("documents", [sized(LARGEST_DOCUMENT, i)])),
            within=LONG,
        )
    seen, got = 0, wire.run(("find", "sizes"), within=LONG)["cursor"]
    batch = got["firstBatch"]
    while True:
        seen += len(batch)
        if not got["id"]:
            break
        got = wire.run(("getMore", got["id"]), collection="sizes", within=LONG)["cursor"]
        batch = got["nextBatch"]
    assert seen == 3
    for body in (
        [
            ("aggregate", "sizes"),
            ("pipeline", [{"$group": {"_id": None, "x": {"$push": "$x"}}}]),
            ("cursor", {}),
        ],
        [("distinct", "sizes"), ("key", "x")],
    ):
        reply = wire.run(*body, within=LONG)
        assert reply["ok"] == 1 or reply["code"] in (TOO_LARGE, 146, 17217), str(reply)[:300]
    wire.run(("delete", "sizes"), deletes=[{"q": {}, "limit": 0}], within=LONG)
