"""Change streams tell each expiration as one event, at its instant, in every state of the data that
a stream can be resumed in."""

import pytest
from lib.server import Server, millis

from ghosts.expiry_kinds import kinds

KINDS = {kind.name: kind for kind in kinds()}
INSTANTS = (-1_000, -1, 0, 1_000)
STAGES = {
    "all": ([], {}),
    "deaths": (
        [{"$match": {"operationType": "delete"}}, {"$changeStreamSplitLargeEvent": {}}],
        {"full_document": "updateLookup"},
    ),
}


def told(collection, token, stages, options):
    """Returns the events after a token."""
    events = []
    options = {"show_expanded_events": True, "max_await_time_ms": 1, **options}
    with collection.watch(stages, resume_after=token, **options) as stream:
        while event := stream.try_next():
            events.append(event)
    return events


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("restarts", [False, True], ids=["running", "restarted"])
def test_an_expiration_is_one_event_at_its_instant(kind, restarts):
    kind = KINDS[kind]
    with Server(data_dir=restarts, clock="manual") as server:
        server.advance(437)
        now = server.now_ms()
        deadline = kind.deadline(now)
        collection = server.client.db.c
        for index in kind.indexes:
            server.client.db.command("createIndexes", "c", indexes=[index])
        with collection.watch() as stream:
            stream.try_next()
            token = stream.resume_token
        controls = [{"_id": f"c{at}", **life} for at, life in enumerate(kind.controls)]
        mortal = [{"_id": f"t{at}", **kind.mortal(now)} for at in range(3)]
        collection.insert_many([*controls, *mortal])
        for instant in INSTANTS:
            server.move_to(deadline + instant)
            if restarts:
                server.restart()
                collection = server.client.db.c
            for stages, options in STAGES.values():
                events = told(collection, token, stages, options)
                deaths = [event for event in events if event["operationType"] == "delete"]
                ids = [event["documentKey"]["_id"] for event in deaths]
                assert ids == ([] if instant < 0 else ["t0", "t1", "t2"]), instant
                assert all(event["expired"] for event in deaths)
                assert {millis(event["wallTime"]) for event in deaths} <= {deadline}
                if not stages:
                    assert len(events) == len(controls) + len(mortal) + len(deaths)
