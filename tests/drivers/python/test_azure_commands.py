"""Azure Cosmos DB's own commands, in the order in which its tutorials send them: a collection with
a shard key and throughput, documents, and the charge of an operation."""

import re

import pytest
from bson import SON, Int64
from pymongo import InsertOne
from pymongo.errors import BulkWriteError, OperationFailure, PyMongoError


def action(db, name, **arguments):
    """Returns the reply without the times that every reply has."""
    reply = db.command(SON([("customAction", name), *arguments.items()]))
    times = ("$clusterTime", "operationTime")
    return {name: value for name, value in reply.items() if name not in times}


def charge(db, **options):
    reply = db.command("getLastRequestStatistics", **options)
    assert reply["_t"] == "GetRequestStatisticsResponse"
    # Documented programs cast these to a double.
    assert isinstance(reply["RequestCharge"], float)
    assert isinstance(reply["RequestDurationInMilliSeconds"], float)
    return reply["CommandName"], reply["RequestCharge"]


def test_create_fill_and_read_the_charge(db, clock):
    assert action(db, "CreateDatabase", offerThroughput=1000) == {"ok": 1.0}
    primary = {"key": {"_id": 1}, "name": "_id_1"}
    made = action(
        db,
        "CreateCollection",
        collection="students",
        offerThroughput=Int64(400),
        shardKey="university",
        indexes=[primary, {"key": {"name": 1}, "name": "by_name"}],
        defaultTtl=3600,
    )
    assert made == {"ok": 1.0}
    shown = action(db, "GetCollection", collection="students", showIndexes=True)
    assert shown == {
        "database": db.name,
        "collection": "students",
        "shardKeyDefinition": {"university": "hashed"},
        "provisionedThroughput": 400,
        "defaultTtl": 3600,
        "indexes": [
            {"v": 1, "key": {"_id": 1}, "name": "_id_", "ns": f"{db.name}.students"},
            {"v": 1, "key": {"name": 1}, "name": "by_name", "ns": f"{db.name}.students"},
            {
                "v": 1,
                "key": {"_ts": 1},
                "name": "_ts_1",
                "ns": f"{db.name}.students",
                "expireAfterSeconds": 3600,
            },
        ],
        "ok": 1.0,
    }
    students = db["students"]
    with db.client.start_session() as session:
        students.insert_one({"_id": 1, "university": "a", "name": "n"}, session=session)
        assert charge(db, session=session) == ("insert", 5.0)
        assert students.find_one({"_id": 1}, session=session)["name"] == "n"
        assert charge(db, session=session) == ("find", 1.0)
    scaled = {"maxThroughput": 4000}
    assert action(db, "UpdateCollection", collection="students", autoScaleSettings=scaled)
    shown = action(db, "GetCollection", collection="students")
    assert (shown["provisionedThroughput"], shown["autoScaleSettings"]) == (400, scaled)
    assert action(db, "GetDatabase")["provisionedThroughput"] == 1000
    clock.advance(3599)
    assert students.count_documents({}) == 1
    clock.advance(1)
    assert students.count_documents({}) == 0


def test_shards(db):
    db.client.admin.command("enableSharding", db.name)
    name = f"{db.name}.coll"
    for on in (db, db.client.admin):
        reply = on.command("shardCollection", name, key={"university": "hashed"})
        assert (reply["_t"], reply["collectionsharded"]) == ("ShardCollectionResponse", name)
    with pytest.raises(OperationFailure) as refused:
        db.command("shardCollection", name, key={"other": "hashed"})
    assert refused.value.code == 23
    db.create_collection("made", shardKey="a.b")
    shown = action(db, "GetCollection", collection="made")
    assert shown["shardKeyDefinition"] == {"a.b": "hashed"}
    assert db.command("reIndex", "made")["nIndexes"] == 1


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("Nothing", {}, 59),
        ("CreateCollection", {}, 40414),
        ("CreateCollection", {"collection": "made", "offerThroughput": 399}, 2),
        ("CreateCollection", {"collection": "made", "defaultTtl": 0}, 2),
        ("GetCollection", {"collection": "made"}, 26),
        ("GetDatabase", {}, 26),
    ],
)
def test_refuses(db, name, arguments, code):
    with pytest.raises(OperationFailure) as refused:
        action(db, name, **arguments)
    assert refused.value.code == code
    assert db.list_collection_names() == []


def retry_after(text):
    return int(re.search(r"RetryAfterMs=(\d+),", text).group(1))


def test_errors_of_throughput_can_be_read(db):
    """The shape of the error is tested by the server's own tests; here drivers have to pass it on,
    if the server enforces throughput."""
    action(db, "CreateCollection", collection="small", offerThroughput=400)
    writes = [InsertOne({"_id": n}) for n in range(1000)]
    try:
        written = db["small"].bulk_write(writes).inserted_count
    except BulkWriteError as error:
        first = error.details["writeErrors"][0]
        assert (first["code"], error.details["nInserted"]) == (16500, first["index"])
        assert retry_after(first["errmsg"]) > 0
    except PyMongoError as error:
        pytest.fail(str(error))
    else:
        assert written == len(writes)
