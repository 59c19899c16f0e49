"""Malformed BSON (B4, B5, B6, B8): nested too deeply, inconsistent lengths, invalid text."""

import struct

import bson
import pytest

from badinput.attacked import ok_or_error, refused, well_formed_error
from badinput.raw import Pairs, Raw, document, element, embedded, framed, i32, nested, text
from badinput.wire import OP_MSG, command, frame, msg

OVERFLOW, INVALID = 15, 22


def insert(*pairs, into="bson"):
    return msg(command(("insert", into), ("documents", [Pairs([("_id", "x"), *pairs])])))


def answered(wire, data):
    """Returns the error code, or None if the connection was closed; fails on success."""
    wire.send(data)
    reply = wire.reply()
    if reply is None:
        return None
    if reply["ok"] == 1:
        assert reply["writeErrors"], f"accepted: {reply}"
        return reply["writeErrors"][0]["code"]
    return well_formed_error(reply)


@pytest.fixture(autouse=True)
def nothing_is_stored(attacked):
    yield
    left = attacked.witness.run(("find", "bson"))["cursor"]["firstBatch"]
    assert left == [], f"stored: {str(left)[:300]}"


@pytest.mark.parametrize("kind", ["document", "array", "code with scope"])
@pytest.mark.parametrize("levels", [181, 190, 199, 200, 201, 1_000, 100_000])
def test_stored_documents_nested_too_deep(wire, kind, levels):
    code = answered(wire, insert(("d", Raw(4 if kind == "array" else 3, nested(levels, kind)))))
    assert code == OVERFLOW


@pytest.mark.parametrize("kind", ["document", "array", "code with scope"])
def test_a_hundred_and_eighty_levels_are_stored(wire, kind):
    deep = Raw(4 if kind == "array" else 3, nested(178, kind))
    assert wire.ask(insert(("d", deep), into="deep"))["n"] == 1
    assert len(wire.run(("find", "deep"))["cursor"]["firstBatch"]) == 1
    wire.run(("delete", "deep"), deletes=[{"q": {}, "limit": 0}])


DEEP = {
    "filter": lambda d: [("find", "kept"), ("filter", d)],
    "projection": lambda d: [("find", "kept"), ("projection", d)],
    "sort": lambda d: [("find", "kept"), ("sort", d)],
    "hint": lambda d: [("find", "kept"), ("hint", d)],
    "let": lambda d: [("find", "kept"), ("let", d)],
    "collation": lambda d: [("find", "kept"), ("collation", d)],
    "comment": lambda d: [("find", "none"), ("comment", d)],
    "lsid": lambda d: [("ping", 1), ("lsid", d)],
    "pipeline": lambda d: [("aggregate", "kept"), ("pipeline", [d]), ("cursor", {})],
    "$match": lambda d: [
        ("aggregate", "kept"),
        ("pipeline", [Pairs([("$match", d)])]),
        ("cursor", {}),
    ],
    "$project": lambda d: [
        ("aggregate", "kept"),
        ("pipeline", [Pairs([("$project", Pairs([("x", d)]))])]),
        ("cursor", {}),
    ],
    "update": lambda d: [
        ("update", "kept"),
        ("updates", [Pairs([("q", {"_id": 9}), ("u", Pairs([("$set", d)]))])]),
    ],
    "partial index": lambda d: [
        ("createIndexes", "deepindex"),
        ("indexes", [Pairs([("key", {"a": 1}), ("name", "a"), ("partialFilterExpression", d)])]),
    ],
    "unknown command": lambda d: [("nonsense", d)],
    "explain": lambda d: [("explain", d)],
    "hello": lambda d: [("hello", 1), ("client", d)],
    "array in $in": lambda d: [("find", "kept"), ("filter", Pairs([("a", Pairs([("$in", [d])]))]))],
}


@pytest.mark.parametrize("place", DEEP)
@pytest.mark.parametrize("levels", [90, 150, 190, 197, 250, 50_000])
def test_commands_nested_deep(wire, place, levels):
    reply = wire.ask(msg([*DEEP[place](embedded(nested(levels))), ("$db", "test")]))
    if levels < 200:
        ok_or_error(reply)
    else:
        refused(reply, OVERFLOW)


@pytest.mark.parametrize("operator", ["$and", "$or", "$nor"])
@pytest.mark.parametrize("levels", [40, 90, 99])
def test_filters_nested_deep(wire, operator, levels):
    deep = {"a": 1}
    for _ in range(levels):
        deep = {operator: [deep]}
    ok_or_error(wire.run(("find", "kept"), db="sentinel", filter=deep))


@pytest.mark.parametrize("name", ["$not", "$elemMatch", "$expr", "$cond"])
def test_towers_of_operators(wire, name):
    deep = {"$gt": 1} if name in ("$not", "$elemMatch") else "$a"
    for _ in range(80 if name == "$cond" else 180):
        deep = {name: [deep, 1, 2] if name == "$cond" else deep}
    filter_ = {"a": deep} if name in ("$not", "$elemMatch") else {"$expr": deep}
    ok_or_error(wire.run(("find", "kept"), db="sentinel", filter=filter_))


BINARY = {
    "column with interleaved references": (
        7,
        bytes.fromhex("f0170000000378000c00000001610001000000000000f0000000"),
    ),
    "column of noise": (7, bytes(range(256)) * 10),
    "column, empty": (7, b""),
    "vector, bad padding": (9, b"\x10\x09\xff"),
    "vector, unknown kind": (9, b"\x99\x00abc"),
    "vector, one byte": (9, b"\x03"),
    "vector, not whole floats": (9, b"\x27\x00abc"),
    "encrypted, empty": (6, b""),
    "encrypted, noise": (6, b"\x01" + b"\xff" * 40),
    "uuid of 3 bytes": (4, b"abc"),
    "old uuid of 17 bytes": (3, b"a" * 17),
    "md5, short": (5, b"abc"),
    "sensitive": (8, b"abc"),
    "user's": (0x80, b"abc"),
    "reserved": (0x7F, b"abc"),
    "old, right": (2, i32(3) + b"abc"),
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_is_opaque(wire, name):
    """Binary values are stored and returned unchanged, matched and sorted, never interpreted."""
    subtype, data = BINARY[name]
    value = Raw(5, i32(len(data)) + bytes([subtype]) + data)
    coll = f"binary{subtype}x{len(data)}"
    for places in ([("b", value)], [("b", [value])], [("_id", value)]):
        body = document(Pairs([("_id", 1), *places] if places[0][0] != "_id" else places))
        assert wire.ask(msg(command(("insert", coll), ("documents", [embedded(body)]))))["n"] == 1
        wire.send(msg(command(("find", coll), ("filter", Pairs(places)), ("sort", {"b": 1}))))
        assert body in wire.reply_bytes()
        wire.run(("delete", coll), deletes=[{"q": {}, "limit": 0}])


@pytest.mark.parametrize("inner", [0, 2, 4, -1, 2**31 - 1, -(2**31)])
def test_old_binary_whose_inner_length_lies(wire, inner):
    assert answered(wire, insert(("b", Raw(5, i32(7) + b"\x02" + i32(inner) + b"abc")))) == INVALID


def test_old_binary_too_short_for_its_inner_length(wire):
    for length in range(4):
        code = answered(wire, insert(("b", Raw(5, i32(length) + b"\x02" + b"\0" * length))))
        assert code == INVALID


LENGTHS = [0, 1, 2, 3, 4, -1, -(2**31), 2**31 - 1, 2**31 - 5, 100, 1000]
#: (type code, bytes before the length, bytes after it)
LENGTHED = {
    "string": (2, b"", b"ab\0"),
    "document": (3, b"", b"\0"),
    "array": (4, b"", b"\x100\0\1\0\0\0\0"),
    "binary": (5, b"", b"\0abc"),
    "pointer": (12, b"", b"a\0" + b"i" * 12),
    "code": (13, b"", b"ab\0"),
    "symbol": (14, b"", b"ab\0"),
    "code with scope": (15, b"", b"\2\0\0\0a\0" + b"\5\0\0\0\0"),
    "code of a scope": (15, i32(15), b"a\0" + b"\5\0\0\0\0"),
    "scope": (15, i32(15) + b"\2\0\0\0a\0", b"\0"),
}


@pytest.mark.parametrize("name", LENGTHED)
@pytest.mark.parametrize("length", LENGTHS)
def test_lengths_that_lie(wire, name, length):
    kind, front, behind = LENGTHED[name]
    right = {"string": 3, "array": 12, "binary": 3, "document": 5, "code of a scope": 2, "scope": 5}
    right = right.get(name, {"pointer": 2, "code": 3, "symbol": 3, "code with scope": 15}.get(name))
    if length != right:
        code = answered(wire, insert(("v", Raw(kind, front + i32(length) + behind))))
        assert code in (None, INVALID)


@pytest.mark.parametrize("length", [*LENGTHS, 5])
def test_body_lengths_that_lie(wire, length):
    data = document([("ping", 1), ("$db", "test")])
    answered(wire, frame(OP_MSG, b"\0\0\0\0\0" + i32(length) + data[4:]))


MALFORMED = {
    "string without a NUL": Raw(2, i32(3) + b"abc"),
    "string of no bytes": Raw(2, i32(0) + b"\0"),
    "name without an end": None,
    "missing final NUL": None,
    "unknown type 0x14": Raw(0x14, b"\0\0\0\0"),
    "unknown type 0x80": Raw(0x80, b""),
    "bool of 2": Raw(8, b"\2"),
    "bool of 255": Raw(8, b"\xff"),
    "pattern without an end": Raw(11, b"abc"),
    "options without an end": Raw(11, b"abc\0i"),
    "half a double": Raw(1, b"abcd"),
    "half an id": Raw(7, b"abcdef"),
    "half a decimal": Raw(19, b"12345678"),
    "no value": Raw(16, b""),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_values(wire, name):
    good = element("_id", "x")
    if name == "name without an end":
        inner = i32(len(good) + 9) + good + b"\x10abc" + b"d"
    elif name == "missing final NUL":
        inner = i32(len(good) + 5) + good + b"\1"
    else:
        inner = framed(good + element("v", MALFORMED[name]))
    data = msg(command(("insert", "bson"), ("documents", [embedded(inner)])))
    assert answered(wire, data) in (None, INVALID)


UTF8 = {
    "0xff": b"\xff",
    "lone start": b"a\xc3",
    "lone continuation": b"\x80",
    "overlong /": b"\xc0\xaf",
    "overlong NUL": b"\xc0\x80",
    "surrogate": b"\xed\xa0\x80",
    "pair of surrogates": b"\xed\xa0\xbd\xed\xb8\x80",
    "beyond Unicode": b"\xf4\x90\x80\x80",
    "five bytes": b"\xf8\x88\x80\x80\x80",
}


@pytest.mark.parametrize("name", UTF8)
def test_text_that_is_not_utf8(wire, name):
    """Refused in values, keys, patterns, code and names, with a valid UTF-8 message."""
    bad = UTF8[name]
    for pair in [
        ("v", text(bad)),
        (bad, 1),
        ("v", Raw(11, bad + b"\0\0")),
        ("v", Raw(13, text(bad).bytes)),
        ("v", Raw(14, text(bad).bytes)),
        ("v", Pairs([(bad, 1)])),
        ("v", [text(bad)]),
    ]:
        assert answered(wire, insert(pair)) == INVALID
    for body in (
        command(("find", text(bad))),
        [("find", "c"), ("$db", text(bad))],
        command((bad, 1)),
        command(("find", "c"), ("filter", Pairs([(bad, 1)]))),
        command(("find", "c"), (bad, 1)),
    ):
        refused(wire.ask(msg(body)), INVALID)


def test_nul_inside_text_is_text(wire):
    """A string may contain NUL; a key cannot."""
    assert wire.ask(insert(("v", text(b"a\0b")), into="nul"))["n"] == 1
    found = wire.run(("find", "nul"), filter={"v": "a\0b"})["cursor"]["firstBatch"]
    assert found[0]["v"] == "a\0b"
    assert wire.run(("find", "nul"), filter={"v": "a"})["cursor"]["firstBatch"] == []


def test_a_hundred_thousand_equal_keys(wire, attacked):
    many = Raw(3, framed(element("k", 1) * 100_000))
    for body in [
        command(("insert", "equal"), ("documents", [Pairs([("_id", 1), ("d", many)])])),
        command(("insert", "equal"), ("documents", [Raw(3, framed(element("_id", 1) * 100_000))])),
        command(("find", "kept"), ("filter", many)),
        command(("find", "kept"), ("projection", many)),
        command(("find", "kept"), ("sort", many)),
        command(
            ("update", "equal"),
            ("updates", [Pairs([("q", {"_id": 1}), ("u", Pairs([("$set", many)]))])]),
        ),
        command(("update", "equal"), ("updates", [Pairs([("q", {"_id": 1}), ("u", many)])])),
        command(("createIndexes", "equal"), ("indexes", [Pairs([("key", many), ("name", "k")])])),
        command(("find", "kept"), ("let", many)),
        command(("aggregate", "kept"), ("pipeline", [Pairs([("$project", many)])]), ("cursor", {})),
    ]:
        with attacked.undisturbed():
            ok_or_error(wire.ask(msg(body)))
    ok_or_error(wire.ask(msg([("ping", 1), *[("comment", 1)] * 100_000, ("$db", "test")])))
    ok_or_error(
        wire.ask(msg([("find", "kept"), *[(f"f{i}", 1) for i in range(100_000)], ("$db", "test")]))
    )


@pytest.mark.parametrize(
    "names", [["x"], ["1", "0"], ["0", "0"], ["-1"], ["a" * 100_000], ["0.5"], [""], ["$x"]]
)
def test_arrays_with_odd_names(wire, names):
    """The order of elements counts, their names do not; error messages about them are safe too."""
    odd = Raw(4, document([(name, {"_id": i}) for i, name in enumerate(names)]))
    scalars = Raw(4, document([(name, i) for i, name in enumerate(names)]))
    ok_or_error(wire.ask(msg(command(("insert", "odd"), ("documents", odd)))))
    ok_or_error(wire.ask(insert(("v", scalars), into="odd")))
    for value in (odd, scalars):
        for name in ("$in", "$all", "$eq", "$elemMatch", "$mod", "$bitsAllSet", "$type"):
            ok_or_error(
                wire.ask(
                    msg(
                        command(("find", "odd"), ("filter", Pairs([("v", Pairs([(name, value)]))])))
                    )
                )
            )
        ok_or_error(
            wire.ask(msg(command(("aggregate", "odd"), ("pipeline", value), ("cursor", {}))))
        )
    wire.run(("delete", "odd"), deletes=[{"q": {}, "limit": 0}])


def test_long_keys(wire):
    long = "k" * 1_000_000
    assert wire.ask(insert((long, 1), into="long"))["n"] == 1
    ok_or_error(wire.ask(msg(command(("find", "long"), ("filter", {long: 1})))))
    for body in (command((long, 1)), command(("find", "c"), (long, 1)), command(("create", long))):
        well_formed_error(wire.ask(msg(body)))
    ok_or_error(wire.ask(msg(command(("find", long)))))
    ok_or_error(wire.ask(msg(command(("find", "long"), ("sort", {".".join("a" * 10_000): 1})))))


def test_extreme_numbers_and_dates(wire):
    """All bits of all numbers are returned unchanged."""
    bits = [
        struct.pack("<Q", n)
        for n in (0, 1, 2**63, 2**64 - 1, 0x7FF0000000000001, 0x7FF8 << 48, 1 << 52)
    ]
    values = [Raw(kind, data) for kind in (1, 9, 17, 18) for data in bits]
    values += [Raw(19, a + b) for a in bits for b in bits]
    body = document(Pairs([("_id", 1), ("v", values)]))
    wire.run(("createIndexes", "bits"), indexes=[{"key": {"v": 1}, "name": "v"}])
    assert wire.ask(msg(command(("insert", "bits"), ("documents", [embedded(body)]))))["n"] == 1
    wire.send(msg(command(("find", "bits"))))
    assert body in wire.reply_bytes()
    for value in values:
        wire.send(msg(command(("count", "bits"), ("query", Pairs([("v", value)])))))
        assert bson.decode(wire.reply_bytes())["n"] == 1
