"""Every export can be imported: every BSON type byte for byte, items of the NoSQL API, tables, and
from one API to the other."""

import csv
import datetime
import io
import json
import struct

import bson
from bson import (
    Binary,
    Code,
    Decimal128,
    Int64,
    MaxKey,
    MinKey,
    ObjectId,
    Regex,
    Timestamp,
)
from bson.raw_bson import RawBSONDocument
from lib.nosql import stripped

from export.tools import RAW, exported, imported, mongo, nosql, printed, raw, refusals

DATE = datetime.datetime(2027, 1, 2, 3, 4, 5, 678000, tzinfo=datetime.UTC)


def element(kind, name, value):
    """Returns a BSON element, for types that drivers no longer write."""
    return bytes([kind]) + name.encode() + b"\0" + value


def text(value):
    return struct.pack("<i", len(value) + 1) + value.encode() + b"\0"


def with_old_types(document):
    """Returns a document with undefined, a symbol and a pointer appended to its fields."""
    inner = bson.encode(document)[4:-1]
    inner += element(0x06, "undefined", b"")
    inner += element(0x0E, "symbol", text("s"))
    inner += element(0x0C, "pointer", text("a.b") + b"\1" * 12)
    return RawBSONDocument(struct.pack("<i", len(inner) + 5) + inner + b"\0")


VALUES = {
    "doubles": [0.0, -0.0, 1.0, 0.1, 1e300, 5e-324, float("nan"), float("inf"), float("-inf")],
    "texts": ["", 'é"\\\n\0😀', "$oid", "x" * 5_000],
    "documents": [{}, {"a": {"b": [{"c": 1}]}}, {"$dollar": 1}],
    "arrays": [[], [[1], [[]]]],
    "binary": [Binary(bytes(range(256)), kind) for kind in (0, 1, 3, 5, 128, 255)]
    + [Binary(b"\2\0\0\0ab", 2), Binary(b"", 0)],
    "bools": [True, False],
    "dates": [DATE, datetime.datetime(1, 1, 1, tzinfo=datetime.UTC)],
    "far": bson.datetime_ms.DatetimeMS(-(2**63)),
    "null": None,
    "regex": Regex('^a/"b', "im"),
    "code": [Code("f()"), Code("g()", {"x": 1, "y": {"z": DATE}})],
    "ints": [0, -(2**31), 2**31 - 1, Int64(5), Int64(2**63 - 1), Int64(-(2**63))],
    "timestamps": [Timestamp(0, 0), Timestamp(2**32 - 1, 2**32 - 1)],
    "decimals": [Decimal128(it) for it in ("0", "-0", "1.00", "1E+6144", "NaN", "-Infinity")],
    "ends": [MinKey(), MaxKey()],
    "": "no name",
    "dotted.name": 1,
}
IDS = [
    MinKey(),
    1,
    2.5,
    Int64(3),
    Decimal128("4.5"),
    "a",
    {"b": 1},
    Binary(b"x", 0),
    ObjectId(b"\1" * 12),
    True,
    DATE,
    Timestamp(1, 1),
    MaxKey(),
]


def test_every_type_comes_back_byte_for_byte(server, database, tmp_path):
    documents = [with_old_types({"_id": id, **VALUES}) for id in IDS]
    database["c"].with_options(RAW).insert_many(documents)
    before = raw(database["c"])
    assert len(before) == len(IDS)
    done = exported(mongo(server, "c"), tmp_path / "c.json")
    assert done["documents"] == len(IDS) and done["bytes"] == (tmp_path / "c.json").stat().st_size
    said = imported(mongo(server, "copy"), tmp_path / "c.json")
    assert (said["read"], said["inserted"], said["refused"]) == (len(IDS), len(IDS), 0)
    assert said["expired_on_arrival"] == 0
    assert raw(database["copy"]) == before
    assert not (tmp_path / "c.json.refused").exists()
    # Again: the same documents are replaced.
    said = imported(mongo(server, "copy"), tmp_path / "c.json", "--mode", "upsert")
    assert (said["inserted"], said["replaced"]) == (0, len(IDS))
    assert raw(database["copy"]) == before
    # The relaxed form loses only the width of integers.
    relaxed = tmp_path / "relaxed.json"
    exported(mongo(server, "c"), relaxed, "--relaxed")
    imported(mongo(server, "relaxed"), relaxed)
    again = printed(mongo(server, "relaxed"), "--relaxed")
    assert again == relaxed.read_text()


def test_a_driver_reads_what_is_exported(server, database):
    document = {"_id": 1, **VALUES}
    database["c"].insert_one(document)
    options = bson.json_util.JSONOptions(
        json_mode=bson.json_util.JSONMode.CANONICAL,
        datetime_conversion=bson.codec_options.DatetimeConversion.DATETIME_AUTO,
        tz_aware=True,
    )
    read = bson.json_util.loads(printed(mongo(server, "c")), json_options=options)
    assert bson.encode(read) == raw(database["c"])[0]
    # The reverse: output of a driver is imported.
    text = bson.json_util.dumps(document, json_options=options)
    imported(mongo(server, "copy"), "-", stdin=text.encode())
    assert raw(database["copy"]) == raw(database["c"])


def test_items_of_the_nosql_api(server, tmp_path):
    container = server.items.container("i", "items")
    assert container.define(defaultTtl=-1).status == 201
    items = [
        {"id": f"n{n} é", "pk": pk, "n": n * 1.5, "in": {"a": [n, None, "é\0"]}, "ttl": 1_000 + n}
        for n, pk in enumerate(["a", 'é"', 5, 1.5, True, None] * 20)
    ]
    items.append({"id": "no key"})
    for item in items:
        assert container.create(item).status == 201
    file = tmp_path / "items.json"
    assert exported(nosql(server, "items"), file)["documents"] == len(items)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert all(set(line) & {"_rid", "_self", "_etag", "_attachments"} == set() for line in lines)
    assert all(line["_ts"] == server.now_ms() // 1_000 for line in lines)
    copy = server.items.container("i", "copy")
    assert copy.define(defaultTtl=-1).status == 201
    said = imported(nosql(server, "copy"), file)
    assert (said["inserted"], said["refused"], said["expired_on_arrival"]) == (len(items), 0, 0)
    order = lambda rows: sorted((stripped(row) for row in rows), key=lambda row: row["id"])  # noqa: E731
    assert order(copy.rows()) == order(items) == order(lines)
    said = imported(nosql(server, "copy"), file, code=1)
    assert (said["inserted"], said["refused"]) == (0, len(items))
    assert all(reason.startswith("409") for _, reason in refusals(file))
    said = imported(nosql(server, "copy"), file, "--mode", "upsert")
    assert (said["replaced"], said["refused"]) == (len(items), 0)
    # A part of them.
    query = ["--query", "SELECT * FROM c WHERE c.n > 100", "--fields", "n", "--limit", "7"]
    rows = [json.loads(line) for line in printed(nosql(server, "copy"), *query).splitlines()]
    assert len(rows) == 7 and all(set(row) == {"id", "n"} and row["n"] > 100 for row in rows)
    # Extended JSON includes the types of the items' numbers.
    typed = printed(nosql(server, "copy"), "--format", "extended-json", "--limit", "1")
    assert '"$numberLong"' in typed
    imported(
        nosql(server, "copy"),
        "-",
        "--format",
        "extended-json",
        "--mode",
        "upsert",
        stdin=typed.encode(),
    )
    assert order(copy.rows()) == order(items)


def test_from_one_api_to_the_other(server, database):
    database["c"].insert_many(
        {"id": f"d{n}", "pk": "a", "_id": ObjectId(bytes([n] * 12)), "at": DATE} for n in range(5)
    )
    container = server.items.container("i", "from")
    assert container.define().status == 201
    lines = printed(mongo(server, "c"), "--format", "jsonl")
    imported(nosql(server, "from"), "-", stdin=lines.encode())
    found = sorted(map(stripped, container.rows()), key=lambda row: row["id"])
    at = "2027-01-02T03:04:05.678Z"
    want = [{"_id": f"{n:02x}" * 12, "id": f"d{n}", "pk": "a", "at": at} for n in range(5)]
    assert found == want
    items = printed(nosql(server, "from"), "--fields", "id,pk,at")
    imported(mongo(server, "back"), "-", "--format", "jsonl", stdin=items.encode())
    back = sorted(database["back"].find(), key=lambda row: row["id"])
    assert [row["id"] for row in back] == [f"d{n}" for n in range(5)]
    assert all(isinstance(row["_id"], ObjectId) and row["at"] == at for row in back)


def test_tables(server, database, tmp_path):
    rows = [
        {"_id": n, "name": f'a "{n}",\nb', "in": {"side": n * 1.5}, "on": n % 2 == 0, "none": None}
        for n in range(30)
    ]
    rows.append({"_id": 30, "name": "007", "in": {"side": 1.0}, "on": True, "tags": [1, {"a": 2}]})
    database["c"].insert_many(rows)
    file = tmp_path / "c.csv"
    fields = ["--format", "csv", "--fields", "_id,name,in.side,on,none,tags"]
    assert exported(mongo(server, "c"), file, *fields)["documents"] == 31
    table = list(csv.DictReader(io.StringIO(file.read_text(), newline="")))
    assert len(table) == 31
    assert table[3] == {
        "_id": "3", "name": 'a "3",\nb', "in.side": "4.5", "on": "false", "none": "", "tags": "",
    }  # fmt: skip
    assert json.loads(table[30]["tags"]) == [1, {"a": 2}]
    imported(mongo(server, "copy"), file, "--format", "csv", "--ignore-blanks")
    want = [{name: value for name, value in row.items() if value is not None} for row in rows]
    want[30]["tags"] = '[1,{"a":2}]'
    assert list(database["copy"].find(sort=[("_id", 1)])) == want
    # Columns may refer to array elements.
    parts = printed(mongo(server, "c"), "--format", "csv", "-f", "in,tags.1.a,in.side").splitlines()
    assert parts[0] == "in,tags.1.a,in.side" and parts[31] == '"{""side"":1.0}",2,1.0'
    # Without a header line, and with types.
    typed = b"1,007,1.50,2027-01-02T03:04:05.678Z\n2,x,,\n"
    names = ["--format", "csv", "--columns-have-types"]
    columns = "_id.int64(),name.string(),price.decimal(),at.date()"
    said = imported(
        mongo(server, "typed"), "-", *names, "--ignore-blanks", "--fields", columns, stdin=typed
    )
    assert said["inserted"] == 2
    assert raw(database["typed"]) == [
        bson.encode({"_id": Int64(1), "name": "007", "price": Decimal128("1.50"), "at": DATE}),
        bson.encode({"_id": Int64(2), "name": "x"}),
    ]
    # Items of the NoSQL API as a table.
    container = server.items.container("i", "table")
    assert container.define().status == 201
    table = b"id,pk,in.n\na,x,1\nb,y,2.5\n"
    imported(nosql(server, "table"), "-", "--format", "csv", stdin=table)
    table = printed(nosql(server, "table"), "--format", "csv", "-f", "id,pk,in.n").splitlines()
    assert table[0] == "id,pk,in.n" and sorted(table[1:]) == ["a,x,1", "b,y,2.5"]


def test_options_that_choose(server, database, tmp_path):
    database["c"].insert_many({"_id": n, "k": n % 3, "at": DATE, "x": {"y": n}} for n in range(40))
    place = mongo(server, "c")

    def ids(*flags):
        lines = printed(place, "--relaxed", *flags).splitlines()
        return [json.loads(line)["_id"] for line in lines]

    assert ids() == list(range(40))
    assert ids("-q", '{"k":{"$numberInt":"1"}}') == list(range(1, 40, 3))
    assert ids("-q", '{"at":{"$gt":{"$date":"2028-01-01T00:00:00Z"}}}') == []
    assert ids("--sort", '{"k":-1,"_id":-1}', "--limit", "3") == [38, 35, 32]
    assert ids("--limit", "5") == list(range(5))
    line = printed(place, "-f", "x.y,k", "--limit", "1")
    want = '{"_id":{"$numberInt":"0"},"k":{"$numberInt":"0"},"x":{"y":{"$numberInt":"0"}}}\n'
    assert line == want
    # Empty collections: an empty file, and a table with only its header.
    database.create_collection("none")
    assert exported(mongo(server, "none"), tmp_path / "none")["documents"] == 0
    assert (tmp_path / "none").read_bytes() == b""
    assert printed(mongo(server, "none"), "--format", "csv", "-f", "a,b") == "a,b\n"


def test_merge_sets_fields_of_what_is_there(server, database):
    database["c"].insert_many([{"_id": 1, "a": 1, "b": 1}, {"_id": {"x": 1}, "a": 1}])
    lines = b'{"_id":1,"b":2}\n{"_id":2,"b":3}\n{"_id":{"x":1},"c":{"d":4}}\n{"_id":3}\n'
    said = imported(mongo(server, "c"), "-", "--mode", "merge", stdin=lines)
    assert (said["inserted"], said["replaced"]) == (2, 2)
    assert {str(row.pop("_id")): row for row in database["c"].find()} == {
        "1": {"a": 1, "b": 2},
        "2": {"b": 3},
        "{'x': 1}": {"a": 1, "c": {"d": 4}},
        "3": {},
    }
