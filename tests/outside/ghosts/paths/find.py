"""Finds, and cursors that were opened while everything was live."""

import re

from ghosts.paths.table import FILLERS, READS, Path, Strange, read


def find_row(name, filter, **more):
    """Adds a find whose result depends on document `t` only."""
    READS.append(Path(f"find {name}", lambda c: c.one(c.find(filter, **more))))


def scan_row(name, filter, **more):
    """Adds a find that returns all documents."""
    READS.append(Path(f"find {name}", lambda c: c.ids(c.find(filter, **more))))


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
find_row("by nested field", {"sub.a": "t"}, hint={"$natural": 1})
find_row("by hashed index", {"h": "t"}, hint={"h": "hashed", "g": 1})
find_row("by text index", {"$text": {"$search": "t"}})
find_row(
    "by text index and score",
    {"$text": {"$search": "t"}},
    sort={"s": {"$meta": "textScore"}},
    projection={"s": {"$meta": "textScore"}},
)
SPOT = {"type": "Point", "coordinates": [99.9, 10]}
find_row("by distance", {"place": {"$near": {"$geometry": SPOT, "$maxDistance": 100}}})
find_row("by distance, nearest only", {"place": {"$near": {"$geometry": SPOT}}, "k": "t"}, limit=1)
find_row(
    "by distance in a range",
    {"place": {"$near": {"$geometry": SPOT, "$maxDistance": 100}}, "k": {"$gte": "t"}},
    hint="k_place",
)
find_row("by distance in the plane", {"flat": {"$near": [99.9, 10], "$maxDistance": 0.01}})
find_row("within a circle", {"place": {"$geoWithin": {"$centerSphere": [[99.9, 10], 1e-4]}}})
find_row("within a box", {"flat": {"$geoWithin": {"$box": [[99.85, 9], [99.95, 11]]}}})
find_row("intersecting", {"place": {"$geoIntersects": {"$geometry": SPOT}}})
find_row("by wildcard index", {"sub.a": "t"}, hint={"sub.$**": 1})
find_row("between keys", {}, hint={"k": 1}, min={"k": "t"}, max={"k": "t\x01"})
find_row("between ids", {}, hint="_id_", min={"_id": "t"}, max={"_id": "t\x01"})
find_row("with record id", {"k": "t"}, showRecordId=True)
LOOSE = {"locale": "en", "strength": 2}
find_row("by collated index", {"k": "T"}, collation=LOOSE, hint="loose")
find_row("by collation", {"plain": "T"}, collation=LOOSE)
find_row("by scan", {"k": "t"}, hint={"$natural": 1})
find_row("by scan backward", {"k": "t"}, hint={"$natural": -1})
find_row("covered", {"k": "t"}, projection={"_id": 0, "k": 1}, hint={"k": 1})
find_row("covered by _id", {"_id": "t"}, projection={"_id": 1})
find_row("projected", {"k": "t"}, projection={"n": 0})
find_row("$or", {"$or": [{"k": "t"}, {"u": "t"}]})
find_row("$or of scan and index", {"$or": [{"k": "t"}, {"plain": "t"}]})
find_row("$or of _id and index", {"$or": [{"_id": "t"}, {"k": "t"}]})
find_row("$or merged", {"$or": [{"k": "t"}, {"u": "t"}]}, sort={"k": 1, "_id": 1}, limit=3)
find_row("$in merged", {"g": {"$in": [1, 2]}, "k": "t"}, sort={"k": -1}, hint={"g": 1, "k": -1})
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
scan_row("all sorted by collated index", {}, sort={"k": 1}, collation=LOOSE, hint="loose")
scan_row(
    "all by distance in a range",
    {"place": {"$near": {"$geometry": SPOT}}, "k": {"$gte": ""}},
    batchSize=2,
    hint="k_place",
)
scan_row("all by distance", {"place": {"$near": {"$geometry": SPOT}}}, batchSize=2)
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


@read("find skip by index")
def _(c):
    rows = c.find({"k": {"$gte": ""}}, hint={"k": 1}, sort={"k": 1}, skip=c.controls)
    return c.judge(len(rows), FILLERS + 1, 0)


@read("find skip by _id")
def _(c):
    return c.judge(len(c.find({}, sort={"_id": 1}, skip=c.controls)), FILLERS + 1, 0)


# getMore: the cursor was opened while everything was live.


def cursor_row(name, command, collection="r", show=lambda row: [row["_id"]], twice=False, **more):
    """Adds a cursor that has returned its first batch; `show` returns a row's ids."""

    def prepare(c):
        cursor = c.command(command, collection, **more)["cursor"]
        assert cursor["id"], "the cursor is already at its end"
        return cursor

    def run(c):
        # Documents that the first batch returned before the deadline are not ghosts.
        early = set() if twice else {id for row in c.prepared["firstBatch"] for id in show(row)}
        late = [id for row in c.rest(c.prepared, collection) for id in show(row)]
        if not twice and (len(set(late)) != len(late) or early & set(late)):
            raise Strange(f"{late}")
        controls = {f"c{i}" for i in range(c.controls)} - early
        mortals = {"t", *(f"f{i}" for i in range(FILLERS))} - early
        assert mortals, "nothing is left to die"
        seen = set(late) - {"l"}
        if seen not in (controls, controls | mortals):
            raise Strange(f"{late}")
        return seen != controls

    READS.append(Path(f"getMore {name}", run, prepare))


cursor_row("of a find without first batch", "find", filter={}, batchSize=0)
cursor_row("of a find", "find", filter={}, batchSize=1)
cursor_row("of an index scan", "find", filter={"k": {"$gte": ""}}, hint={"k": 1}, batchSize=1)
EITHER = {"$or": [{"k": {"$gte": ""}}, {"_id": {"$gte": ""}}, {"u": {"$gte": ""}}]}
cursor_row("by distance", "find", filter={"place": {"$near": {"$geometry": SPOT}}}, batchSize=1)
cursor_row("of alternatives", "find", filter=EITHER, batchSize=1)
MERGED = {"$or": [{"k": {"$gte": ""}}, {"g": 1}]}
cursor_row("of merged alternatives", "find", filter=MERGED, sort={"k": 1}, batchSize=1)
cursor_row("of a backward scan", "find", filter={}, sort={"_id": -1}, batchSize=1)
cursor_row("of a sort in memory", "find", filter={}, sort={"plain": 1}, batchSize=1)
cursor_row("of a sort by index", "find", filter={}, sort={"k": 1}, batchSize=1)
cursor_row("of an aggregate", "aggregate", pipeline=[{"$match": {}}], cursor={"batchSize": 1})
cursor_row(
    "of an aggregate with $sort",
    "aggregate",
    pipeline=[{"$sort": {"plain": -1}}],
    cursor={"batchSize": 1},
)
cursor_row(
    "of an aggregate with $project",
    "aggregate",
    pipeline=[{"$project": {"k": 1}}],
    cursor={"batchSize": 0},
)


def pipeline_row(name, *stages, collection="r", size=1, **more):
    """Adds an aggregation whose rows are not, or not only, documents of its own collection."""
    cursor_row(
        f"of an aggregate with {name}",
        "aggregate",
        collection,
        pipeline=list(stages),
        cursor={"batchSize": size},
        **more,
    )


def joined_row(name, *stages):
    pipeline_row(name, *stages, collection="l", show=lambda row: [row["found"]["_id"]])


pipeline_row("$unionWith", {"$unionWith": "r"}, collection="l")
pipeline_row("$unionWith behind", {"$unionWith": "r"}, collection="none")
pipeline_row(
    "$replaceRoot $sort",
    {"$replaceRoot": {"newRoot": {"x": "$k"}}},
    {"$sort": {"x": 1}},
    show=lambda row: [row["x"]],
)
joined_row(
    "$lookup $unwind",
    {"$lookup": {"from": "r", "localField": "g", "foreignField": "g", "as": "found"}},
    {"$unwind": "$found"},
)
joined_row(
    "$lookup pipeline $unwind",
    {"$lookup": {"from": "r", "pipeline": [], "as": "found"}},
    {"$unwind": "$found"},
)
joined_row(
    "$graphLookup $unwind",
    {
        "$graphLookup": {
            "from": "r",
            "startWith": "$g",
            "connectFromField": "none",
            "connectToField": "g",
            "as": "found",
        }
    },
    {"$unwind": "$found"},
)
# Every row contains all documents, so that documents of an earlier batch are checked again.
pipeline_row(
    "an uncorrelated $lookup",
    {"$match": {"n": 900}},
    {"$lookup": {"from": "r", "pipeline": [], "as": "found"}},
    twice=True,
    show=lambda row: [one["_id"] for one in row["found"]],
)


@read("find within a session")
def _(c):
    with c.db.client.start_session() as session:
        return c.one(list(c.db["r"].find({"_id": "t"}, session=session)))


@read("find by every index")
def _(c):
    # Including TTL indexes on dates; every document is in all of these indexes.
    seen = set()
    for index in c.db["r"].list_indexes():
        partial = index.get("partialFilterExpression", {})
        # An index of these kinds serves only conditions of its own.
        kinds = ("text", "2d", "2dsphere")
        own = any("$**" in path or kind in kinds for path, kind in index["key"].items())
        if "_ts" not in index["key"] and not index.get("hidden") and "p" not in partial and not own:
            seen.add(c.ids(c.find({}, hint=index["name"])))
    if len(seen) != 1:
        raise Strange("indexes disagree")
    return seen.pop()


@read("killCursors of a cursor, then find")
def _(c):
    cursor = c.command("find", "r", filter={}, batchSize=1)["cursor"]
    if cursor["id"]:
        c.command("killCursors", "r", cursors=[cursor["id"]])
    return c.ids(c.find({}))
