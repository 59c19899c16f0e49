"""The TTL index on `_ts`: created, listed, changed, refused and dropped."""

import pytest
from bson import SON, Int64
from pymongo import ASCENDING, IndexModel
from pymongo.errors import OperationFailure


def create_raw(coll, seconds, **more):
    spec = {"key": {"_ts": 1}, "name": "_ts_1", "expireAfterSeconds": seconds, **more}
    return coll.database.command("createIndexes", coll.name, indexes=[spec])


def change(coll, **index):
    return coll.database.command("collMod", coll.name, index=index)


def assert_seed_reply(reply):
    assert reply["_t"] == "CreateIndexesResponse"
    assert reply["ok"] == 1
    assert reply["createdCollectionAutomatically"] is True
    assert reply["numIndexesBefore"] == 1
    assert reply["numIndexesAfter"] == 2


def assert_listed(coll, seconds):
    assert list(coll.list_indexes()) == [
        SON([("v", 2), ("key", SON([("_id", 1)])), ("name", "_id_")]),
        SON(
            [
                ("v", 2),
                ("key", SON([("_ts", 1)])),
                ("name", "_ts_1"),
                ("expireAfterSeconds", seconds),
            ]
        ),
    ]


def test_create_index_helper(coll, replies):
    assert coll.create_index([("_ts", ASCENDING)], expireAfterSeconds=10) == "_ts_1"
    assert_seed_reply(replies.last("createIndexes"))
    assert_listed(coll, 10)
    assert coll.index_information()["_ts_1"] == {
        "v": 2,
        "key": [("_ts", 1)],
        "expireAfterSeconds": 10,
    }


def test_create_indexes_helper_with_a_model(coll, replies):
    assert coll.create_indexes([IndexModel("_ts", expireAfterSeconds=10)]) == ["_ts_1"]
    assert_seed_reply(replies.last("createIndexes"))
    assert_listed(coll, 10)


@pytest.mark.parametrize(
    "seconds", [10, Int64(10), 10.0], ids=["int32", "int64 as Java", "double as C#"]
)
def test_raw_command(coll, seconds):
    assert_seed_reply(create_raw(coll, seconds))
    assert_listed(coll, 10)


def test_counts_are_true_for_a_collection_that_was_there(coll):
    coll.insert_one({"_id": 1})
    coll.create_index("city")
    reply = create_raw(coll, 10)
    assert reply["createdCollectionAutomatically"] is False
    assert (reply["numIndexesBefore"], reply["numIndexesAfter"]) == (2, 3)


def test_minus_one_turns_ttl_on_without_a_default(coll, clock):
    coll.create_index("_ts", expireAfterSeconds=-1)
    assert_listed(coll, -1)
    coll.insert_many([{"_id": "stays"}, {"_id": "goes", "ttl": 20}])
    clock.advance(20)
    assert coll.distinct("_id") == ["stays"]


def test_the_same_again_is_a_no_op_and_another_value_a_conflict(coll):
    coll.create_index("_ts", expireAfterSeconds=10)
    reply = create_raw(coll, 10)
    assert (reply["numIndexesBefore"], reply["numIndexesAfter"]) == (2, 2)
    with pytest.raises(OperationFailure) as error:
        coll.create_index("_ts", expireAfterSeconds=11)
    assert error.value.code == 85
    assert_listed(coll, 10)


def test_values_that_mean_nothing_are_refused(coll, expected):
    for case in expected["refusedExpireAfterSeconds"]:
        with pytest.raises(OperationFailure) as error:
            create_raw(coll, case["value"])
        assert error.value.code == 67, case
        assert error.value.details["codeName"] == "CannotCreateIndex"
    assert "_ts_1" not in coll.index_information()


def test_coll_mod_changes_the_default(coll, clock):
    coll.create_index("_ts", expireAfterSeconds=10)
    coll.insert_one({"_id": 1})

    reply = change(coll, keyPattern={"_ts": 1}, expireAfterSeconds=30)
    assert (reply["expireAfterSeconds_old"], reply["expireAfterSeconds_new"]) == (10, 30)
    assert_listed(coll, 30)
    clock.advance(29)
    assert coll.find_one() == {"_id": 1}
    clock.advance(1)
    assert coll.find_one() is None

    coll.insert_one({"_id": 2})
    change(coll, name="_ts_1", expireAfterSeconds=-1)
    assert_listed(coll, -1)
    clock.advance(1_000_000)
    assert coll.distinct("_id") == [2]

    change(coll, name="_ts_1", expireAfterSeconds=5)
    assert coll.count_documents({}) == 0, "a shorter default kills at once"


def test_coll_mod_refuses_what_it_must(coll):
    coll.create_index("_ts", expireAfterSeconds=10)
    for seconds in (0, -2, float("nan")):
        with pytest.raises(OperationFailure) as error:
            change(coll, name="_ts_1", expireAfterSeconds=seconds)
        assert error.value.code == 72, seconds
    with pytest.raises(OperationFailure) as error:
        change(coll, name="no_such_index", expireAfterSeconds=10)
    assert error.value.code == 27
    assert_listed(coll, 10)


def test_dropping_turns_ttl_off_and_nothing_comes_back(coll, clock):
    coll.create_index("_ts", expireAfterSeconds=10)
    coll.insert_many([{"_id": "dead"}, {"_id": "explicit", "ttl": 20}])
    clock.advance(10)
    coll.insert_one({"_id": "later"})

    coll.drop_index("_ts_1")
    assert list(coll.index_information()) == ["_id_"]
    clock.advance(1_000_000)
    assert sorted(coll.distinct("_id")) == ["explicit", "later"]

    coll.create_index("_ts", expireAfterSeconds=-1)
    assert coll.distinct("_id") == ["later"], "its own ttl is interpreted again"
    change(coll, name="_ts_1", expireAfterSeconds=2_000_000)
    assert coll.distinct("_id") == ["later"]


def test_turning_it_on_applies_to_documents_that_are_there(coll, clock):
    coll.insert_one({"_id": "old"})
    clock.advance(10)
    coll.insert_one({"_id": "young"})
    coll.create_index("_ts", expireAfterSeconds=10)
    assert coll.distinct("_id") == ["young"]
