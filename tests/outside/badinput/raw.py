"""A small BSON writer that can write invalid documents: any type code, any bytes, any order. A
document is a list of (name, value) pairs or a dict; a value is anything `bson` can encode, a nested
document or list, or `Raw(kind, bytes)`.
"""

import struct
from typing import NamedTuple

import bson

PACK_I32 = struct.Struct("<i").pack


class Raw(NamedTuple):
    """An element's type code and its bytes, written unchanged."""

    kind: int
    bytes: bytes


def i32(number):
    return PACK_I32(number)


def name_bytes(name):
    return name if isinstance(name, bytes) else name.encode("utf-8", "surrogatepass")


def framed(elements):
    """Makes a document of elements: adds the length and the final NUL."""
    return i32(len(elements) + 5) + elements + b"\0"


class Pairs(list):
    """A nested document as pairs, so that it can repeat names and differs from a list."""


def element(name, value):
    name = name_bytes(name) + b"\0"
    # A fast path: large documents consist mostly of small numbers.
    if type(value) is int and -(2**31) <= value < 2**31:
        return b"\x10" + name + PACK_I32(value)
    if isinstance(value, Raw):
        return bytes([value.kind]) + name + value.bytes
    if isinstance(value, (Pairs, dict)):
        return b"\x03" + name + document(value)
    if isinstance(value, (list, tuple)):
        return b"\x04" + name + document(Pairs((str(i), it) for i, it in enumerate(value)))
    encoded = bson.encode({"": value})
    return encoded[4:5] + name + encoded[6:-1]


def document(pairs):
    """Returns the bytes of a document."""
    if isinstance(pairs, bytes):
        return pairs
    pairs = pairs.items() if isinstance(pairs, dict) else pairs
    return framed(b"".join([element(name, value) for name, value in pairs]))


def embedded(data):
    """Returns bytes, valid or not, as a nested document."""
    return Raw(3, data)


def text(data):
    """Returns a string of these bytes, UTF-8 or not, with a correct length."""
    data = name_bytes(data)
    return Raw(2, i32(len(data) + 1) + data + b"\0")


def nested(levels, kind="document", inner=b"\x05\0\0\0\0"):
    """Returns a document with this many levels of one kind of container, built from the inside."""
    heads = {"document": b"\x03a\0", "array": b"\x040\0"}
    parts, tail, size = [], b"\0", len(inner)
    for _ in range(levels - 1):
        if kind == "code with scope":
            head = b"\x0fa\0" + i32(size + 10) + b"\x02\0\0\0a\0"
        else:
            head = heads[kind]
        size += len(head) + 5
        parts.append(i32(size) + head)
    return b"".join(reversed(parts)) + inner + tail * (levels - 1)


def of_every_type():
    """Returns values of each BSON type, with special ones of some, by name."""
    return {
        "double": 1.5,
        "NaN": float("nan"),
        "infinity": float("inf"),
        "string": "x",
        "document": Pairs([("a", 1)]),
        "empty document": Pairs(),
        "operator": Pairs([("$x", 1)]),
        "array": ["x", 1],
        "empty array": [],
        "binary": bson.Binary(b"abc", 0),
        "undefined": Raw(6, b""),
        "id": bson.ObjectId(b"123456789012"),
        "true": True,
        "false": False,
        "date": Raw(9, struct.pack("<q", 1_000)),
        "last date": Raw(9, struct.pack("<q", 2**63 - 1)),
        "null": None,
        "regex": Raw(11, b"x\0i\0"),
        "pointer": Raw(12, b"\x02\0\0\0a\0" + b"123456789012"),
        "code": Raw(13, b"\x02\0\0\0a\0"),
        "symbol": Raw(14, b"\x02\0\0\0a\0"),
        "code with scope": Raw(15, b"\x0f\0\0\0" + b"\x02\0\0\0a\0" + b"\x05\0\0\0\0"),
        "int": 1,
        "negative int": -1,
        "timestamp": bson.Timestamp(1, 1),
        "long": bson.Int64(2),
        "largest long": bson.Int64(2**63 - 1),
        "smallest long": bson.Int64(-(2**63)),
        "decimal": bson.Decimal128("1.5"),
        "decimal NaN": bson.Decimal128("NaN"),
        "least": bson.MinKey(),
        "greatest": bson.MaxKey(),
    }
