"""Hostile messages of the MongoDB API: compression (B1, B2) and frames (B3)."""

import functools
import gzip
import struct
import zlib

import snappy
from backports import zstd
from badinput.raw import document, i32
from badinput.wire import (
    LARGEST_MESSAGE,
    OP_COMPRESSED,
    OP_MSG,
    command,
    compressed,
    frame,
    msg,
    op_query,
    section,
    sequence,
)
from badinput_nosql.wire import A

from hostile.entry import DATABASE, ITEMS, MARK, Kind, compressed_word, http, raw, steps, word

PACK = {
    "noop": (0, bytes),
    "snappy": (1, snappy.compress),
    "zlib": (2, zlib.compress),
    "zstd": (3, zstd.compress),
}
PING = [("ping", 1), ("comment", MARK * 20), ("$db", "admin")]
FLAGS = struct.pack("<I", 0)


def packed(message, name, **lies):
    number, pack = PACK[name]
    return compressed(message, number, pack(message[16:]), **lies)


def sizes(name):
    """Returns claimed sizes, each with the correct one."""
    true = len(msg(PING)) - 16
    claims = {
        "one more than": true + 1,
        "one less than": true - 1,
        "a thousand times": true * 1000,
        "nothing instead of": 0,
        "-2^31 instead of": -(2**31),
        "2^31-1 instead of": 2**31 - 1,
        "48,000,000 instead of": LARGEST_MESSAGE,
    }
    return [
        raw(
            f"{name}: the size claims {claim} what inflates",
            functools.partial(packed, msg(PING), name, size=size),
        )
        for claim, size in claims.items()
    ]


def reaching(name):
    """A document whose length extends beyond the bytes that were sent, inside a correct size."""
    number, pack = PACK[name]
    inner = b"\0\0\0\0\0" + i32(400) + b"\x10ping\0\x01\0\0\0"
    return compressed(frame(OP_MSG, inner), number, pack(inner), size=len(inner))


B1 = Kind(
    "B1",
    "Compressed messages whose size is not what inflates",
    "CVE-2025-14847 (MongoBleed), CVE-2019-20925, CVE-2017-15535",
    [
        *(entry for name in PACK for entry in sizes(name)),
        *(
            raw(f"{name}: a document longer than its message", lambda n=name: reaching(n))
            for name in PACK
        ),
        *(
            raw(
                f"a compressed message that ends after byte {length} of its head",
                frame(OP_COMPRESSED, packed(msg(PING), "zlib")[16 : 16 + length]),
            )
            for length in range(9)
        ),
    ],
)


@functools.cache
def bomb(name):
    return {
        "zlib": (2, lambda: zlib.compress(bytes(100 << 20), 1)),
        "zstd": (3, lambda: zstd.compress(bytes(100 << 20))),
        "zstd in 5,000 frames": (3, lambda: zstd.compress(bytes(8 << 20)) * 5000),
        "snappy": (1, lambda: b"\x80\x80\x80\x80\x10\0\0" + b"\xfe\x01\0" * 20_000),
        "snappy, 40 MB": (1, lambda: snappy.compress(bytes(40_000_000))),
    }[name][1]()


def exploding(name, size):
    number = {"zlib": 2, "zstd": 3, "snap": 1}[name[:4]]
    return compressed(msg(PING), number, bomb(name), size=size)


def nested(levels):
    data = msg(PING)
    for _ in range(levels):
        data = packed(data, "zlib")
    return data


def not_agreed(name):
    def run(place):
        assert place.wire.run(("hello", 1), db="admin", compression=[])["ok"] == 1
        return compressed_word(place, packed(msg(PING), name))

    return run


def in_a_compressed(body):
    return lambda place: compressed_word(place, packed(msg(body), "zlib"))


SASL = command(("saslStart", 1), ("mechanism", "SCRAM-SHA-256"), ("payload", MARK), db="admin")
BOMBS = ("zlib", "zstd", "zstd in 5,000 frames", "snappy", "snappy, 40 MB")


@functools.cache
def zipped():
    return gzip.compress(b'{"id":"z","pk":"a","x":"' + b"x" * (64 << 20) + b'"}', 9)


B2 = Kind(
    "B2",
    "Bombs of compression, nested and unknown compressors",
    "CVE-2025-14847, CVE-2026-90797 (CouchDB)",
    [
        *(
            raw(
                f"{name}: far more than {size} bytes inflate",
                lambda n=name, s=size: exploding(n, s),
            )
            for name in BOMBS
            for size in (100, LARGEST_MESSAGE - 16, 2**31 - 1)
        ),
        *(
            raw(
                f"a compressed message in a compressed message, {levels} deep",
                functools.partial(nested, levels),
            )
            for levels in (2, 50)
        ),
        *(
            raw(f"compressor {number}", compressed(msg(PING), number, msg(PING)[16:]))
            for number in (4, 127, 255)
        ),
        *(
            raw(f"a compressed message of kind {code}", packed(msg(PING), "zlib", code=code))
            for code in (0, 1, 2002, -1)
        ),
        *(
            steps(f"{name}, which was not agreed on", not_agreed(name))
            for name in ("snappy", "zlib", "zstd")
        ),
        *(
            raw(
                f"{name}: a stream that is no stream",
                compressed(msg(PING), number, b"\xff\x13" * 20),
            )
            for name, (number, _) in PACK.items()
        ),
        steps("a compressed saslStart", in_a_compressed(SASL)),
        steps(
            "a compressed authenticate",
            in_a_compressed(command(("authenticate", 1), db="$external")),
        ),
        http(
            "a body of 64 MiB in gzip",
            lambda ask: ask("POST", ITEMS, zipped(), {**A, "content-encoding": "gzip"}),
        ),
        http(
            "a body in deflate, gzip and gzip",
            lambda ask: ask("POST", ITEMS, b"x", {**A, "content-encoding": "deflate, gzip, gzip"}),
        ),
    ],
)


def drip(data):
    """Sends byte by byte, then closes its side."""

    def run(place):
        for at in range(len(data)):
            place.wire.send(data[at : at + 1])
        place.wire.half_close()
        return word(place.wire.reply())

    return run


SECTIONS = {
    "no flags": b"",
    "half of the flags": b"\0\0",
    "no section": FLAGS,
    "two bodies": FLAGS + section(PING) + section(PING),
    "no body": FLAGS + sequence("documents", [{"_id": 1}]),
    "a section of kind 2": FLAGS + section(PING) + b"\x02" + document({}),
    "a section of kind 255": FLAGS + b"\xff" + document(PING),
    "a byte behind its sections": FLAGS + section(PING) + b"\0",
    "an empty section": FLAGS + b"\0",
    "a sequence twice": FLAGS + section(PING) + sequence("a", [{}]) + sequence("a", [{}]),
    "a sequence without a name": FLAGS + section(PING) + b"\x01" + i32(8) + b"aaaa",
    "a sequence of nothing": FLAGS + section(PING) + b"\x01",
    "a sequence whose name is not UTF-8": FLAGS + section(PING) + sequence(b"\xff\xfe", [{}]),
    "a sequence that nobody asked for": FLAGS + section(PING) + sequence("nonsense", [{}]),
    "documents in its body and in a sequence": FLAGS
    + section(command(("insert", "made"), ("documents", [{"s": MARK}]), db=DATABASE))
    + sequence("documents", [{"s": MARK}]),
    **{
        f"a sequence that claims {length} bytes": FLAGS
        + section(PING)
        + sequence("documents", [{"_id": 1}], length=length)
        for length in (0, 3, 4, 5, 14, -1, 2**31 - 1)
    },
    **{
        f"a body that claims {length} bytes": FLAGS + b"\0" + i32(length) + document(PING)[4:]
        for length in (0, 4, 5, -1, 2**31 - 1)
    },
}

B3 = Kind(
    "B3",
    "Frames and sections that lie",
    "CVE-2025-3083",
    [
        *(
            raw(f"a message that claims {length} bytes", msg(PING, length=length))
            for length in (0, 1, 4, 15, -1, -16, -(2**31), 2**31 - 1, LARGEST_MESSAGE + 1)
        ),
        *(
            raw(
                f"a message that claims {length} bytes, fewer than were sent",
                msg(PING, length=length),
            )
            for length in (16, 17, 20, 21, 25)
        ),
        steps(
            "a message one byte longer than what is sent, a byte at a time",
            drip(msg(PING, length=len(msg(PING)) + 1)),
        ),
        steps("half a head, a byte at a time", drip(msg(PING)[:9])),
        *(raw(f"a message with {name}", frame(OP_MSG, data)) for name, data in SECTIONS.items()),
        *(raw(f"the unknown required flag {bit}", msg(PING, flags=1 << bit)) for bit in (2, 7, 15)),
        raw("a wrong checksum", msg(PING, flags=1)[:-4] + b"abcd"),
        raw("a checksum without room for it", frame(OP_MSG, struct.pack("<I", 1) + b"\0\0")),
        *(
            raw(f"a message of kind {code}", frame(code, i32(0) + b"shop.kept\0" + document({})))
            for code in (0, 1, 2, 1000, 2001, 2002, 2005, 2006, 2007, 2010, 2011, -1, 2**31 - 1)
        ),
        raw("OP_QUERY of a collection", op_query("shop.kept", {"_id": 1})),
        raw("OP_QUERY that is a command", op_query("admin.$cmd", {"ping": 1})),
        raw(
            "OP_QUERY that writes",
            op_query("shop.$cmd", [("insert", "made"), ("documents", [{"_id": MARK}])]),
        ),
        raw("OP_QUERY without a name", frame(2004, i32(0) + b"admin")),
        raw("OP_QUERY of nothing", frame(2004, b"")),
        raw("HTTP", b"GET /shop HTTP/1.1\r\nhost: localhost\r\n\r\n"),
        raw("noise", b"\xff" * 4096),
        raw("zeros", bytes(4096)),
    ],
)


KINDS = [B1, B2, B3]
