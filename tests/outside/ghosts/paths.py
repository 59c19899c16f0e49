"""The table of paths: every way to read, count, match, change or replace a document.

Each row answers whether the path still sees the mortal documents. `READS` leave the data as it is
and run at every instant on one collection; `WRITES` get a document of their own for each instant.
"""

import re
from dataclasses import dataclass
from typing import Any, Callable

from pymongo.errors import OperationFailure

FILLERS = 8


class Strange(AssertionError):
    """An answer that is neither 'all are there' nor 'none is there'."""


@dataclass
class Cell:
    """Where a path runs: collection `r` of reads, or an own document of collection `w`."""

    db: Any
    controls: int
    id: str = "t"
    key: str = "t"
    server: Any = None
    prepared: Any = None

    def command(self, *args, **more):
        return self.db.command(*args, **more)

    def rows(self, name, first, **more):
        """All rows of a cursor command."""
        reply = self.command(name, first, **more)["cursor"]
        return reply["firstBatch"] + self.rest(reply, first)

    def rest(self, cursor, collection, size=2):
        rows = []
        while cursor["id"]:
            more = self.command("getMore", cursor["id"], collection=collection, batchSize=size)
            cursor = more["cursor"]
            rows += cursor["nextBatch"]
        return rows

    def find(self, filter, **more):
        return self.rows("find", "r", filter=filter, **more)

    def aggregate(self, *stages, collection="r"):
        return self.rows("aggregate", collection, pipeline=list(stages), cursor={})

    def all_or_controls(self, n):
        """Judges a number of documents of the whole collection."""
        return self.judge(n, self.controls + FILLERS + 1, self.controls)

    def judge(self, n, alive, dead):
        if n in (alive, dead):
            return n == alive
        raise Strange(f"{n}, neither {alive} nor {dead}")

    def ids(self, rows):
        """Judges the documents of the whole collection."""
        seen = sorted(row["_id"] for row in rows)
        controls = [f"c{i}" for i in range(self.controls)]
        mortals = [f"f{i}" for i in range(FILLERS)] + ["t"]
        if seen not in (controls, controls + mortals):
            raise Strange(f"{seen}")
        return seen != controls

    def one(self, rows):
        return self.judge(len(rows), 1, 0)


@dataclass(frozen=True)
class Path:
    """One row of the table."""

    name: str
    run: Callable
    #: Runs before the clock moves; what it answers is `cell.prepared`.
    prepare: Callable | None = None
    #: The collection is the path's alone.
    own: bool = False


READS = []
WRITES = []


def read(name, prepare=None):
    return lambda run: READS.append(Path(name, run, prepare)) or run


def write(name, own=False):
    return lambda run: WRITES.append(Path(name, run, None, own)) or run


def find_row(name, filter, **more):
    """A find that is about document `t` alone."""
    READS.append(Path(f"find {name}", lambda c: c.one(c.find(filter, **more))))


def scan_row(name, filter, **more):
    """A find that is about all documents."""
    READS.append(Path(f"find {name}", lambda c: c.ids(c.find(filter, **more))))


def stages_row(name, *stages):
    """An aggregation whose result is about document `t` alone."""
    READS.append(Path(f"aggregate {name}", lambda c: c.one(c.aggregate(*stages))))


def count_row(name, about, **more):
    def run(c):
        n = c.command("count", "r", **more)["n"]
        return c.all_or_controls(n) if about == "all" else c.judge(n, 1, 0)

    READS.append(Path(f"count {name}", run))


# find

find_row("by _id", {"_id": "t"})
find_row("by _id hinted", {"_id": "t"}, hint="_id_")
find_row("by _id range", {"_id": {"$gte": "t", "$lt": "u"}})
find_row("by index", {"k": "t"}, hint={"k": 1})
find_row("by index name", {"k": "t"}, hint="k_1")
find_row("by unique index", {"u": "t"}, hint={"u": 1})
find_row("by compound index", {"g": 1, "k": "t"}, hint={"g": 1, "k": -1})
find_row("by multikey index", {"arr": "t-a"}, hint={"arr": 1})
find_row("by sparse index", {"sp": "t"}, hint={"sp": 1})
find_row("by partial index", {"pk": "t", "g": 1}, hint={"pk": 1})
find_row("by nested field", {"sub.a": "t"})
find_row("by scan", {"k": "t"}, hint={"$natural": 1})
find_row("by scan backward", {"k": "t"}, hint={"$natural": -1})
find_row("covered", {"k": "t"}, projection={"_id": 0, "k": 1}, hint={"k": 1})
find_row("covered by _id", {"_id": "t"}, projection={"_id": 1})
find_row("projected", {"k": "t"}, projection={"n": 0})
find_row("$or", {"$or": [{"k": "t"}, {"u": "t"}]})
find_row("$or of scan and index", {"$or": [{"k": "t"}, {"plain": "t"}]})
find_row("$and", {"$and": [{"k": "t"}, {"g": 1}]})
find_row("$in", {"k": {"$in": ["t", "none"]}})
find_row("$in of _id", {"_id": {"$in": ["t", "none"]}})
find_row("$nor", {"$nor": [{"k": {"$ne": "t"}}]})
find_row("$not", {"k": {"$not": {"$ne": "t"}}})
find_row("regex", {"k": re.compile("^t")})
find_row("regex scanned", {"plain": {"$regex": "^T$", "$options": "i"}})
find_row("$exists", {"only_t": {"$exists": True}})
find_row("$type", {"only_t": {"$type": "bool"}})
find_row("$elemMatch", {"arr": {"$elemMatch": {"$eq": "t-b"}}})
find_row("$all", {"arr": {"$all": ["t-a", "t-b"]}})
find_row("$size", {"arr": {"$size": 2}, "k": "t"})
find_row("$mod", {"n": {"$mod": [1000, 999]}})
find_row("$expr", {"$expr": {"$eq": ["$k", "t"]}})
find_row("limit", {"k": {"$gte": "t"}}, limit=1)
find_row("single batch", {"k": "t"}, singleBatch=True, batchSize=1)
find_row("with let", {"$expr": {"$eq": ["$k", "$$v"]}}, let={"v": "t"})
scan_row("all", {})
scan_row("all backward", {}, sort={"$natural": -1})
scan_row("all in small batches", {}, batchSize=1)
scan_row("all sorted by _id", {}, sort={"_id": 1})
scan_row("all sorted by index", {}, sort={"k": 1}, hint={"k": 1})
scan_row("all sorted by index backward", {}, sort={"k": -1}, hint={"k": 1}, batchSize=2)
scan_row("all sorted in memory", {}, sort={"plain": 1}, batchSize=3)
scan_row("$ne", {"k": {"$ne": "none"}})
scan_row("$nin", {"k": {"$nin": ["none"]}})
scan_row("range of index", {"k": {"$gte": ""}}, hint={"k": 1})
scan_row("with limit", {}, limit=1_000)


@read("find sorted, first only")
def _(c):
    rows = c.find({}, sort={"n": -1}, limit=1)
    return c.judge(rows[0]["n"], 999, 900)


@read("find skip")
def _(c):
    return c.judge(len(c.find({}, skip=c.controls)), FILLERS + 1, 0)


# getMore: the cursor was opened while everything lived.


def cursor_row(name, command, collection="r", see=None, **more):
    def prepare(c):
        cursor = c.command(command, collection, **more)["cursor"]
        assert cursor["id"], "the cursor is already at its end"
        return cursor

    def run(c):
        # Documents that the first batch gave out before the deadline are no ghosts.
        early = {row["_id"] for row in c.prepared["firstBatch"]}
        rows = c.rest(c.prepared, collection)
        late = [row["_id"] for row in rows]
        if len(set(late)) != len(late) or early & set(late):
            raise Strange(f"{late}")
        controls = {f"c{i}" for i in range(c.controls)} - early
        mortals = {"t", *(f"f{i}" for i in range(FILLERS))} - early
        assert mortals, "nothing is left to die"
        if set(late) not in (controls, controls | mortals):
            raise Strange(f"{late}")
        return set(late) != controls

    READS.append(Path(f"getMore {name}", run, prepare))


cursor_row("of a find without first batch", "find", filter={}, batchSize=0)
cursor_row("of a find", "find", filter={}, batchSize=1)
cursor_row("of an index scan", "find", filter={"k": {"$gte": ""}}, hint={"k": 1}, batchSize=1)
cursor_row("of a backward scan", "find", filter={}, sort={"_id": -1}, batchSize=1)
cursor_row("of a sort in memory", "find", filter={}, sort={"plain": 1}, batchSize=1)
cursor_row("of a sort by index", "find", filter={}, sort={"k": 1}, batchSize=1)
cursor_row("of an aggregate", "aggregate", pipeline=[{"$match": {}}], cursor={"batchSize": 1})
cursor_row("of an aggregate with $sort", "aggregate",
           pipeline=[{"$sort": {"plain": -1}}], cursor={"batchSize": 1})
cursor_row("of an aggregate with $project", "aggregate",
           pipeline=[{"$project": {"k": 1}}], cursor={"batchSize": 0})

# count, distinct

count_row("all", "all")
count_row("of an empty query", "all", query={})
count_row("with limit", "all", limit=1_000)
count_row("by _id", "t", query={"_id": "t"})
count_row("by index", "t", query={"k": "t"}, hint={"k": 1})
count_row("by scan", "t", query={"plain": "t"})
count_row("$ne", "all", query={"k": {"$ne": "none"}})


@read("count with skip")
def _(c):
    return c.judge(c.command("count", "r", skip=c.controls)["n"], FILLERS + 1, 0)


@read("estimatedDocumentCount")
def _(c):
    return c.all_or_controls(c.db["r"].estimated_document_count())


@read("countDocuments")
def _(c):
    return c.all_or_controls(c.db["r"].count_documents({}))


@read("countDocuments by index")
def _(c):
    return c.judge(c.db["r"].count_documents({"k": "t"}), 1, 0)


@read("distinct")
def _(c):
    return c.all_or_controls(len(c.command("distinct", "r", key="k")["values"]))


@read("distinct with query")
def _(c):
    return c.one(c.command("distinct", "r", key="k", query={"k": "t"})["values"])


@read("distinct of arrays")
def _(c):
    values = c.command("distinct", "r", key="arr")["values"]
    return c.all_or_controls(len([value for value in values if value.endswith("-a")]))


# aggregate

BY_T = {"$match": {"k": "t"}}
stages_row("$match by index", BY_T)
stages_row("$match by _id", {"$match": {"_id": "t"}})
stages_row("$match later", {"$addFields": {"x": "$k"}}, {"$match": {"x": "t"}})
stages_row("$sort $limit", BY_T, {"$sort": {"n": 1}}, {"$limit": 1})
stages_row("$project", BY_T, {"$project": {"_id": 0, "k": 1}})
stages_row("$unwind", {"$unwind": "$arr"}, {"$match": {"arr": "t-a"}})
stages_row("$group by key", {"$group": {"_id": "$k"}}, {"$match": {"_id": "t"}})
stages_row("$replaceRoot", {"$replaceRoot": {"newRoot": "$sub"}}, {"$match": {"a": "t"}})
stages_row("$bucket", BY_T, {"$bucket": {"groupBy": "$n", "boundaries": [0, 1_000]}})
stages_row("$redact", BY_T, {"$redact": "$$KEEP"})


def total_row(name, *stages):
    def run(c):
        rows = c.aggregate(*stages)
        return c.all_or_controls(rows[0]["n"] if rows else 0)

    READS.append(Path(f"aggregate {name}", run))


total_row("$group sum", {"$group": {"_id": None, "n": {"$sum": 1}}})
total_row("$count", {"$count": "n"})
total_row("$match $count", {"$match": {"k": {"$gte": ""}}}, {"$count": "n"})
total_row("$group push", {"$group": {"_id": None, "a": {"$push": "$k"}}},
          {"$project": {"n": {"$size": "$a"}}})
total_row("$facet", {"$facet": {"a": [{"$count": "n"}]}}, {"$unwind": "$a"},
          {"$project": {"n": "$a.n"}})
total_row("$sample", {"$sample": {"size": 1_000}}, {"$count": "n"})
total_row("$bucketAuto", {"$bucketAuto": {"groupBy": "$k", "buckets": 1}},
          {"$project": {"n": "$count"}})
total_row("$unwind $group", {"$unwind": "$arr"}, {"$group": {"_id": "$_id"}}, {"$count": "n"})


@read("aggregate $sortByCount")
def _(c):
    return c.all_or_controls(c.aggregate({"$sortByCount": "$g"})[0]["count"])


@read("aggregate $unionWith")
def _(c):
    union = {"$unionWith": {"coll": "r", "pipeline": [BY_T]}}
    return c.judge(len(c.aggregate(union, collection="l")), 2, 1)


@read("aggregate $unionWith whole")
def _(c):
    rows = c.aggregate({"$unionWith": "r"}, {"$match": {"g": 1}}, collection="l")
    return c.all_or_controls(len(rows))


def joined(c, stage):
    rows = c.aggregate(stage, collection="l")
    assert len(rows) == 1
    return rows[0]["found"]


@read("aggregate $lookup by _id")
def _(c):
    return c.one(joined(c, {"$lookup": {
        "from": "r", "localField": "ref", "foreignField": "_id", "as": "found"}}))


@read("aggregate $lookup by index")
def _(c):
    return c.one(joined(c, {"$lookup": {
        "from": "r", "localField": "ref", "foreignField": "k", "as": "found"}}))


@read("aggregate $lookup by scan")
def _(c):
    return c.one(joined(c, {"$lookup": {
        "from": "r", "localField": "ref", "foreignField": "plain", "as": "found"}}))


@read("aggregate $lookup pipeline")
def _(c):
    return c.one(joined(c, {"$lookup": {
        "from": "r", "let": {"v": "$ref"}, "as": "found",
        "pipeline": [{"$match": {"$expr": {"$eq": ["$k", "$$v"]}}}]}}))


@read("aggregate $lookup both forms")
def _(c):
    return c.one(joined(c, {"$lookup": {
        "from": "r", "localField": "ref", "foreignField": "k", "as": "found",
        "pipeline": [{"$match": {"g": 1}}]}}))


@read("aggregate $lookup uncorrelated")
def _(c):
    return c.ids(joined(c, {"$lookup": {"from": "r", "pipeline": [], "as": "found"}}))


@read("aggregate $graphLookup")
def _(c):
    return c.one(joined(c, {"$graphLookup": {
        "from": "r", "startWith": "$ref", "connectFromField": "none",
        "connectToField": "k", "as": "found"}}))


@read("aggregate $facet with $lookup")
def _(c):
    rows = c.aggregate({"$facet": {"a": [{"$lookup": {
        "from": "r", "localField": "ref", "foreignField": "k", "as": "found"}}]}}, collection="l")
    return c.one(rows[0]["a"][0]["found"])


# statistics, explain, expiry


@read("collStats.count")
def _(c):
    return c.all_or_controls(c.command("collStats", "r")["count"])


@read("collStats.size", prepare=lambda c: c.command("collStats", "r")["size"])
def _(c):
    size = c.command("collStats", "r")["size"]
    if size == c.prepared:
        return True
    if 0 < size < c.prepared * (c.controls + 1) / (c.controls + FILLERS + 1):
        return False
    raise Strange(f"{size} of {c.prepared}")


@read("dbStats.objects")
def _(c):
    # Collection `l` has one document.
    return c.all_or_controls(c.command("dbStats")["objects"] - 1)


@read("validate.nrecords")
def _(c):
    reply = c.command("validate", "r")
    if not reply["valid"] or reply["keysPerIndex"]["k_1"] != reply["nrecords"]:
        raise Strange(f"{reply}")
    return c.all_or_controls(reply["nrecords"])


def explained(c, command):
    return c.command("explain", command, verbosity="executionStats")["executionStats"]


@read("explain of a scan")
def _(c):
    stats = explained(c, {"find": "r", "filter": {}, "hint": {"$natural": 1}})
    if stats["nReturned"] != stats["totalDocsExamined"]:
        raise Strange(f"{stats}")
    return c.all_or_controls(stats["nReturned"])


@read("explain of an index scan")
def _(c):
    stats = explained(c, {"find": "r", "filter": {"k": "t"}, "hint": {"k": 1}})
    if stats["nReturned"] != stats["totalDocsExamined"] or stats["totalKeysExamined"] > 1:
        raise Strange(f"{stats}")
    seen = c.judge(stats["nReturned"], 1, 0)
    if not seen and stats["totalKeysExamined"]:
        raise Strange(f"{stats}")
    return seen


@read("explain of a point read")
def _(c):
    stats = explained(c, {"find": "r", "filter": {"_id": "t"}})
    if stats["nReturned"] != stats["totalDocsExamined"]:
        raise Strange(f"{stats}")
    return c.judge(stats["nReturned"], 1, 0)


@read("explain of a count")
def _(c):
    return c.judge(explained(c, {"count": "r", "query": {"k": "t"}})["totalDocsExamined"], 1, 0)


@read("ebbExpiry")
def _(c):
    return c.all_or_controls(c.command("ebbExpiry", "r")["live"]["documents"])


@read("ebbExpiry preview")
def _(c):
    # With the default off, whatever the books call alive would stay or die by its dates alone.
    reply = c.command("ebbExpiry", "r", preview={"default": None})
    if reply["dies_now"]["documents"] != 0:
        raise Strange(f"{reply}")
    return c.all_or_controls(c.command("ebbExpiry", "r")["live"]["documents"])


@read("GET expiry")
def _(c):
    path = f"/_ebb/databases/{c.db.name}/collections/r/expiry"
    return c.all_or_controls(c.server.admin(path)["live"]["documents"])


@read("find within a session")
def _(c):
    with c.db.client.start_session() as session:
        return c.one(list(c.db["r"].find({"_id": "t"}, session=session)))


# Writes. Document `cell.id` has k = u = `cell.key`; collection `w` has one control.


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
    """An upsert on a dead document inserts one that has nothing of the former."""

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
    # The new life has none of the former's keys: no index may lead from them to it.
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


# Paths that need a collection of their own: one mortal document `t`, one control `c`.


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


@write("findAndModify first of everything", own=True)
def _(c):
    # Sorted so that the mortal document comes first.
    value = modified(c, query={}, sort={"k": -1}, remove=True)["value"]
    return c.judge(value["_id"], c.id, "c")


@write("update first of everything", own=True)
def _(c):
    updated(c, {"k": {"$gte": ""}}, {"$set": {"x": 1}}, hint={"k": 1})
    reply = updated(c, {"x": {"$exists": False}}, {"$set": {"y": 1}}, multi=True)
    return c.judge(reply["n"], 1, 0)
