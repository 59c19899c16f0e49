"""Writes that need a collection of their own: one expiring document `t`, one control `c`."""

from pymongo.errors import OperationFailure

from ghosts.paths.table import Strange, write
from ghosts.paths.update import modified, updated


@write("deleteMany of everything", own=True)
def _(c):
    return c.judge(c.command("delete", "w", deletes=[{"q": {}, "limit": 0}])["n"], 2, 1)


@write("updateMany of everything", own=True)
def _(c):
    return c.judge(updated(c, {}, {"$set": {"x": 1}}, multi=True)["n"], 2, 1)


@write("createIndexes", own=True)
def _(c):
    c.command("createIndexes", "w", indexes=[{"key": {"n": 1}, "name": "n_1"}])
    reply = c.command("validate", "w")
    rows = c.rows("find", "w", filter={"n": {"$gte": 0}}, hint="n_1")
    if len(rows) != reply["keysPerIndex"]["n_1"] or not reply["valid"]:
        raise Strange(f"{reply}")
    return c.judge(len(rows), 2, 1)


@write("createIndexes unique over its value", own=True)
def _(c):
    # The control has the same `same`.
    index = {"key": {"same": 1}, "name": "same_1", "unique": True}
    try:
        c.command("createIndexes", "w", indexes=[index])
    except OperationFailure as error:
        if error.code != 11000:
            raise
        return True
    return False


@write("renameCollection", own=True)
def _(c):
    name = c.db.name
    c.db.client.admin.command("renameCollection", f"{name}.w", to=f"{name}.w2")
    seen = c.judge(c.command("count", "w2")["n"], 2, 1)
    c.judge(len(c.rows("find", "w2", filter={"k": {"$gte": ""}}, hint="k_1")), 1 + seen, -1)
    return seen


@write("convertToCapped", own=True)
def _(c):
    c.command("convertToCapped", "w", size=1 << 20)
    rows = c.rows("find", "w", filter={}, sort={"$natural": -1})
    return c.judge(len(rows), 2, 1)


@write("cloneCollectionAsCapped", own=True)
def _(c):
    c.command("cloneCollectionAsCapped", "w", toCollection="w2", size=1 << 20)
    return c.judge(len(c.rows("find", "w2", filter={})), 2, 1)


@write("tailable cursor", own=True)
def _(c):
    c.command("convertToCapped", "w", size=1 << 20)
    cursor = c.command("find", "w", tailable=True, awaitData=True, batchSize=1)["cursor"]
    options = {"collection": "w", "maxTimeMS": 1}
    more = c.command("getMore", cursor["id"], **options)["cursor"]["nextBatch"]
    return c.judge(len(cursor["firstBatch"] + more), 2, 1)


@write("findAndModify first of everything", own=True)
def _(c):
    # Sorted so that the expiring document comes first.
    value = modified(c, query={}, sort={"k": -1}, remove=True)["value"]
    return c.judge(value["_id"], c.id, "c")


@write("update first of everything", own=True)
def _(c):
    updated(c, {"k": {"$gte": ""}}, {"$set": {"x": 1}}, hint={"k": 1})
    reply = updated(c, {"x": {"$exists": False}}, {"$set": {"y": 1}}, multi=True)
    return c.judge(reply["n"], 1, 0)


@write("createIndexes of a date rule", own=True)
def _(c):
    # An index build reads headers: expired documents get no entry, live ones get one.
    c.command(
        "createIndexes",
        "w",
        indexes=[{"key": {"later": 1}, "name": "later_1", "expireAfterSeconds": 1_000}],
    )
    reply = c.command("validate", "w")
    if not reply["valid"] or reply["keysPerIndex"]["later_1"] != reply["nrecords"]:
        raise Strange(f"{reply}")
    return c.judge(len(c.rows("find", "w", filter={}, hint="later_1")), 2, 1)


@write("dropIndexes, then find", own=True)
def _(c):
    c.command("dropIndexes", "w", index="k_1")
    return c.judge(len(c.rows("find", "w", filter={"k": {"$gte": ""}})), 2, 1)


@write("deleteIndexes, then find", own=True)
def _(c):
    c.command("deleteIndexes", "w", index="arr_1")
    return c.judge(len(c.rows("find", "w", filter={"arr": f"{c.id}-a"})), 1, 0)


@write("drop and make again", own=True)
def _(c):
    # Counts the documents first; after the drop there are none, live or expired.
    seen = c.judge(c.command("count", "w")["n"], 2, 1)
    c.command("drop", "w")
    c.command("create", "w")
    if c.command("count", "w")["n"] or c.rows("find", "w", filter={}):
        raise Strange("something is left of a dropped collection")
    c.command("insert", "w", documents=[{"_id": c.id}])
    c.judge(c.command("count", "w")["n"], -1, 1)
    return seen


@write("renameCollection over another", own=True)
def _(c):
    name = c.db.name
    c.command("insert", "x", documents=[{"_id": c.id, "x": 1}])
    seen = c.judge(c.command("count", "w")["n"], 2, 1)
    command = {"renameCollection": f"{name}.x", "to": f"{name}.w", "dropTarget": True}
    c.db.client.admin.command(command)
    if c.rows("find", "w", filter={}) != [{"_id": c.id, "x": 1}]:
        raise Strange("something is left of a dropped target")
    return seen
