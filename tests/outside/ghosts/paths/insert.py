"""Deletes, inserts with the `_id` or unique key of an expired document, bulk writes."""

from pymongo.errors import OperationFailure

from ghosts.paths.table import WRITES, Path, Strange, write
from ghosts.paths.update import born, by_id, by_key, modified, own


def delete_row(name, filter, limit):
    def run(c):
        reply = c.command("delete", "w", deletes=[{"q": filter(c), "limit": limit}])
        if own(c):
            raise Strange(f"{own(c)}")
        return c.judge(reply["n"], 1, 0)

    WRITES.append(Path(f"delete {name}", run))


delete_row("one by _id", by_id, 1)
delete_row("one by index", by_key, 1)
delete_row("many by index", by_key, 0)
delete_row("many by scan", lambda c: {"plain": c.key}, 0)


def duplicate(reply):
    errors = reply.get("writeErrors", [])
    if any(error["code"] != 11000 for error in errors):
        raise Strange(f"{reply}")
    return bool(errors)


@write("insert over the _id")
def _(c):
    reply = c.command("insert", "w", documents=[{"_id": c.id, "k": c.key, "new": True}])
    seen = duplicate(reply)
    if [row.get("new", False) for row in own(c)] != [not seen] or reply["n"] != int(not seen):
        raise Strange(f"{reply} {own(c)}")
    return seen


@write("insert over the _id, former index entries")
def _(c):
    # The new document has none of the keys of the expired one: no index may lead from them to it.
    reply = c.command("insert", "w", documents=[{"_id": c.id, "k": "other", "u": f"2{c.key}"}])
    if own(c) and not duplicate(reply):
        raise Strange(f"{own(c)}")
    if c.command("count", "w", query={"u": c.key}, hint={"u": 1})["n"] != int(duplicate(reply)):
        raise Strange("a former unique entry leads to the new document")
    return duplicate(reply)


@write("insert the same document again")
def _(c):
    body = {"_id": c.id, "k": c.key, "u": c.key, "arr": [f"{c.key}-a", f"{c.key}-b"]}
    seen = duplicate(c.command("insert", "w", documents=[body]))
    for filter in ({"k": c.key}, {"u": c.key}, {"arr": f"{c.key}-b"}):
        if c.command("count", "w", query=filter)["n"] != 1:
            raise Strange(f"{filter}")
    return seen


@write("insert many unordered")
def _(c):
    documents = [{"_id": f"{c.id}-1"}, {"_id": c.id, "k": c.key}, {"_id": f"{c.id}-2"}]
    reply = c.command("insert", "w", documents=documents, ordered=False)
    seen = duplicate(reply)
    if reply["n"] != 3 - seen or len(own(c)) != 1:
        raise Strange(f"{reply}")
    return seen


@write("insert against the unique index")
def _(c):
    reply = c.command("insert", "w", documents=[{"_id": f"{c.id}-other", "u": c.key}])
    return duplicate(reply)


@write("update against the unique index")
def _(c):
    c.command("insert", "w", documents=[{"_id": f"{c.id}-third", "u": f"{c.key}-third"}])
    change = {"q": {"_id": f"{c.id}-third"}, "u": {"$set": {"u": c.key}}}
    return duplicate(c.command("update", "w", updates=[change]))


@write("upsert against the unique index")
def _(c):
    change = {"q": {"_id": f"{c.id}-4"}, "u": {"$set": {"u": c.key}}, "upsert": True}
    return duplicate(c.command("update", "w", updates=[change]))


@write("findAndModify against the unique index")
def _(c):
    try:
        modified(c, query={"_id": f"{c.id}-5"}, update={"$set": {"u": c.key}}, upsert=True)
    except OperationFailure as error:
        if error.code != 11000:
            raise
        return True
    return False


def bulk(c, *ops):
    info = [{"ns": f"{c.db.name}.w"}]
    return c.db.client.admin.command("bulkWrite", 1, ops=list(ops), nsInfo=info)


@write("bulkWrite update")
def _(c):
    reply = bulk(c, {"update": 0, "filter": by_id(c), "updateMods": {"$set": {"x": 1}}})
    return c.judge(reply["nMatched"], 1, 0)


@write("bulkWrite upsert")
def _(c):
    op = {"update": 0, "filter": by_key(c), "updateMods": born(c), "upsert": True}
    reply = bulk(c, op)
    return c.judge(reply["nUpserted"], 0, 1)


@write("bulkWrite delete")
def _(c):
    return c.judge(bulk(c, {"delete": 0, "filter": by_id(c)})["nDeleted"], 1, 0)


@write("bulkWrite update of many")
def _(c):
    op = {"update": 0, "filter": by_key(c), "updateMods": {"$set": {"x": 1}}, "multi": True}
    return c.judge(bulk(c, op)["nModified"], 1, 0)


@write("bulkWrite replacement")
def _(c):
    reply = bulk(c, {"update": 0, "filter": by_key(c), "updateMods": {"k": c.key, "new": True}})
    if len(own(c)) != reply["nMatched"]:
        raise Strange(f"{reply}")
    return c.judge(reply["nMatched"], 1, 0)


@write("bulkWrite delete of many")
def _(c):
    return c.judge(bulk(c, {"delete": 0, "filter": by_key(c), "multi": True})["nDeleted"], 1, 0)


@write("bulkWrite insert, update, delete in one")
def _(c):
    reply = bulk(
        c,
        {"update": 0, "filter": by_id(c), "updateMods": {"$set": {"x": 1}}},
        {"delete": 0, "filter": by_id(c)},
        {"insert": 0, "document": {"_id": c.id, "k": c.key}},
    )
    if reply["nInserted"] != 1 or reply["nMatched"] != reply["nDeleted"] or len(own(c)) != 1:
        raise Strange(f"{reply}")
    return c.judge(reply["nDeleted"], 1, 0)


@write("bulkWrite insert")
def _(c):
    reply = bulk(c, {"insert": 0, "document": {"_id": c.id, "k": c.key}})
    return c.judge(reply["nInserted"], 0, 1)


@write("bulk of a driver")
def _(c):
    from pymongo import DeleteOne, UpdateOne

    result = c.db["w"].bulk_write(
        [UpdateOne(by_id(c), {"$set": {"x": 1}}), DeleteOne(by_key(c))], ordered=True
    )
    if result.matched_count != result.deleted_count:
        raise Strange(f"{result}")
    return c.judge(result.deleted_count, 1, 0)


@write("delete hinted")
def _(c):
    delete = {"q": by_key(c), "limit": 1, "hint": "k_1"}
    return c.judge(c.command("delete", "w", deletes=[delete])["n"], 1, 0)


@write("several updates in one command")
def _(c):
    changes = [{"q": by_id(c), "u": {"$inc": {"n": 1}}}, {"q": by_key(c), "u": {"$inc": {"n": 1}}}]
    return c.judge(c.command("update", "w", updates=changes)["n"], 2, 0)


@write("insert many ordered, stopped by the _id")
def _(c):
    documents = [{"_id": f"{c.id}-6"}, {"_id": c.id, "k": c.key}, {"_id": f"{c.id}-7"}]
    reply = c.command("insert", "w", documents=documents)
    seen = duplicate(reply)
    if reply["n"] != (1 if seen else 3) or len(own(c)) != 1:
        raise Strange(f"{reply}")
    return seen


@write("replacement against the unique index")
def _(c):
    c.command("insert", "w", documents=[{"_id": f"{c.id}-8", "u": f"{c.key}-8"}])
    change = {"q": {"_id": f"{c.id}-8"}, "u": {"u": c.key}}
    return duplicate(c.command("update", "w", updates=[change]))
