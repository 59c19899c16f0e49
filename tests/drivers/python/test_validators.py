"""Validators of collections through this driver."""

import pytest
from pymongo import InsertOne, ReturnDocument, UpdateOne
from pymongo.errors import BulkWriteError, OperationFailure, WriteError

#: A parcel weighs at most 31.5 kg and lives for at most an hour.
PARCEL = {
    "$jsonSchema": {
        "title": "parcel",
        "description": "what a courier carries",
        "required": ["kg", "street"],
        "properties": {
            "kg": {"bsonType": "number", "maximum": 31.5},
            "street": {"bsonType": "string", "minLength": 4},
            "marks": {"uniqueItems": True},
            "ttl": {"bsonType": "int", "maximum": 3600},
        },
    }
}
GOOD = {"kg": 2, "street": "Mill Lane"}


@pytest.fixture
def parcels(coll):
    coll.drop()
    return coll.database.create_collection(coll.name, validator=PARCEL)


def code(write, *arguments, **named):
    """Returns the code of the error of a write."""
    with pytest.raises(OperationFailure) as error:
        write(*arguments, **named)
    return error.value.code


def failed(operator, reason, value, **more):
    """Returns the description of a rule that a value does not meet."""
    rule = PARCEL["$jsonSchema"]["properties"]
    specified = next(part[operator] for part in rule.values() if operator in part)
    return {
        "operatorName": operator,
        "specifiedAs": {operator: specified},
        "reason": reason,
        "consideredValue": value,
        **more,
    }


def test_a_refusal_describes_what_is_wrong(parcels):
    with pytest.raises(WriteError) as error:
        parcels.insert_one({"_id": "p1", "kg": 40, "marks": ["fragile", "up", "fragile"]})
    assert error.value.code == 121
    info = error.value.details["errInfo"]
    assert info["failingDocumentId"] == "p1"
    duplicate = failed(
        "uniqueItems",
        "found a duplicate item",
        ["fragile", "up", "fragile"],
        duplicatedValue="fragile",
    )
    assert info["details"] == {
        "operatorName": "$jsonSchema",
        "title": "parcel",
        "description": "what a courier carries",
        "schemaRulesNotSatisfied": [
            {
                "operatorName": "properties",
                "propertiesNotSatisfied": [
                    {"propertyName": "kg", "details": [failed("maximum", "comparison failed", 40)]},
                    {"propertyName": "marks", "details": [duplicate]},
                ],
            },
            {
                "operatorName": "required",
                "specifiedAs": {"required": ["kg", "street"]},
                "missingProperties": ["street"],
            },
        ],
    }
    assert list(parcels.find()) == []


def test_updates_are_checked_unless_they_bypass(parcels):
    parcels.insert_one({"_id": 7, **GOOD})
    assert code(parcels.update_one, {"_id": 7}, {"$mul": {"kg": 100}}) == 121
    assert code(parcels.replace_one, {"_id": 7}, {"kg": 1}) == 121
    assert code(parcels.update_one, {"_id": 8}, {"$set": {"kg": 1}}, upsert=True) == 121
    assert code(parcels.find_one_and_update, {"_id": 7}, {"$unset": {"street": 1}}) == 121
    assert list(parcels.find()) == [{"_id": 7, **GOOD}]
    after = parcels.find_one_and_update(
        {"_id": 7},
        {"$mul": {"kg": 100}},
        return_document=ReturnDocument.AFTER,
        bypassDocumentValidation=True,
    )
    assert after == {"_id": 7, **GOOD, "kg": 200}


def test_a_bulk_write_reports_each_failure(parcels):
    writes = [
        InsertOne({"_id": 1, **GOOD}),
        InsertOne({"_id": 2, "kg": 1, "street": "x"}),
        UpdateOne({"_id": 1}, {"$set": {"kg": 99}}),
        InsertOne({"_id": 3, **GOOD}),
    ]
    with pytest.raises(BulkWriteError) as error:
        parcels.bulk_write(writes, ordered=False)
    errors = error.value.details["writeErrors"]
    assert [(it["index"], it["code"]) for it in errors] == [(1, 121), (2, 121)]
    assert [it["errInfo"]["failingDocumentId"] for it in errors] == [2, 1]
    assert [it["_id"] for it in parcels.find().sort("_id", 1)] == [1, 3]
    parcels.bulk_write(writes[1:3], bypass_document_validation=True)
    assert [it["_id"] for it in parcels.find(PARCEL)] == [3]


def test_the_level_and_the_action_are_changed(parcels):
    parcels.insert_one({"_id": 1}, bypass_document_validation=True)
    change = parcels.database.command
    change("collMod", parcels.name, validationLevel="moderate")
    parcels.update_one({"_id": 1}, {"$set": {"note": "lost"}})
    assert code(parcels.insert_one, {"_id": 2}) == 121
    change("collMod", parcels.name, validationAction="warn")
    parcels.insert_one({"_id": 2})
    options = parcels.options()
    assert options["validator"] == PARCEL
    assert (options["validationLevel"], options["validationAction"]) == ("moderate", "warn")
    wrong = {"$jsonSchema": {"properties": {"kg": {"type": "integer"}}}}
    assert code(change, "collMod", parcels.name, validator=wrong) == 9
    assert parcels.options() == options
    change("collMod", parcels.name, validator={"kg": {"$gt": 0}}, validationAction="error")
    assert code(parcels.insert_one, {"_id": 3, "kg": 0}) == 121
    change("collMod", parcels.name, validator={})
    parcels.insert_one({"_id": 3, "kg": 0})


def test_a_refused_write_does_not_change_when_a_document_expires(parcels, clock):
    parcels.create_index("_ts", expireAfterSeconds=20)
    parcels.insert_one({"_id": 1, **GOOD})
    parcels.insert_one({"_id": 2, **GOOD, "ttl": 30})
    clock.advance(10)
    assert code(parcels.update_one, {"_id": 1}, {"$set": {"kg": 50}}) == 121
    assert code(parcels.update_one, {"_id": 2}, {"$set": {"ttl": 4000}}) == 121
    clock.advance(10)
    assert [it["_id"] for it in parcels.find()] == [2]
    # An expired document does not count as the version that an upsert replaces.
    assert code(parcels.update_one, {"_id": 1}, {"$set": {"kg": 3}}, upsert=True) == 121
    clock.advance(10)
    assert parcels.count_documents({}) == parcels.estimated_document_count() == 0


def test_queries_by_schema(coll):
    depths = [{"_id": 1, "depth": 3.5}, {"_id": 2, "depth": "deep"}, {"_id": 3}]
    coll.insert_many(depths)
    numbers = {"$jsonSchema": {"properties": {"depth": {"type": "number"}}}}
    assert [it["_id"] for it in coll.find(numbers).sort("_id", 1)] == [1, 3]
    counted = list(coll.aggregate([{"$match": {"$nor": [numbers]}}, {"$count": "n"}]))
    assert counted == [{"n": 1}]
