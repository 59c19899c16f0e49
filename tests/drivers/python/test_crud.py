"""The common operations through this driver."""

import pytest
from pymongo import DeleteOne, InsertOne, MongoClient, ReplaceOne, ReturnDocument, UpdateOne
from pymongo.errors import BulkWriteError


@pytest.fixture
def numbers(coll):
    coll.insert_many({"_id": n, "group": n % 3, "name": f"n{n:03}"} for n in range(250))
    return coll


def test_insert_many_ordered_stops_at_a_duplicate(coll):
    with pytest.raises(BulkWriteError) as error:
        coll.insert_many([{"_id": 1}, {"_id": 2}, {"_id": 1}, {"_id": 3}])
    details = error.value.details
    assert details["nInserted"] == 2
    assert [(e["index"], e["code"]) for e in details["writeErrors"]] == [(2, 11000)]
    assert details["writeErrors"][0]["keyValue"] == {"_id": 1}
    assert coll.distinct("_id") == [1, 2]


def test_insert_many_unordered_goes_on(coll):
    with pytest.raises(BulkWriteError) as error:
        coll.insert_many(
            [{"_id": 1}, {"_id": 1}, {"_id": 2}, {"_id": 2}, {"_id": 3}], ordered=False
        )
    assert error.value.details["nInserted"] == 3
    assert [e["index"] for e in error.value.details["writeErrors"]] == [1, 3]
    assert coll.distinct("_id") == [1, 2, 3]


def test_bulk_write(coll):
    result = coll.bulk_write(
        [
            InsertOne({"_id": 1, "a": 1}),
            InsertOne({"_id": 2, "a": 2}),
            UpdateOne({"_id": 1}, {"$inc": {"a": 10}}),
            ReplaceOne({"_id": 2}, {"b": 2}),
            UpdateOne({"_id": 3}, {"$set": {"c": 3}}, upsert=True),
            DeleteOne({"_id": 2}),
        ]
    )
    assert (result.inserted_count, result.modified_count, result.deleted_count) == (2, 2, 1)
    assert result.upserted_ids == {4: 3}
    assert list(coll.find().sort("_id", 1)) == [{"_id": 1, "a": 11}, {"_id": 3, "c": 3}]


def test_a_cursor_over_several_batches(numbers):
    assert [d["_id"] for d in numbers.find(batch_size=7).sort("_id", 1)] == list(range(250))
    assert len(list(numbers.find().batch_size(2).limit(5))) == 5
    assert len(list(numbers.aggregate([{"$match": {}}], batchSize=7))) == 250
    with numbers.find(batch_size=2) as cursor:
        next(cursor)
        assert cursor.alive


def test_sort_skip_limit_and_projection(numbers):
    found = numbers.find({"group": 1}, {"name": 1, "_id": 0}).sort("name", -1).skip(1).limit(2)
    assert list(found) == [{"name": "n244"}, {"name": "n241"}]
    numbers.create_index([("group", 1), ("name", -1)])
    found = numbers.find({"group": 1}, {"name": 1, "_id": 0}).sort("name", -1).skip(1).limit(2)
    assert list(found) == [{"name": "n244"}, {"name": "n241"}]


def test_update_many_and_delete_many(numbers):
    result = numbers.update_many({"group": 0}, {"$set": {"seen": True}, "$push": {"tags": "x"}})
    assert (result.matched_count, result.modified_count) == (84, 84)
    assert numbers.count_documents({"seen": True, "tags": "x"}) == 84
    assert numbers.delete_many({"group": {"$in": [1, 2]}}).deleted_count == 166


def test_find_one_and_update(numbers):
    before = numbers.find_one_and_update({"_id": 5}, {"$set": {"name": "five"}})
    assert before["name"] == "n005"
    after = numbers.find_one_and_update(
        {"group": 2},
        {"$inc": {"hits": 1}},
        sort=[("_id", -1)],
        projection={"hits": 1},
        return_document=ReturnDocument.AFTER,
    )
    assert after == {"_id": 248, "hits": 1}


def test_aggregate_group_and_lookup(numbers, db):
    db.groups.insert_many([{"_id": 0, "title": "zero"}, {"_id": 1, "title": "one"}])
    result = numbers.aggregate(
        [
            {
                "$group": {
                    "_id": "$group",
                    "n": {"$sum": 1},
                    "first": {"$min": "$_id"},
                    "top": {"$max": "$name"},
                }
            },
            {"$lookup": {"from": "groups", "localField": "_id", "foreignField": "_id", "as": "g"}},
            {"$set": {"title": {"$ifNull": [{"$first": "$g.title"}, "none"]}}},
            {"$unset": "g"},
            {"$sort": {"_id": 1}},
        ]
    )
    assert list(result) == [
        {"_id": 0, "n": 84, "first": 0, "top": "n249", "title": "zero"},
        {"_id": 1, "n": 83, "first": 1, "top": "n247", "title": "one"},
        {"_id": 2, "n": 83, "first": 2, "top": "n248", "title": "none"},
    ]


def test_counts_and_distinct(numbers):
    assert numbers.estimated_document_count() == 250
    assert numbers.count_documents({"_id": {"$gte": 200}}) == 50
    assert sorted(numbers.distinct("group", {"_id": {"$lt": 2}})) == [0, 1]


def test_an_explicit_session(client, coll):
    with client.start_session() as session:
        coll.insert_one({"_id": 1}, session=session)
        assert coll.find_one({"_id": 1}, session=session) == {"_id": 1}
        assert len(list(coll.find(session=session, batch_size=1))) == 1


@pytest.mark.parametrize("compressor", ["zlib", "snappy", "zstd"])
def test_compression(uri, coll, compressor):
    with MongoClient(uri, compressors=compressor) as client:
        text = "compressible " * 10_000
        compressed = client[coll.database.name][coll.name]
        compressed.insert_many([{"_id": n, "text": text} for n in range(20)])
        assert all(d["text"] == text for d in compressed.find(batch_size=3))
        assert client.admin.command("hello", compression=[compressor])["compression"] == [
            compressor
        ]
    assert coll.count_documents({}) == 20


def test_databases_and_collections_are_listed_and_dropped(client, db):
    db.create_collection("made")
    db.other.insert_one({})
    assert sorted(db.list_collection_names()) == ["made", "other"]
    assert {c["name"]: c["type"] for c in db.list_collections()} == {
        "made": "collection",
        "other": "collection",
    }
    assert db.name in client.list_database_names()
    assert db.name in [d["name"] for d in client.list_databases()]
    db.drop_collection("made")
    assert db.list_collection_names() == ["other"]
    client.drop_database(db.name)
    assert db.name not in client.list_database_names()
    assert db.list_collection_names() == []


def test_the_ttl_passes_of_server_status_grow(client, coll):
    import time

    coll.create_index("_ts", expireAfterSeconds=10)

    def passes():
        return client.admin.command("serverStatus")["metrics"]["ttl"]["passes"]

    before, give_up = passes(), time.monotonic() + 30
    while passes() < before + 2:
        assert time.monotonic() < give_up, "the housekeeping does not run"
        time.sleep(0.05)
