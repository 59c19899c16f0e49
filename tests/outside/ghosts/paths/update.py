"""Updates, upserts and findAndModify. Document `cell.id` has k = u = `cell.key`."""

from ghosts.paths.table import WRITES, Path, Strange, write


def updated(c, q, u, **more):
    reply = c.command("update", "w", updates=[{"q": q, "u": u, **more}])
    if "writeErrors" in reply:
        raise Strange(f"{reply}")
    if "upserted" not in reply and reply["n"] != reply["nModified"]:
        raise Strange(f"{reply}")
    return reply


def own(c):
    return list(c.db["w"].find({"k": c.key}))


def update_row(name, filter, change, **more):
    def run(c):
        seen = c.judge(updated(c, filter(c), change, **more)["n"], 1, 0)
        if len(own(c)) != int(seen):
            raise Strange(f"afterwards {own(c)}")
        return seen

    WRITES.append(Path(f"update {name}", run))


def by_id(c):
    return {"_id": c.id}


def by_key(c):
    return {"k": c.key}


update_row("by _id", by_id, {"$set": {"x": 1}})
update_row("by index", by_key, {"$inc": {"n": 1}})
update_row("by scan", lambda c: {"plain": c.key}, {"$set": {"x": 1}})
update_row("many by index", by_key, {"$set": {"x": 1}}, multi=True)
update_row("many by scan", lambda c: {"plain": c.key}, {"$set": {"x": 1}}, multi=True)
update_row("many by _id", by_id, {"$set": {"x": 1}}, multi=True)
update_row("with a pipeline", by_id, [{"$set": {"x": {"$add": ["$n", 1]}}}])
update_row("positional", lambda c: {"_id": c.id, "arr": f"{c.key}-a"}, {"$set": {"arr.$": "z"}})
update_row("of ttl", by_id, {"$set": {"ttl": 500}})
update_row("positional of all", by_id, {"$set": {"arr.$[]": "z"}})
update_row(
    "positional filtered",
    by_id,
    {"$set": {"arr.$[e]": "z"}},
    arrayFilters=[{"e": {"$regex": "-a$"}}],
)
update_row("renaming a field", by_key, {"$rename": {"plain": "plainer"}})
update_row("by $or", lambda c: {"$or": [{"k": c.key}, {"u": c.key}]}, {"$set": {"x": 1}})
update_row("by $expr", lambda c: {"$expr": {"$eq": ["$k", c.key]}}, {"$set": {"x": 1}})
update_row("many with a pipeline", by_key, [{"$set": {"x": {"$add": ["$n", 1]}}}], multi=True)
update_row("hinted", by_key, {"$set": {"x": 1}}, hint="k_1")


@write("replace by _id")
def _(c):
    seen = c.judge(updated(c, by_id(c), {"k": c.key, "new": True})["n"], 1, 0)
    if [row.get("new") for row in own(c)] != [True] * seen:
        raise Strange(f"{own(c)}")
    return seen


@write("replaceOne by index")
def _(c):
    reply = c.db["w"].replace_one(by_key(c), {"k": c.key, "new": True})
    return c.judge(reply.matched_count, 1, 0)


def upsert_row(name, filter, change, expect):
    """Adds an upsert; on an expired document it inserts one that has nothing of the expired one."""

    def run(c):
        reply = updated(c, filter(c), change(c), upsert=True)
        seen = "upserted" not in reply
        rows = own(c)
        if len(rows) != 1 or rows[0].get("born", False) == seen or reply["n"] != 1:
            raise Strange(f"{reply} {rows}")
        if ("plain" in rows[0]) != (seen and expect == "kept"):
            raise Strange(f"a mixture: {rows}")
        return seen

    WRITES.append(Path(f"upsert {name}", run))


def born(c):
    return {"$set": {"k": c.key}, "$inc": {"n": 1}, "$setOnInsert": {"born": True}}


upsert_row("by _id", by_id, born, "kept")
upsert_row("by index", by_key, born, "kept")


@write("upsert replacement by _id")
def _(c):
    reply = updated(c, by_id(c), {"k": c.key, "new": True}, upsert=True)
    if [row.get("new") for row in own(c)] != [True]:
        raise Strange(f"{own(c)}")
    return "upserted" not in reply


@write("upsert many by index")
def _(c):
    reply = updated(c, by_key(c), born(c), upsert=True, multi=True)
    if len(own(c)) != 1:
        raise Strange(f"{own(c)}")
    return "upserted" not in reply


def modified(c, **more):
    return c.command("findAndModify", "w", **more)


def modify_row(name, **more):
    def run(c):
        arguments = {key: value(c) if callable(value) else value for key, value in more.items()}
        reply = modified(c, **arguments)
        seen = reply["value"] is not None
        if reply["lastErrorObject"]["n"] != int(seen):
            raise Strange(f"{reply}")
        if len(own(c)) != int(seen and not more.get("remove", False)):
            raise Strange(f"{own(c)}")
        return seen

    WRITES.append(Path(f"findAndModify {name}", run))


modify_row("update by _id", query=by_id, update={"$inc": {"n": 1}})
modify_row("update by index", query=by_key, update={"$inc": {"n": 1}}, new=True)
modify_row("update sorted", query=by_key, sort={"n": -1}, update={"$set": {"x": 1}})
modify_row("replace", query=by_id, update=lambda c: {"k": c.key})
modify_row("pipeline", query=by_id, update=[{"$set": {"x": 1}}])
modify_row("projected", query=by_key, update={"$inc": {"n": 1}}, fields={"n": 1}, new=True)
modify_row(
    "positional",
    query=by_id,
    update={"$set": {"arr.$[e]": "z"}},
    arrayFilters=[{"e": {"$regex": "-a$"}}],
)
modify_row("remove by _id", query=by_id, remove=True)
modify_row("remove by index", query=by_key, remove=True)
modify_row("remove sorted", query=by_key, sort={"n": 1}, remove=True)


@write("findAndModify upsert")
def _(c):
    reply = modified(c, query=by_id(c), update=born(c), upsert=True, new=True)
    last = reply["lastErrorObject"]
    seen = last["updatedExisting"]
    if ("upserted" in last) == seen or (reply["value"]["n"] == 1) == seen:
        raise Strange(f"{reply}")
    if len(own(c)) != 1:
        raise Strange(f"{own(c)}")
    return seen


@write("findAndModify upsert answering the former")
def _(c):
    reply = modified(c, query=by_key(c), update=born(c), upsert=True)
    return reply["value"] is not None


@write("findAndModify replacement upsert")
def _(c):
    reply = modified(c, query=by_id(c), update={"k": c.key, "new": True}, upsert=True, new=True)
    if reply["value"] != {"_id": c.id, "k": c.key, "new": True} or len(own(c)) != 1:
        raise Strange(f"{reply} {own(c)}")
    return reply["lastErrorObject"]["updatedExisting"]


@write("findAndModify under its old name")
def _(c):
    return c.command("findandmodify", "w", query=by_key(c), remove=True)["value"] is not None


@write("upsert with a pipeline")
def _(c):
    count = {"$add": [{"$ifNull": ["$n", 0]}, 1]}
    reply = updated(c, by_id(c), [{"$set": {"k": c.key, "n": count}}], upsert=True)
    [row] = own(c)
    if (row["n"] == 1) == ("upserted" not in reply):
        raise Strange(f"{reply} {row}")
    return "upserted" not in reply


@write("findOneAndUpdate twice: the first upserts, the second finds")
def _(c):
    seen = modified(c, query=by_key(c), update=born(c), upsert=True)["value"] is not None
    again = modified(c, query=by_key(c), update={"$inc": {"n": 1}})["value"]
    if again is None or again.get("born", False) == seen:
        raise Strange(f"{again}")
    return seen
