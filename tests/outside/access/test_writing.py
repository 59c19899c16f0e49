"""The right to write cannot be bypassed: upserts, bulk writes, renames, and arguments with side
effects."""

import bson
import pytest
from badinput.raw import Pairs, of_every_type

from access.guarded import may, new_name

CHANGE = {"$set": {"b": 1}}


def count(root, database, collection="c"):
    return root.ok(database, {"count": collection})["n"]


def update(**more):
    return {"update": "c", "updates": [{"q": {"_id": "new"}, "u": CHANGE, **more}]}


def modify(**more):
    return {"findAndModify": "c", "query": {"_id": "new"}, **more}


def test_an_upsert_needs_the_right_to_insert(server, root, database):
    changer, role = server.user_who_may(may("update find", database, "c"), database=database)
    changer.ok(database, update())
    changer.ok(database, modify(update=CHANGE))
    upserts = (update(upsert=True), modify(update=CHANGE, upsert=True))
    for body in upserts:
        changer.forbidden(database, body)
    assert count(root, database) == 5
    more = [may("insert", database, "c")]
    root.ok(database, {"grantPrivilegesToRole": role, "privileges": more})
    for body in upserts:
        changer.ok(database, body)
    assert count(root, database) == 6


def test_an_upsert_in_whatever_form(server, root, database):
    """Every value of `upsert` that counts as true also requires the privilege to insert."""
    changer, _ = server.user_who_may(may("update find", database, "c"), database=database)
    for name, value in of_every_type().items():
        for body in (update(upsert=value), modify(update=CHANGE, upsert=value)):
            changer.ask_for(database, body)
            assert count(root, database) == 5, name
    for first, second in ((False, True), (True, False)):
        pairs = Pairs([("q", {"_id": "new"}), ("u", CHANGE), ("upsert", first), ("upsert", second)])
        changer.ask_for(database, {"update": "c", "updates": [pairs]})
        assert count(root, database) == 5


def test_changing_and_removing_are_two_rights(server, root, database):
    actions = {
        "insert": {"insert": "c", "documents": [{}]},
        "remove": {"delete": "c", "deletes": [{"q": {"_id": 0}, "limit": 1}]},
        "update": {"update": "c", "updates": [{"q": {"_id": 0}, "u": CHANGE}]},
        "find update": {"findAndModify": "c", "query": {"_id": 0}, "update": CHANGE},
        "find remove": {"findAndModify": "c", "query": {"_id": 0}, "remove": True},
        "find": {"find": "c"},
    }
    for permitted in actions:
        connection, _ = server.user_who_may(may(permitted, database, "c"), database=database)
        for needed, body in actions.items():
            is_permitted = set(needed.split()) <= set(permitted.split())
            reply = connection.ask_for(database, body)
            assert (reply.get("code") != 13) == is_permitted, f"{permitted}: {needed}: {reply}"


def bulk(database, *operations):
    info = [{"ns": f"{database}.{name}"} for name in ("c", "d")]
    return {"bulkWrite": 1, "ops": list(operations), "nsInfo": info}


def test_bulk_writes_need_the_right_of_each(server, root, database):
    privileges = [may("insert", database, "c"), may("update", database, "d")]
    connection, _ = server.user_who_may(*privileges)
    insert = {"insert": 0, "document": {}}
    change = {"update": 1, "filter": {"_id": 0}, "updateMods": CHANGE}
    connection.ok("admin", bulk(database, insert, change))
    before = count(root, database), count(root, database, "d")
    for wrong in (
        {"insert": 1, "document": {}},
        {"insert": 1.0, "document": {}},
        {"insert": bson.Int64(1), "document": {}},
        {"update": 0, "filter": {}, "updateMods": CHANGE},
        {"update": 1, "filter": {"_id": "new"}, "updateMods": CHANGE, "upsert": True},
        {"delete": 0, "filter": {}},
        {"delete": 1, "filter": {}},
    ):
        reply = connection.ask_for("admin", bulk(database, insert, wrong))
        assert reply["ok"] == 0 and reply["code"] in (13, 14), f"{wrong}: {reply}"
    elsewhere = bulk(new_name(), insert)
    connection.forbidden("admin", elsewhere)
    assert (count(root, database), count(root, database, "d")) == before


def test_bulk_writes_need_a_right_to_each_namespace_they_name(server, database):
    """mongod checks only the namespaces that operations refer to."""
    connection, _ = server.user_who_may(may("insert", database, "c"))
    insert = {"insert": 0, "document": {}}
    connection.ok("admin", {**bulk(database, insert), "nsInfo": [{"ns": f"{database}.c"}]})


def test_leaving_out_validation_is_a_right(server, database):
    privilege = may("insert update find", database, "c")
    connection, _ = server.user_who_may(privilege, database=database)
    for body in (
        {"insert": "c", "documents": [{}]},
        update(),
        modify(update=CHANGE),
    ):
        connection.ok(database, body)
        connection.forbidden(database, {**body, "bypassDocumentValidation": True})


def rename(database, to_database=None, origin="c", to="new", **more):
    target = f"{to_database or database}.{to}"
    return {"renameCollection": f"{database}.{origin}", "to": target, **more}


def test_renaming_within_a_database(server, root, database):
    writer = server.user_with(["readWrite"], database)
    server.user_with(["read"], database).forbidden("admin", rename(database))
    writer.ok("admin", rename(database))
    writer.ok("admin", rename(database, origin="new", to="c"))
    writer.ok("admin", rename(database, to="d", dropTarget=True))
    writer.forbidden("admin", rename(database, new_name(), origin="d"))
    writer.forbidden("admin", rename(new_name(), database, to="e"))


def test_renaming_does_not_make_readable(server, root, database):
    """A user who may rename, and may read the target but not the source, may not rename to it."""
    privileges = [may("renameCollectionSameDB", database), may("find", database, "new")]
    connection, _ = server.user_who_may(*privileges, database=database)
    connection.forbidden("admin", rename(database))
    assert count(root, database) == 5


def test_renaming_by_the_rights_of_its_parts(server, root, database):
    """A rename is also permitted to a user who could copy and drop instead."""
    privileges = [
        may("find dropCollection", database, "c"),
        may("insert createIndex", database, "new"),
    ]
    connection, _ = server.user_who_may(*privileges, database=database)
    connection.ok("admin", rename(database))


def test_renaming_over_another_needs_the_right_to_drop_it(server, root, database):
    privileges = [may("renameCollectionSameDB", database), may("find", database)]
    connection, _ = server.user_who_may(*privileges, database=database)
    connection.forbidden("admin", rename(database, to="d", dropTarget=True))
    assert count(root, database, "d") == 5
    connection.ok("admin", rename(database))


def test_making_collections(server, root, database):
    maker, _ = server.user_who_may(may("createCollection", database), database=database)
    maker.ok(database, {"create": "made"})
    maker.forbidden(database, {"drop": "made"})
    maker.forbidden(database, {"insert": "made", "documents": [{}]})
    inserter, _ = server.user_who_may(may("insert", database), database=database)
    inserter.ok(database, {"create": "more"})
    inserter.ok(database, {"insert": "implicit", "documents": [{}]})
    index = {"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a"}]}
    inserter.forbidden(database, index)
    inserter.forbidden(database, {"collMod": "c"})


@pytest.mark.parametrize("role", ["readWriteAnyDatabase", "dbAdminAnyDatabase", "backup"])
def test_nobody_writes_where_users_are(server, root, role):
    connection = server.user_with([role])
    for collection in ("system.users", "system.roles", "system.version"):
        for body in (
            {"insert": collection, "documents": [{"_id": "x"}]},
            {"update": collection, "updates": [{"q": {}, "u": {"$set": {"x": 1}}}]},
            {"delete": collection, "deletes": [{"q": {}, "limit": 0}]},
            {"drop": collection},
            {"createIndexes": collection, "indexes": [{"key": {"a": 1}, "name": "a"}]},
        ):
            reply = connection.ask_for("admin", body)
            assert reply["ok"] == 0 or reply.get("writeErrors"), f"{body}: {reply}"
    root.ok("admin", {"usersInfo": 1})
