"""The right to read cannot be bypassed: lists, cursors of other users, joined collections,
explanations and operations of other users."""

import threading
import time

import bson
import pytest

from access.guarded import may, new_name

JOINS = {
    "$lookup": {"from": "d", "localField": "a", "foreignField": "a", "as": "x"},
    "$lookup with a pipeline": {"from": "d", "pipeline": [], "as": "x"},
    "$unionWith": "d",
    "$unionWith with a pipeline": {"coll": "d", "pipeline": [{"$limit": 1}]},
    "$graphLookup": {
        "from": "d",
        "startWith": "$a",
        "connectFromField": "a",
        "connectToField": "a",
        "as": "x",
    },
}
JOINS = [{name.split()[0]: spec} for name, spec in JOINS.items()]
#: Positions of a stage in a pipeline.
PLACES = {
    "first": lambda it: [it],
    "behind others": lambda it: [{"$match": {"a": 1}}, {"$limit": 1}, it],
    "behind what gives nothing": lambda it: [{"$match": {"$expr": False}}, it],
    "in $facet": lambda it: [{"$facet": {"x": [], "y": [{"$limit": 1}, it]}}],
    "in $lookup": lambda it: [{"$lookup": {"from": "c", "pipeline": [it], "as": "y"}}],
    "in $unionWith": lambda it: [{"$unionWith": {"coll": "c", "pipeline": [it]}}],
    "far inside": lambda it: [
        {
            "$facet": {
                "x": [
                    {
                        "$lookup": {
                            "from": "c",
                            "pipeline": [{"$unionWith": {"coll": "c", "pipeline": [it]}}],
                            "as": "y",
                        }
                    }
                ]
            }
        }
    ],
}


def aggregate(pipeline, of="c", **more):
    return {"aggregate": of, "pipeline": pipeline, "cursor": {}, **more}


@pytest.fixture
def reader(server, database):
    """A connection of a user who may read the collection `c` only."""
    return server.user_who_may(may("find", database, "c"), database=database)[0]


@pytest.mark.parametrize("place", PLACES)
def test_joined_collections_need_a_right_too(root, database, reader, place):
    for join in JOINS:
        pipeline = PLACES[place](join)
        root.ok(database, aggregate(pipeline))
        for body in (
            aggregate(pipeline),
            {"aggregate": "c", "pipeline": pipeline, "explain": True},
            {"explain": aggregate(pipeline)},
            {"explain": aggregate(pipeline), "verbosity": "queryPlanner"},
            aggregate(pipeline, of="missing"),
        ):
            reader.forbidden(database, body)


def test_what_is_joined_with_a_right(server, database):
    privileges = [may("find", database, "c"), may("find", database, "d")]
    reader, _ = server.user_who_may(*privileges, database=database)
    for join in JOINS:
        reader.ok(database, aggregate([join]))
        reader.forbidden(database, aggregate([join], of="e"))


def test_pipelines_that_begin_elsewhere(root, database, reader):
    """The privilege is required also if the first stage reads no documents of the collection."""
    documents = [{"$documents": [{"a": 1}]}]
    reader.ok(database, aggregate(documents, of=1))
    for join in JOINS:
        reader.forbidden(database, aggregate([*documents, join], of=1))
    for about in ({"$collStats": {"count": {}}}, {"$indexStats": {}}):
        reader.forbidden(database, aggregate([about]))
        root.ok(database, aggregate([about]))
    for hidden in (
        aggregate([{"$currentOp": {}}], of="d"),
        {"explain": aggregate([{"$currentOp": {}}, {"$match": {}}], of="d")},
        aggregate([{"$currentOp": {}}, {"$unionWith": "d"}], of="d"),
    ):
        assert reader.ask_for(database, hidden)["ok"] == 0


@pytest.mark.parametrize(
    ("action", "stats"),
    [("collStats", {"$collStats": {"count": {}}}), ("indexStats", {"$indexStats": {}})],
)
def test_statistics_give_no_right_to_documents(server, database, action, stats):
    monitor, _ = server.user_who_may(may(action, database, "c"), database=database)
    monitor.ok(database, aggregate([stats]))
    monitor.forbidden(database, aggregate([stats, {"$unionWith": "c"}]))
    monitor.forbidden(database, aggregate([]))
    monitor.forbidden(database, {"count": "c"})


@pytest.mark.parametrize("verbosity", ["queryPlanner", "executionStats", "allPlansExecution"])
def test_explaining_needs_the_right_of_the_command(server, database, verbosity):
    reader = server.user_with(["read"], database)
    for inner, is_read in (
        ({"find": "c"}, True),
        ({"count": "c"}, True),
        ({"distinct": "c", "key": "a"}, True),
        ({"delete": "c", "deletes": [{"q": {}, "limit": 0}]}, False),
        ({"update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}]}, False),
        ({"findAndModify": "c", "query": {}, "remove": True}, False),
    ):
        body = {"explain": inner, "verbosity": verbosity}
        reader.ok(database, body) if is_read else reader.forbidden(database, body)
        reader.forbidden(new_name(), body)


def names(reply):
    return [it["name"] for it in reply["cursor"]["firstBatch"]]


def test_collections_that_are_shown(server, root, database, reader):
    whole = {"listCollections": 1}
    own = {**whole, "nameOnly": True, "authorizedCollections": True}
    assert sorted(names(root.ok(database, whole))) == ["c", "d"]
    assert names(reader.ok(database, own)) == ["c"]
    for body in (whole, {**whole, "nameOnly": True}, {**whole, "authorizedCollections": True}):
        reader.forbidden(database, body)
    by_role = server.user_with(["read"], database)
    assert sorted(names(by_role.ok(database, own))) == ["c", "d"]
    assert names(by_role.ok(new_name(), own)) == []


def test_databases_that_are_shown(server, root, database, reader):
    whole = {"listDatabases": 1}

    def shown(connection, **more):
        found = connection.ok("admin", {**whole, **more})["databases"]
        return {it["name"] for it in found}

    assert {database, "admin", "local", "config"} <= shown(root)
    for more in ({}, {"nameOnly": True}, {"authorizedDatabases": True}):
        assert shown(reader, **more) == {database}
        assert shown(server.user_with([]), **more) == set()
    reader.forbidden("admin", {**whole, "authorizedDatabases": False})
    monitor = server.user_with(["clusterMonitor"])
    assert database in shown(monitor)
    everywhere = server.user_with(["readAnyDatabase"])
    assert database in shown(everywhere, authorizedDatabases=True)
    cluster = {"resource": {"cluster": True}, "actions": ["listDatabases"]}
    lists, _ = server.user_who_may(cluster)
    assert database in shown(lists)
    assert database not in shown(lists, authorizedDatabases=True)


def opened(connection, database):
    """Returns the id of a cursor with documents left."""
    reply = connection.ok(database, {"find": "c", "batchSize": 2})
    assert reply["cursor"]["id"] != 0
    return bson.Int64(reply["cursor"]["id"])


def more_of(cursor):
    return {"getMore": cursor, "collection": "c", "batchSize": 1}


def test_cursors_of_others(server, root, database):
    user = server.new_user(["read"], database)
    owner, own = (server.login(user, database=database) for _ in range(2))
    other = server.user_with(["readWrite"], database)
    cursor = opened(owner, database)
    kill = {"killCursors": "c", "cursors": [cursor]}
    for stranger in (other, root):
        stranger.refused(13, database, more_of(cursor))
    # A second connection of the same user may continue the cursor.
    own.ok(database, more_of(cursor))
    assert other.ask_for(database, kill).get("cursorsKilled", []) == []
    owner.ok(database, more_of(cursor))
    other.refused(13, database, kill)
    assert own.ok(database, kill)["cursorsKilled"] == [cursor]
    cursor = opened(owner, database)
    kill["cursors"] = [cursor]
    host = server.user_with(["hostManager"])
    assert host.ok(database, kill)["cursorsKilled"] == [cursor]
    owner.refused(43, database, more_of(cursor))


def test_a_cursor_of_who_may_not_read_any_more(server, root, database):
    user = server.new_user(["read"], database)
    owner = server.login(user, database=database)
    cursor = opened(owner, database)
    owner.ok(database, more_of(cursor))
    root.ok(database, {"revokeRolesFromUser": user, "roles": ["read"]})
    owner.refused(13, database, more_of(cursor))


def test_a_cursor_of_who_is_not_there_any_more(server, root, database):
    user = server.new_user(["read"], database)
    owner = server.login(user, database=database)
    cursor = opened(owner, database)
    owner.ok(database, {"logout": 1})
    owner.refused(13, database, more_of(cursor))
    server.login(user, database=database).ok(database, more_of(cursor))
    root.ok(database, {"dropUser": user})
    again = server.new_user(["read"], database, name=user)
    server.login(again, database=database)


def test_cursors_that_are_shown(server, root, database):
    cursor = opened(root, database)
    stage = {"$currentOp": {"idleCursors": True}}

    def shown(connection):
        reply = connection.ok("admin", aggregate([stage], of=1, cursor={"batchSize": 10_000}))
        cursors = [it.get("cursor", {}) for it in reply["cursor"]["firstBatch"]]
        return [it["cursorId"] for it in cursors if "cursorId" in it]

    assert cursor in shown(root)
    other = server.user_with([])
    assert shown(other) == []
    stage["$currentOp"]["allUsers"] = True
    assert cursor in shown(server.user_with(["clusterMonitor"]))
    other.forbidden("admin", aggregate([stage], of=1))


def users_of(operations):
    return {it["user"] for operation in operations for it in operation.get("effectiveUsers", [])}


def test_operations_that_are_shown(server, root):
    user = server.new_user([])
    connection = server.login(user)
    shown = connection.ok("admin", {"currentOp": 1, "$ownOps": True, "$all": True})["inprog"]
    assert users_of(shown) == {user}
    connection.forbidden("admin", {"currentOp": 1})
    connection.forbidden("admin", {"currentOp": 1, "$ownOps": False})
    stage = {"$currentOp": {"idleConnections": True, "idleCursors": True}}
    shown = connection.ok("admin", aggregate([stage], of=1))["cursor"]["firstBatch"]
    assert users_of(shown) == {user}
    stage["$currentOp"]["allUsers"] = True
    connection.forbidden("admin", aggregate([stage], of=1))
    monitor = server.user_with(["clusterMonitor"])
    assert user in users_of(monitor.ok("admin", {"currentOp": 1, "$all": True})["inprog"])
    shown = monitor.ok("admin", aggregate([stage], of=1, cursor={"batchSize": 10_000}))
    assert user in users_of(shown["cursor"]["firstBatch"])


#: Stages with more rows than any machine counts in time.
ENDLESS = [
    stage
    for name in "wxyz"
    for stage in ({"$addFields": {name: {"$range": [0, 10_000]}}}, {"$unwind": f"${name}"})
]


def test_operations_of_others_are_not_ended(server, root, database):
    user = server.new_user(["read"], database)
    slow, own = (server.login(user, database=database) for _ in range(2))
    other = server.user_with(["readWrite"], database)
    replies = []
    body = aggregate([*ENDLESS, {"$count": "n"}])
    runs = threading.Thread(target=lambda: replies.append(slow.ask_for(database, body)))
    runs.start()
    try:
        number = operation_number(root, database)
        other.refused(13, "admin", {"killOp": 1, "op": number})
        assert runs.is_alive()
        assert operation_number(own, database, {"$ownOps": True}) == number
        own.ok("admin", {"killOp": 1, "op": number})
    finally:
        root.ok("admin", {"killOp": 1, "op": operation_number(root, database, needed=False)})
        runs.join()
    assert replies[0].get("code") == 11601


def operation_number(connection, database, more=(), needed=True):
    """Waits for the slow operation; returns its number, or 0 if none is needed."""
    until = time.monotonic() + 5
    while time.monotonic() < until:
        shown = connection.ok("admin", {"currentOp": 1, **dict(more)})["inprog"]
        found = [it["opid"] for it in shown if it.get("ns") == f"{database}.c"]
        if found or not needed:
            return found[0] if found else 0
    raise AssertionError("the operation is not shown")


def test_databases_of_the_server(server, root):
    """Roles for any database do not include `local` and `config`."""
    anywhere = server.user_with(["readWriteAnyDatabase"])
    for database in ("local", "config"):
        anywhere.forbidden(database, {"find": "c"})
        anywhere.forbidden(database, {"insert": "c", "documents": [{}]})
    anywhere.ok("admin", {"find": "c"})
    for collection in ("system.users", "system.roles"):
        anywhere.refused(13, "admin", {"find": collection})
