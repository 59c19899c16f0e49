"""The value matrix: the meaning of values of `ttl` under each default TTL; others are ignored."""

import re

import pytest
from bson import Binary, Code, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from lib.server import Server, date

#: The default TTL of the collection in the case of a number.
DEFAULT = 50
#: The last instant checked, in seconds after the write; only documents without expiry outlive it.
END = 2**31 + 10

INHERIT, NEVER = "inherit", "never"

#: name: (the fields, their meaning)
VALUES = {
    "none": ({}, INHERIT),
    "int32": ({"ttl": 20}, 20),
    "int32 1": ({"ttl": 1}, 1),
    "int32 max": ({"ttl": 2_147_483_647}, 2_147_483_647),
    "int32 -1": ({"ttl": -1}, NEVER),
    "int64": ({"ttl": Int64(20)}, 20),
    "int64 max of int32": ({"ttl": Int64(2_147_483_647)}, 2_147_483_647),
    "int64 -1": ({"ttl": Int64(-1)}, NEVER),
    "double": ({"ttl": 20.0}, 20),
    "double -1": ({"ttl": -1.0}, NEVER),
    "double max of int32": ({"ttl": 2147483647.0}, 2_147_483_647),
    "double 20.5": ({"ttl": 20.5}, INHERIT),
    "double -1.5": ({"ttl": -1.5}, INHERIT),
    "double tiny": ({"ttl": 20.000000000000004}, INHERIT),
    "double 2147483648": ({"ttl": 2147483648.0}, INHERIT),
    "double -0.0": ({"ttl": -0.0}, INHERIT),
    "double 1e300": ({"ttl": 1e300}, INHERIT),
    "int64 2147483648": ({"ttl": Int64(2_147_483_648)}, INHERIT),
    "int64 2147483649": ({"ttl": Int64(2_147_483_649)}, INHERIT),
    "int64 2^32 + 20": ({"ttl": Int64(2**32 + 20)}, INHERIT),
    "int64 2^32 - 1": ({"ttl": Int64(2**32 - 1)}, INHERIT),
    "int64 max": ({"ttl": Int64(2**63 - 1)}, INHERIT),
    "int64 min": ({"ttl": Int64(-(2**63))}, INHERIT),
    "0": ({"ttl": 0}, INHERIT),
    "int64 0": ({"ttl": Int64(0)}, INHERIT),
    "-2": ({"ttl": -2}, INHERIT),
    "-5": ({"ttl": -5}, INHERIT),
    "null": ({"ttl": None}, INHERIT),
    "string": ({"ttl": "20"}, INHERIT),
    "empty string": ({"ttl": ""}, INHERIT),
    "true": ({"ttl": True}, INHERIT),
    "false": ({"ttl": False}, INHERIT),
    "decimal": ({"ttl": Decimal128("20")}, INHERIT),
    "decimal -1": ({"ttl": Decimal128("-1")}, INHERIT),
    "NaN": ({"ttl": float("nan")}, INHERIT),
    "infinity": ({"ttl": float("inf")}, INHERIT),
    "-infinity": ({"ttl": float("-inf")}, INHERIT),
    "date": ({"ttl": date(20_000)}, INHERIT),
    "object id": ({"ttl": ObjectId(b"\0" * 12)}, INHERIT),
    "timestamp": ({"ttl": Timestamp(20, 1)}, INHERIT),
    "binary": ({"ttl": b"\x14"}, INHERIT),
    "uuid": ({"ttl": Binary(b"\x14" * 16, 4)}, INHERIT),
    "regex": ({"ttl": Regex("20")}, INHERIT),
    "code": ({"ttl": Code("20")}, INHERIT),
    "min key": ({"ttl": MinKey()}, INHERIT),
    "max key": ({"ttl": MaxKey()}, INHERIT),
    "array": ({"ttl": [20]}, INHERIT),
    "document": ({"ttl": {"ttl": 20}}, INHERIT),
    "nested": ({"a": {"ttl": 20}}, INHERIT),
    "in an array": ({"a": [{"ttl": 20}]}, INHERIT),
    "TTL": ({"TTL": 20}, INHERIT),
    "Ttl": ({"Ttl": 20}, INHERIT),
    "dotted": ({"a": 1, "x.ttl": 20}, INHERIT),
    "beside Ttl": ({"Ttl": 5, "ttl": 20, "TTL": -1}, 20),
    "with space": ({"ttl ": 20}, INHERIT),
}

DEFAULTS = {"off": None, "-1": -1, "n": DEFAULT}
#: Write paths by which a document gets its value.
WRITE_PATHS = ("insert", "update", "replace", "upsert", "findAndModify", "pipeline")


def life(meaning, default):
    """Returns the seconds from the write to expiry, or None."""
    if default is None or meaning == NEVER:
        return None
    if meaning == INHERIT:
        return None if default == -1 else default
    return meaning


def bring(collection, write_path, id, fields):
    """Creates a document whose value was last written by `write_path`."""
    if write_path == "insert":
        collection.insert_one({"_id": id, **fields})
    elif write_path == "update":
        collection.insert_one({"_id": id, "ttl": 7, "TTL": 3})
        collection.update_one({"_id": id}, {"$unset": {"ttl": 1, "TTL": 1}})
        for field in fields.items():
            collection.update_one({"_id": id}, {"$set": dict([field])})
    elif write_path == "replace":
        collection.insert_one({"_id": id, "ttl": 7})
        collection.replace_one({"_id": id}, fields)
    elif write_path == "upsert":
        collection.replace_one({"_id": id}, fields, upsert=True)
    elif write_path == "findAndModify":
        collection.insert_one({"_id": id, "ttl": 7})
        collection.find_one_and_replace({"_id": id}, fields)
    else:
        collection.insert_one({"_id": id, "ttl": 7})
        literal = {"$literal": {"_id": id, **fields}}
        collection.update_one({"_id": id}, [{"$replaceWith": literal}])


def same(a, b):
    """Compares so that NaN equals itself and int64 differs from int32."""
    return repr(a) == repr(b)


class Values:
    """All values by all write paths under one default TTL, and when each was last visible."""

    def __init__(self, default):
        self.default = DEFAULTS[default]
        self.wrong = {}
        with Server() as server:
            self.server = server
            self.run()

    def each(self):
        for write_path in WRITE_PATHS:
            for name, (fields, meaning) in VALUES.items():
                if not (write_path == "update" and "dotted" in name):
                    yield write_path, name, fields, meaning

    def run(self):
        collection = self.server.client["v"]["v"]
        if self.default is not None:
            collection.create_index("_ts", expireAfterSeconds=self.default)
        self.server.advance(999)
        start = self.server.now_ms() // 1000
        for write_path, name, fields, _ in self.each():
            bring(collection, write_path, f"{write_path} {name}", fields)
        self.look(collection, start, start)
        instants = {1, 2, 3, 7, 20, DEFAULT, 2_147_483_647, END}
        for instant in sorted({max(0, at + by) for at in instants for by in (-1, 0, 1)}):
            at = (start + instant) * 1000
            if self.server.now_ms() < at:
                self.server.move_to(at)
                self.look(collection, start, start + instant)

    def look(self, collection, start, now):
        seen = {row["_id"]: row for row in collection.find()}
        for write_path, name, fields, meaning in self.each():
            dies = life(meaning, self.default)
            alive = dies is None or now < start + dies
            id = f"{write_path} {name}"
            found = seen.get(id)
            if (found is not None) != alive:
                self.fail(write_path, name, f"{'dead' if alive else 'alive'} at {now - start}")
            elif found is not None and not same(found, {"_id": id, **fields}):
                self.fail(write_path, name, f"stored as {found}")
        assert collection.estimated_document_count() == len(seen)
        assert collection.count_documents({}) == len(seen)

    def fail(self, write_path, name, what):
        self.wrong.setdefault((write_path, name), what)


@pytest.fixture(scope="module")
def values():
    return {default: Values(default) for default in DEFAULTS}


@pytest.mark.parametrize("default", DEFAULTS)
@pytest.mark.parametrize("value", VALUES)
def test_value(values, default, value):
    wrong = {
        write_path: text
        for (write_path, name), text in values[default].wrong.items()
        if name == value
    }
    assert wrong == {}


def test_a_value_written_while_off_counts_once_it_is_on():
    with Server() as server:
        collection = server.client["v"]["v"]
        start = server.now_ms() // 1000
        for name, (fields, _) in VALUES.items():
            collection.insert_one({"_id": name, **fields})
        server.advance(5_000)
        collection.create_index("_ts", expireAfterSeconds=DEFAULT)
        for instant in (5, 19, 20, DEFAULT - 1, DEFAULT):
            server.move_to((start + instant) * 1000)
            alive = {
                name
                for name, (_, meaning) in VALUES.items()
                if (dies := life(meaning, DEFAULT)) is None or instant < dies
            }
            assert set(collection.distinct("_id")) == alive


def test_the_edges_of_32_bit_time():
    """2038-01-19 and 2106-02-07 need no special treatment."""
    with Server(flags=["--reap-delay", "0"]) as server:
        collection = server.client["v"]["v"]
        collection.create_index("_ts", expireAfterSeconds=20)
        collection.create_index("at", expireAfterSeconds=0)
        for edge in (2**31, 2**32, 2**33):
            server.move_to((edge - 10) * 1000)
            at = date((edge + 5) * 1000 + 1)
            collection.insert_many(
                [
                    {"_id": "inherit"},
                    {"_id": "max", "ttl": 2**31 - 1},
                    {"_id": "at", "at": at},
                    {"_id": "pinned", "ttl": -1},
                    {"_id": "ttl", "ttl": 12},
                ]
            )
            for instant, dead in (
                (1_999, set()),
                (2_000, {"ttl"}),
                (5_000, {"ttl"}),
                (5_001, {"ttl", "at"}),
                (9_999, {"ttl", "at"}),
                (10_000, {"ttl", "at", "inherit"}),
            ):
                server.move_to(edge * 1000 + instant)
                server.wait_for_passes(2)
                everything = {"inherit", "max", "at", "pinned", "ttl"}
                assert set(collection.distinct("_id")) == everything - dead, (edge, instant)
            collection.delete_many({})


def test_texts_of_a_refused_ts():
    """A root `_ts` is reserved, and the message names it."""
    with Server() as server:
        collection = server.client["v"]["v"]
        collection.insert_one({"_id": 1})
        for attempt in (
            lambda: collection.insert_one({"_ts": 5}),
            lambda: collection.update_one({"_id": 1}, {"$set": {"_ts": 5}}),
            lambda: collection.update_one({"_id": 1}, [{"$set": {"_ts": 5}}]),
            lambda: collection.replace_one({"_id": 1}, {"_ts": 5}),
            lambda: collection.update_one({"_id": 2}, {"$setOnInsert": {"_ts": 5}}, upsert=True),
            lambda: collection.find_one_and_update({"_id": 1}, {"$inc": {"_ts": 5}}),
        ):
            with pytest.raises(Exception, match=re.escape("_ts")) as refused:
                attempt()
            error = refused.value
            errors = (error.details or {}).get("writeErrors", [])
            codes = [error.code] + [one["code"] for one in errors]
            assert 2 in codes
        assert list(collection.find()) == [{"_id": 1}]
