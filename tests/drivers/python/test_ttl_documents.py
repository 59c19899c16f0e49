"""Documents with their own `ttl`: the examples, the matrix, and meaningless values."""

import pytest
from bson import Int64


def assert_everywhere(coll, names):
    """Checks that every read path returns the same documents."""
    names = sorted(names)
    assert sorted(d["_id"] for d in coll.find()) == names
    assert sorted(d["_id"] for d in coll.find({"location": "Paris"})) == names
    assert coll.count_documents({}) == len(names)
    assert coll.count_documents({"location": "Paris"}) == len(names)
    assert coll.estimated_document_count() == len(names)
    assert sorted(coll.distinct("_id")) == names
    assert sorted(d["_id"] for d in coll.aggregate([{"$match": {"location": "Paris"}}])) == names
    groups = list(coll.aggregate([{"$group": {"_id": None, "n": {"$sum": 1}}}]))
    assert groups == ([{"_id": None, "n": len(names)}] if names else [])
    assert (coll.find_one({"location": "Paris"}) is not None) == bool(names)


VALID = [
    {"_id": "double", "id": 1, "location": "Paris", "ttl": 20.0},
    {"_id": "int32", "id": 1, "location": "Paris", "ttl": 20},
    {"_id": "int64", "id": 1, "location": "Paris", "ttl": Int64(20)},
]
INVALID = [
    {"_id": "fraction", "id": 1, "location": "Paris", "ttl": 20.5},
    {"_id": "too large", "id": 1, "location": "Paris", "ttl": Int64(2147483649)},
]


def test_valid_values_die_after_20_and_invalid_ones_after_10_seconds(coll, clock):
    coll.create_index("_ts", expireAfterSeconds=10)
    coll.insert_many(VALID + INVALID)
    valid, invalid = ([d["_id"] for d in docs] for docs in (VALID, INVALID))

    clock.advance(9)
    assert_everywhere(coll, valid + invalid)
    clock.advance(1)
    assert_everywhere(coll, valid)
    for name in invalid:
        assert coll.find_one({"_id": name}) is None
    clock.advance(9)
    assert_everywhere(coll, valid)
    clock.advance(1)
    assert_everywhere(coll, [])


def test_values_keep_their_type(coll):
    coll.create_index("_ts", expireAfterSeconds=10)
    coll.insert_many(VALID + INVALID)
    types = {d["_id"]: d["t"] for d in coll.aggregate([{"$project": {"t": {"$type": "$ttl"}}}])}
    assert types == {
        "double": "double",
        "int32": "int",
        "int64": "long",
        "fraction": "double",
        "too large": "long",
    }


def test_the_deadline_is_exact_to_the_millisecond(coll, clock):
    coll.create_index("_ts", expireAfterSeconds=10)
    coll.insert_one({"_id": 1, "location": "Paris"})
    clock.advance(9.999)
    assert_everywhere(coll, [1])
    clock.advance(0.001)
    assert_everywhere(coll, [])


def test_the_clock_moves_through_the_admin_address_too(coll, clock, post_clock):
    coll.create_index("_ts", expireAfterSeconds=10)
    coll.insert_one({"_id": 1, "location": "Paris"})
    post_clock({"advance_seconds": 9})
    assert_everywhere(coll, [1])
    assert post_clock({"advance_seconds": 1})["mode"] == "manual"
    assert_everywhere(coll, [])


@pytest.mark.parametrize("cell", range(9))
def test_matrix(coll, clock, expected, cell):
    case = expected["matrix"][cell]
    if case["default"] is not None:
        coll.create_index("_ts", expireAfterSeconds=case["default"])
    document = {"_id": 1, "location": "Paris"}
    if case["ttl"] is not None:
        document["ttl"] = case["ttl"]
    coll.insert_one(document)

    if case["diesAfter"] is None:
        clock.advance(100 * 365 * 86400)
        assert_everywhere(coll, [1])
        assert coll.find_one() == document
    else:
        clock.advance(case["diesAfter"] - 1)
        assert_everywhere(coll, [1])
        clock.advance(1)
        assert_everywhere(coll, [])


def test_values_without_meaning_are_stored_and_the_default_counts(coll, clock, expected):
    coll.create_index("_ts", expireAfterSeconds=10)
    documents = [
        {"_id": n, "location": "Paris", **fields}
        for n, fields in enumerate(expected["ttlWithoutMeaning"])
    ]
    coll.insert_many(documents)
    clock.advance(9)
    found = list(coll.find().sort("_id", 1))
    assert repr(found) == repr(documents), "each is stored as it is (repr, for NaN is not itself)"
    clock.advance(1)
    assert_everywhere(coll, [])


def test_the_largest_ttl_outlives_2038(coll, clock):
    coll.create_index("_ts", expireAfterSeconds=10)
    coll.insert_one({"_id": 1, "location": "Paris", "ttl": 2147483647})
    clock.advance(2147483646)
    assert_everywhere(coll, [1])
    clock.advance(1)
    assert_everywhere(coll, [])
