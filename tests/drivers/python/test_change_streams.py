"""Change streams: writes and expirations as events, resumed after any of them."""

import pytest


@pytest.fixture
def coll(db):
    db.coll.create_index("_ts", expireAfterSeconds=-1)
    return db.coll


def drain(stream):
    """Returns the events that the stream has so far."""
    events = []
    while (event := stream.try_next()) is not None:
        events.append(event)
    return events


def kinds(events):
    return [event["operationType"] for event in events]


def test_writes_and_expirations_are_events(coll, clock):
    clock.to_whole_second()
    with coll.watch(full_document="updateLookup", max_await_time_ms=50) as stream:
        coll.insert_one({"_id": 1, "n": 1, "ttl": 5})
        coll.update_one({"_id": 1}, {"$set": {"n": 2}})
        coll.insert_one({"_id": 2})
        coll.delete_one({"_id": 2})
        died = clock.advance(5)
        events = drain(stream)
        assert kinds(events) == ["insert", "update", "insert", "delete", "delete"]
        assert events[1]["updateDescription"]["updatedFields"] == {"n": 2}
        # The document is looked up now, when it has expired.
        assert events[1]["fullDocument"] is None
        assert events[4]["documentKey"] == {"_id": 1}
        assert events[4]["wallTime"] == died
        assert drain(stream) == []


def test_a_stream_is_resumed_after_any_event(coll, clock):
    clock.to_whole_second()
    with coll.watch(max_await_time_ms=50) as stream:
        for number in range(3):
            coll.insert_one({"_id": number, "ttl": number + 1})
        clock.advance(2)
        events = drain(stream)
    assert kinds(events) == ["insert"] * 3 + ["delete"] * 2
    for at, event in enumerate(events):
        with coll.watch(resume_after=event["_id"], max_await_time_ms=50) as stream:
            assert drain(stream) == events[at + 1 :]
    tokens = [event["_id"]["_data"] for event in events]
    assert tokens == sorted(tokens)


def test_images_before_and_after_a_change(db):
    images = {"enabled": True}
    coll = db.create_collection("images", changeStreamPreAndPostImages=images)
    options = {"full_document": "required", "full_document_before_change": "required"}
    with coll.watch(max_await_time_ms=50, **options) as stream:
        coll.insert_one({"_id": 1, "n": 1})
        coll.update_one({"_id": 1}, {"$inc": {"n": 1}})
        coll.delete_one({"_id": 1})
        _, update, delete = drain(stream)
    assert update["fullDocumentBeforeChange"] == {"_id": 1, "n": 1}
    assert update["fullDocument"] == delete["fullDocumentBeforeChange"] == {"_id": 1, "n": 2}
