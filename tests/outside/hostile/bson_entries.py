"""Hostile BSON: depth (B4), binary values (B5), lengths (B6), names (B7), keys and text (B8)."""

import functools
import struct

from badinput.raw import Pairs, Raw, document, element, embedded, framed, i32, nested, text
from badinput.wire import OP_MSG, command, frame
from badinput_nosql.wire import A

from hostile.entry import DATABASE, KEPT, MADE, MARK, Kind, asks, finds, http, inserts, raw, runs

FLAGS = struct.pack("<I", 0)
CONTAINERS = ("document", "array", "code with scope")
CODES = {"document": 3, "array": 4, "code with scope": 15}


def holder(kind, levels):
    """Returns a value with this depth of nesting."""
    inner = nested(levels, kind)
    if kind == "code with scope":
        return Raw(15, i32(len(inner) + 10) + b"\x02\0\0\0a\0" + inner)
    return Raw(CODES[kind], inner)


def deep_insert(kind, levels):
    return inserts(
        f"a document with {levels:,} levels of {kind}s",
        lambda: Pairs([("s", MARK), ("v", holder(kind, levels))]),
    )


def deep_ping(kind, levels):
    return asks(
        f"ping with a comment of {levels:,} levels of {kind}s",
        ("ping", 1),
        ("comment", lambda: holder(kind, levels)),
        db="admin",
    )


def by_turns(levels):
    data = document({})
    for level in range(levels):
        data = document(Pairs([("a", Raw(3 + level % 2, data))]))
    return data


B4 = Kind(
    "B4",
    "Deeply nested BSON",
    "bson-rust #680, CVE-2025-6710, CVE-2026-9740",
    [
        *(deep_insert(kind, levels) for kind in CONTAINERS for levels in (101, 201, 1000, 100_000)),
        *(deep_ping(kind, levels) for kind in CONTAINERS for levels in (201, 1000, 5000)),
        asks(
            "a filter of 10,000 levels",
            ("find", KEPT),
            ("filter", lambda: embedded(nested(10_000))),
        ),
        asks(
            "a handshake whose client has 5,000 levels",
            ("hello", 1),
            ("client", lambda: embedded(nested(5000))),
            db="admin",
        ),
        asks(
            "all three containers by turns, 999 levels",
            ("ping", 1),
            ("comment", lambda: embedded(by_turns(999))),
            db="admin",
        ),
    ],
)


def binary(subtype, data, length=None):
    length = len(data) if length is None else length
    return Raw(5, i32(length) + bytes([subtype]) + data)


#: A compressed column whose reference object is followed by another one.
COLUMN = b"\xf1" + document({"a": {"b": 1}}) + b"\xf0" + document({"a": 1}) + b"\x80" * 16 + b"\0"
OLD = {
    "longer than the value": i32(100) + b"abc",
    "shorter than the value": i32(1) + b"abc",
    "below zero": i32(-1) + b"abc",
    "2^31-1": i32(2**31 - 1) + b"abc",
    "of two bytes": b"\1\2",
}

B5 = Kind(
    "B5",
    "Binary values whose content lies",
    "CVE-2026-9740",
    [
        inserts("a column (subtype 7) with interleaved references", {"v": binary(7, COLUMN)}),
        inserts("a column in a column", {"v": binary(7, b"\xf1" + COLUMN * 50)}),
        inserts("a column that ends in its reference", {"v": binary(7, COLUMN[:7])}),
        finds("a column as a filter", {"v": binary(7, COLUMN)}),
        runs(
            "a column in an expression",
            [{"$project": {"v": {"$objectToArray": {"$literal": binary(7, COLUMN)}}}}],
        ),
        *(
            inserts(f"subtype 2 with an inner length {name}", {"v": binary(2, data)})
            for name, data in OLD.items()
        ),
        inserts("a vector (subtype 9) with padding of 255", {"v": binary(9, b"\x10\xffabc")}),
        inserts("a vector of no known kind", {"v": binary(9, b"\x99\0abc")}),
        inserts("a vector without a head", {"v": binary(9, b"")}),
        inserts("an encrypted value (subtype 6) of one byte", {"v": binary(6, b"\1")}),
        inserts("an encrypted value that is a document", {"v": binary(6, document({"a": 1}))}),
        inserts("a UUID (subtype 4) of three bytes", {"v": binary(4, b"abc")}),
        inserts("a UUID as the id, of three bytes", {"_id": binary(4, b"abc")}),
        *(inserts(f"subtype {n}", {"v": binary(n, MARK.encode())}) for n in (10, 127, 255)),
        *(
            inserts(f"a binary value that claims {n} bytes", {"v": binary(0, b"abc", n)})
            for n in (-1, 4, 2**31 - 1, -(2**31))
        ),
    ],
)


def body(data):
    """Returns a message whose body is these bytes."""
    return frame(OP_MSG, FLAGS + b"\0" + data)


PING = document([("ping", 1), ("comment", MARK), ("$db", "admin")])
INSERT = document(command(("insert", "made"), ("documents", [{"_id": 1, "s": MARK}]), db=DATABASE))


def claims(length):
    return body(i32(length) + PING[4:])


def value(kind, data, name="v"):
    """Returns a ping with a field of this type and these bytes."""
    return body(document([("ping", 1), (name, Raw(kind, data)), ("$db", "admin")]))


LENGTHS = {
    "a string of length 0": (2, i32(0)),
    "a string of length -1": (2, i32(-1) + b"a\0"),
    "a string of length 2^31-1": (2, i32(2**31 - 1) + b"a\0"),
    "a string one byte longer than its document": (2, i32(30) + b"a\0"),
    "a string without NUL": (2, i32(2) + b"ab"),
    "a document of length 0": (3, i32(0)),
    "a document of length 4": (3, i32(4) + b"\0"),
    "a document of length -5": (3, i32(-5) + b"\0"),
    "a document longer than the one around it": (3, i32(500) + b"\0"),
    "a document shorter than its fields": (3, i32(6) + document({"a": 1})[4:]),
    "a document without NUL": (3, i32(5) + b"\1"),
    "an array of length 2^31-1": (4, i32(2**31 - 1) + b"\0"),
    "code of length 0": (13, i32(0)),
    "code with scope of length 0": (15, i32(0) + b"\1\0\0\0\0" + document({})),
    "code with scope of length -1": (15, i32(-1) + b"\1\0\0\0\0" + document({})),
    "code with scope longer than its parts": (15, i32(40) + b"\1\0\0\0\0" + document({})),
    "code with scope whose code is longer than it": (15, i32(15) + i32(99) + b"\0" + document({})),
    "a pointer of half an id": (12, i32(2) + b"a\0" + b"123456"),
    "a regex without an end": (11, b"aaa"),
    "a regex with one end": (11, b"aaa\0i"),
    "an unknown type 0x77": (0x77, b""),
    "an unknown type 0x80": (0x80, b""),
    "a boolean of 2": (8, b"\2"),
    "a decimal of 8 bytes": (19, bytes(8)),
}

B6 = Kind(
    "B6",
    "Lengths that lie",
    "CVE-2012-6619, CVE-2026-107324, CVE-2026-106437, CVE-2026-114646, CVE-2025-0755, SERVER-17264",
    [
        *(
            raw(f"a body that claims {n} bytes", functools.partial(claims, n))
            for n in (0, 1, 2, 3, 4, 5, -1, -(2**31), 2**31 - 1, len(PING) + 1, len(PING) - 1)
        ),
        *(raw(name, value(*it)) for name, it in LENGTHS.items()),
        *(
            raw(f"an insert that ends after byte {at} of its body", body(INSERT[:at]))
            for at in range(1, len(INSERT), 6)
        ),
        raw("an insert without its last NUL", body(INSERT[:-1] + b"\1")),
        raw(
            "a second command behind the length of the first",
            frame(OP_MSG, FLAGS + b"\0" + PING + INSERT),
        ),
        raw(
            "a command in a string that claims to end before it",
            body(
                document(
                    [("ping", 1), ("v", Raw(2, i32(1) + b"\0" + INSERT[4:-1])), ("$db", "admin")]
                )
            ),
        ),
    ],
)

NAMES = {
    "empty": "",
    "of a NUL": "a\0b",
    "of a NUL behind another": "shop\0x",
    "of a dot": "a.b",
    "of a dollar": "a$b",
    "of a slash": "a/b",
    "of a backslash": "a\\b",
    "of a quote": 'a"b',
    "of a blank": "a b",
    "of 64 bytes": "a" * 64,
    "of 100,000 bytes": "a" * 100_000,
    "that goes up": "../..",
}


B7 = Kind(
    "B7",
    "Names with NUL, dots and dollars",
    "CVE-2024-10921, CVE-2020-7928, CVE-2026-81526",
    [
        *(
            asks(
                f"a database's name {what}",
                ("insert", "made"),
                ("documents", [{"s": MARK}]),
                db=name,
            )
            for what, name in NAMES.items()
        ),
        *(
            asks(f"a collection's name {what}", ("insert", name), ("documents", [{"s": MARK}]))
            for what, name in {
                "empty": "",
                "of a NUL": "a\0b",
                "that ends with NUL": "kept\0",
                "of a dot first": ".a",
                "of a dollar": "$cmd",
                "of the system": "system.views",
                "of 256 bytes": "c" * 256,
            }.items()
        ),
        asks("a database's name with a collection's in it", ("find", "x"), db="shop.kept"),
        asks("a collection's name with a dot stays in its database", ("count", "kept.x")),
        asks(
            "renameCollection to another database's name with NUL",
            ("renameCollection", "shop.kept"),
            ("to", "shop\0.kept"),
            db="admin",
        ),
        asks(
            "bulkWrite to a full name without a database",
            ("bulkWrite", 1),
            ("ops", [{"insert": 0, "document": {"s": MARK}}]),
            ("nsInfo", [{"ns": ".kept"}]),
            db="admin",
        ),
        raw("a key of a NUL", body(document([("ping", 1), ("a\0b", 1), ("$db", "admin")]))),
        finds("a pattern of a NUL", {"s": {"$regex": "a\0b"}}),
        finds("a regex whose options hold NUL", {"s": {"$regex": "a", "$options": "i\0"}}),
        finds("a regex of unknown options", {"s": Raw(11, b"a\0qqq\0")}),
        asks(
            "an index's name of a NUL",
            ("createIndexes", "made"),
            ("indexes", [{"key": {"a": 1}, "name": "a\0b"}]),
        ),
        asks("distinct of a key of a NUL", ("distinct", KEPT), ("key", "s\0")),
        asks(
            "an update of a path of a dollar",
            ("update", "made"),
            ("updates", [{"q": {}, "u": {"$set": {"$a": MARK}}, "upsert": True}]),
        ),
    ],
)
BAD_TEXT = {
    "a byte of 0xff": b"pl4nted\xff",
    "a sequence cut short": b"pl4nted\xe2\x82",
    "an overlong slash": b"\xc0\xaf",
    "a surrogate": b"\xed\xa0\x80",
    "beyond Unicode": b"\xf5\x80\x80\x80",
}


def keys(count, equal=True):
    return Raw(3, framed(b"".join(element("k" if equal else f"k{i}", 1) for i in range(count))))


def odd_array(*names):
    return Raw(4, document([(name, {"n": i}) for i, name in enumerate(names)]))


B8 = Kind(
    "B8",
    "Text that is no UTF-8, keys and arrays of odd names",
    "CVE-2026-82058",
    [
        *(
            inserts(f"a string that is no UTF-8: {what}", {"s": text(data)})
            for what, data in BAD_TEXT.items()
        ),
        inserts("a key that is no UTF-8", Pairs([(b"\xff\xfe", MARK)])),
        asks("a command's name that is no UTF-8", (b"\xffping", 1)),
        asks("a collection's name that is no UTF-8", ("find", text(b"\xff"))),
        asks("a database's name that is no UTF-8", ("find", KEPT), ("$db", text(b"\xff"))),
        inserts("a key of 1 MB", lambda: {"k" * 1_000_000: MARK}),
        asks(
            "a sort by 10,000 steps of a path",
            ("find", KEPT),
            ("sort", {".".join("a" * 10_000): 1}),
        ),
        inserts("100,000 equal keys", lambda: Pairs([("s", MARK), ("d", keys(100_000))])),
        asks("100,000 equal keys as a filter", ("find", KEPT), ("filter", lambda: keys(100_000))),
        asks(
            "100,000 equal keys as a projection",
            ("find", KEPT),
            ("projection", lambda: keys(100_000)),
        ),
        asks(
            "100,000 keys as a command's arguments",
            ("ping", 1),
            *[(f"k{i}", 1) for i in range(100_000)],
        ),
        *(
            asks(
                f"documents that are an array with the names {names}",
                ("insert", "made"),
                ("documents", odd_array(*names)),
            )
            for names in (
                ["x"],
                ["1", "0"],
                ["0", "0"],
                ["-1"],
                ["01"],
                [""],
                ["99999999999999999"],
            )
        ),
        *(
            finds(
                f"{operator} of an array with a malformed name",
                Pairs([("a", Pairs([(operator, odd_array("0x", "-1"))]))]),
            )
            for operator in ("$in", "$all", "$mod", "$bitsAllSet", "$type", "$elemMatch")
        ),
        runs("a pipeline that is an array with malformed names", odd_array("x", "0")),
        asks(
            "$jsonSchema with an array of malformed names",
            ("find", KEPT),
            ("filter", Pairs([("$jsonSchema", Pairs([("required", odd_array("x"))]))])),
        ),
        *(
            http(f"JSON with {what}", lambda ask, d=data: ask("POST", MADE, d, A))
            for what, data in {
                "a lone surrogate": b'{"id":"x","pk":"a","s":"\\ud800"}',
                "two first halves of surrogates": b'{"id":"x","pk":"a","s":"\\ud83d\\ud83d"}',
                "a byte of 0xff": b'{"id":"x","pk":"a","s":"\xff"}',
                "a lone surrogate as a key": b'{"id":"x","pk":"a","\\udfff":1}',
                "NUL in its id": b'{"id":"a\\u0000b","pk":"a","\xff":1}',
            }.items()
        ),
    ],
)
KINDS = [B4, B5, B6, B7, B8]
