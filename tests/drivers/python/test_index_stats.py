"""`$indexStats` through the driver: its result for each index, and stages after it."""

import pytest
from bson import Int64
from pymongo.errors import OperationFailure


def uses(coll, *stages):
    return list(coll.aggregate([{"$indexStats": {}}, *stages]))


def ops(coll):
    return {it["name"]: it["accesses"]["ops"] for it in uses(coll)}


@pytest.fixture
def filled(coll, clock):
    coll.insert_many([{"_id": n, "a": n % 10, "b": -n} for n in range(100)])
    clock.advance(60)
    coll.create_index("a")
    coll.create_index([("b", -1)], unique=True, name="by_b")
    return coll


def test_each_index_has_a_document(filled, clock):
    now = clock.now()
    assert filled.find_one({"_id": 7})["b"] == -7
    assert len(list(filled.find({"a": 3}))) == 10
    assert len(list(filled.find({"a": 4}, batch_size=3))) == 10
    found = uses(filled)
    assert [it["name"] for it in found] == list(filled.index_information())
    assert [dict(it["spec"]) for it in found] == [dict(it) for it in filled.list_indexes()]
    assert [it["key"] for it in found] == [{"_id": 1}, {"a": 1}, {"b": -1}]
    assert [it["accesses"]["ops"] for it in found] == [1, 2, 0]
    assert all(isinstance(it["accesses"]["ops"], (int, Int64)) for it in found)
    # The collection was created a minute before its other indexes.
    since = [it["accesses"]["since"] for it in found]
    assert (since[1] - since[0]).total_seconds() >= 60
    assert since[0] < since[1] <= since[2] <= now
    assert len({it["host"] for it in found}) == 1
    assert all(set(it) == {"name", "key", "host", "accesses", "spec"} for it in found)


def test_stages_work_on_the_documents(filled):
    for _ in range(3):
        assert filled.count_documents({"a": 3}) == 10
    assert [it["name"] for it in uses(filled, {"$match": {"key.b": {"$exists": True}}})] == ["by_b"]
    most = uses(
        filled,
        {"$sort": {"accesses.ops": -1}},
        {"$limit": 1},
        {"$project": {"_id": 0, "name": 1, "ops": "$accesses.ops"}},
    )
    assert most == [{"name": "a_1", "ops": 3}]
    unused = uses(filled, {"$match": {"accesses.ops": 0}}, {"$count": "n"})
    assert unused == [{"n": 2}]


def test_what_counts(filled):
    steps = [
        (lambda: filled.find_one_and_update({"a": 1}, {"$set": {"c": 1}}), "a_1"),
        (lambda: filled.update_many({"a": 1}, {"$set": {"c": 2}}), "a_1"),
        (lambda: filled.delete_one({"b": -50}), "by_b"),
        (lambda: filled.distinct("c", {"a": 1}), "a_1"),
        (lambda: list(filled.aggregate([{"$match": {"b": {"$lt": -90}}}])), "by_b"),
        (lambda: list(filled.find().sort("_id", -1).limit(2)), "_id_"),
        (lambda: filled.replace_one({"_id": 3}, {"a": 3, "b": -3}), "_id_"),
        (lambda: filled.insert_one({"_id": 1000, "b": 1}), None),
        (lambda: list(filled.find({"c": 5})), None),
        (lambda: filled.find({"a": 1}).explain(), None),
    ]
    for at, (step, index) in enumerate(steps):
        before = ops(filled)
        step()
        want = {name: n + (name == index) for name, n in before.items()}
        assert ops(filled) == want, at


def test_an_index_that_is_made_again_begins_anew(filled, db):
    for _ in range(2):
        filled.find_one({"a": 3})
    filled.rename("other")
    other = db["other"]
    db.command("collMod", "other", index={"name": "a_1", "hidden": True})
    db.command("collMod", "other", index={"name": "a_1", "hidden": False})
    assert ops(other)["a_1"] == 2
    other.drop_index("a_1")
    assert set(ops(other)) == {"_id_", "by_b"}
    other.create_index("a")
    assert ops(other)["a_1"] == 0


def test_what_is_refused(filled, db):
    assert list(db["none"].aggregate([{"$indexStats": {}}])) == []
    for pipeline, code in (
        ([{"$indexStats": {"x": 1}}], 28803),
        ([{"$indexStats": None}], 28803),
        ([{"$match": {}}, {"$indexStats": {}}], 40602),
        ([{"$facet": {"x": [{"$indexStats": {}}]}}], 40600),
    ):
        with pytest.raises(OperationFailure) as refused:
            filled.aggregate(pipeline)
        assert refused.value.code == code
    with pytest.raises(OperationFailure) as refused:
        db.aggregate([{"$indexStats": {}}])
    assert refused.value.code == 73
