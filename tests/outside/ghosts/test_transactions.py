"""Transactions, snapshots and streams that are open while a document expires: each statement judges
at its own instant, a commit that relies on the document is refused, and nothing dead comes back.
"""

import pytest
from lib.server import Server, millis
from pymongo.errors import OperationFailure

from ghosts.expiry_kinds import kinds

KINDS = {kind.name: kind for kind in kinds()}
T, OTHER = {"_id": "t"}, {"_id": "other"}


class Open:
    """A server whose document `t` expires at `deadline`, and a session with an open transaction."""

    def __init__(self, server, kind):
        self.server = server
        server.advance(437)
        self.now = server.now_ms()
        self.deadline = kind.deadline(self.now)
        self.collection = server.client.db.c
        self.collection.drop()
        for index in kind.indexes:
            server.client.db.command("createIndexes", "c", indexes=[index])
        controls = [{"_id": f"c{at}", **life} for at, life in enumerate(kind.controls)]
        self.controls = [one["_id"] for one in controls]
        self.collection.insert_many([*controls, {**T, "n": 1, **kind.mortal(self.now)}])
        self.session = server.client.start_session()
        self.session.start_transaction()
        # Its first statement, which does not see `t`.
        self.ids({"_id": "c0"})

    def ids(self, filter=None):
        rows = self.collection.find(filter or {}, session=self.session, sort=[("_id", 1)])
        return [row["_id"] for row in rows]

    def reach(self, instant):
        self.server.move_to(self.deadline + instant)

    def conflicts(self, run):
        """Checks that a statement or commit fails with an error after which drivers begin again."""
        with pytest.raises(OperationFailure) as failed:
            run()
        assert failed.value.code == 112
        assert failed.value.has_error_label("TransientTransactionError")

    def live(self):
        return [row["_id"] for row in self.collection.find({}, sort=[("_id", 1)])]


@pytest.fixture(scope="module")
def server():
    with Server(clock="manual") as server:
        # From here on changes are recorded. The start would change collections in use.
        server.client.db.c.watch().close()
        yield server


@pytest.fixture(params=KINDS)
def open(request, server):
    open = Open(server, KINDS[request.param])
    yield open
    open.session.end_session()


def test_a_statement_judges_at_its_own_instant(open):
    open.reach(-1)
    assert open.ids() == [*open.controls, "t"]
    open.session.commit_transaction()
    open.session.start_transaction()
    assert open.ids({"_id": "c0"}) == ["c0"]
    open.reach(0)
    assert open.ids() == open.controls
    open.session.commit_transaction()
    assert open.live() == open.controls


def test_a_document_that_was_shown_cannot_be_left_out(open):
    open.reach(-1)
    assert open.ids(T) == ["t"]
    open.reach(0)
    open.conflicts(open.ids)
    assert open.live() == open.controls


def test_what_was_only_read_may_expire_before_the_commit(open):
    open.reach(-1)
    assert open.ids(T) == ["t"]
    open.collection.insert_one(dict(OTHER), session=open.session)
    open.reach(0)
    open.session.commit_transaction()
    assert "t" not in open.live()


CHANGES = {
    "update": lambda c, s: c.update_one(T, {"$set": {"ttl": -1, "at": None}}, session=s),
    "empty update": lambda c, s: c.update_one(T, {"$set": {"n": 1}}, session=s),
    "replace": lambda c, s: c.replace_one(T, {"ttl": -1}, session=s),
    "delete": lambda c, s: c.delete_one(T, session=s),
    "find and modify": lambda c, s: c.find_one_and_update(T, {"$set": {"ttl": -1}}, session=s),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_commit_that_relies_on_an_expired_document_is_refused(open, change):
    open.reach(-1)
    CHANGES[change](open.collection, open.session)
    open.collection.insert_one(dict(OTHER), session=open.session)
    open.reach(0)
    open.conflicts(open.session.commit_transaction)
    assert open.live() == open.controls


@pytest.mark.parametrize("change", CHANGES)
def test_a_commit_before_the_deadline_holds(open, change):
    open.reach(-1)
    CHANGES[change](open.collection, open.session)
    open.session.commit_transaction()
    assert ("t" in open.live()) == (change != "delete")


@pytest.mark.parametrize("change", CHANGES)
def test_an_expired_document_is_absent_in_an_older_snapshot(open, change):
    open.reach(0)
    result = CHANGES[change](open.collection, open.session)
    found = getattr(result, "matched_count", getattr(result, "deleted_count", 0))
    assert not found
    open.session.commit_transaction()
    assert open.live() == open.controls


def test_an_expired_key_is_free_in_an_older_snapshot(open):
    open.reach(0)
    open.collection.insert_one({**T, "ttl": -1, "new": True}, session=open.session)
    assert open.ids(T) == ["t"]
    open.session.commit_transaction()
    [row] = open.collection.find(T)
    assert row["new"]
    assert "n" not in row


def test_a_key_that_others_have_taken_since_is_a_conflict(open):
    open.reach(0)
    open.collection.insert_one({**T, "ttl": -1, "new": True})
    open.conflicts(open.ids)
    [row] = open.collection.find(T)
    assert row["new"]


def test_a_snapshot_stays_at_its_instant(open):
    open.session.abort_transaction()
    client = open.server.client
    open.reach(-1)
    with client.start_session(snapshot=True) as before:
        rows = [row["_id"] for row in open.collection.find({}, session=before)]
        assert "t" in rows
        open.reach(0)
        assert list(open.collection.find(T, session=before))
        assert open.collection.count_documents({}, session=before) == len(rows)
        with client.start_session(snapshot=True) as after:
            assert not list(open.collection.find(T, session=after))
        # A new document of the same key belongs to neither.
        open.collection.insert_one({**T, "ttl": -1, "new": True})
        [row] = open.collection.find(T, session=before)
        assert "new" not in row


def test_events_of_a_transaction_stand_together_and_after_the_expiration(open):
    """The transaction inserts over the expired key and beside it, others write in between."""
    with open.collection.watch(max_await_time_ms=50) as stream:
        open.reach(0)
        open.collection.insert_one({**T, "ttl": -1}, session=open.session)
        open.collection.insert_one({"_id": "between", "ttl": -1})
        open.collection.insert_one({**OTHER, "ttl": -1}, session=open.session)
        open.session.commit_transaction()
        events = []
        while event := stream.try_next():
            events.append(event)
    shown = [(event["operationType"], event["documentKey"]["_id"]) for event in events]
    assert shown == [("delete", "t"), ("insert", "between"), ("insert", "other"), ("insert", "t")]
    expired, between, *inside = events
    assert millis(expired["wallTime"]) == open.deadline
    number, lsid = open.session._server_session.transaction_id, open.session.session_id
    for event in inside:
        assert event["txnNumber"] == number
        assert event["lsid"]["id"] == lsid["id"]
        assert event["clusterTime"] == inside[0]["clusterTime"]
    assert not {"txnNumber", "lsid"} & {*expired, *between}
