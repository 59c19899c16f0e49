"""Pipelines: every stage that reads a collection, and every one that counts or groups."""

from ghosts.paths.table import FILLERS, READS, Path, Strange, read


def stages_row(name, *stages, **more):
    """Adds an aggregation whose result depends on document `t` only."""
    READS.append(Path(f"aggregate {name}", lambda c: c.one(c.aggregate(*stages, **more))))


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
stages_row("$replaceWith", {"$replaceWith": "$sub"}, {"$match": {"a": "t"}})
stages_row("$set $unset", {"$set": {"x": "$k"}}, {"$unset": "k"}, {"$match": {"x": "t"}})
stages_row("hinted", BY_T, hint="k_1")
stages_row("with let", {"$match": {"$expr": {"$eq": ["$k", "$$v"]}}}, let={"v": "t"})
stages_row("$sort of all, first only", {"$sort": {"n": -1}}, {"$limit": 1}, {"$match": {"n": 999}})
SPOT = {"type": "Point", "coordinates": [99.9, 10]}
NEAR = {"near": SPOT, "key": "place", "distanceField": "d"}
stages_row("$geoNear", {"$geoNear": {**NEAR, "maxDistance": 100}})
stages_row("$geoNear with a query", {"$geoNear": {**NEAR, "query": {"k": "t"}}})
stages_row(
    "$geoNear, nearest only", {"$geoNear": NEAR}, {"$limit": 1}, {"$match": {"d": {"$lt": 100}}}
)
stages_row("$redact", BY_T, {"$redact": "$$KEEP"})


def total_row(name, *stages):
    def run(c):
        rows = c.aggregate(*stages)
        return c.all_or_controls(rows[0]["n"] if rows else 0)

    READS.append(Path(f"aggregate {name}", run))


total_row("$group sum", {"$group": {"_id": None, "n": {"$sum": 1}}})
total_row("$count", {"$count": "n"})
total_row("$match $count", {"$match": {"k": {"$gte": ""}}}, {"$count": "n"})
total_row(
    "$group push",
    {"$group": {"_id": None, "a": {"$push": "$k"}}},
    {"$project": {"n": {"$size": "$a"}}},
)
total_row(
    "$facet", {"$facet": {"a": [{"$count": "n"}]}}, {"$unwind": "$a"}, {"$project": {"n": "$a.n"}}
)
total_row("$geoNear $count", {"$geoNear": NEAR}, {"$count": "n"})
total_row("$sample", {"$sample": {"size": 1_000}}, {"$count": "n"})
total_row(
    "$bucketAuto", {"$bucketAuto": {"groupBy": "$k", "buckets": 1}}, {"$project": {"n": "$count"}}
)
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
    rows = c.aggregate({"$unionWith": "r"}, {"$match": {"same": 1}}, collection="l")
    return c.all_or_controls(len(rows))


def joined(c, stage):
    rows = c.aggregate(stage, collection="l")
    assert len(rows) == 1
    return rows[0]["found"]


@read("aggregate $lookup by _id")
def _(c):
    return c.one(
        joined(
            c, {"$lookup": {"from": "r", "localField": "ref", "foreignField": "_id", "as": "found"}}
        )
    )


@read("aggregate $lookup by index")
def _(c):
    return c.one(
        joined(
            c, {"$lookup": {"from": "r", "localField": "ref", "foreignField": "k", "as": "found"}}
        )
    )


@read("aggregate $lookup by scan")
def _(c):
    return c.one(
        joined(
            c,
            {"$lookup": {"from": "r", "localField": "ref", "foreignField": "plain", "as": "found"}},
        )
    )


@read("aggregate $lookup pipeline")
def _(c):
    return c.one(
        joined(
            c,
            {
                "$lookup": {
                    "from": "r",
                    "let": {"v": "$ref"},
                    "as": "found",
                    "pipeline": [{"$match": {"$expr": {"$eq": ["$k", "$$v"]}}}],
                }
            },
        )
    )


@read("aggregate $lookup by distance")
def _(c):
    near = {"$geoNear": {**NEAR, "maxDistance": 100}}
    return c.one(joined(c, {"$lookup": {"from": "r", "pipeline": [near], "as": "found"}}))


@read("aggregate $unionWith by distance")
def _(c):
    union = {"$unionWith": {"coll": "r", "pipeline": [{"$geoNear": {**NEAR, "maxDistance": 100}}]}}
    return c.judge(len(c.aggregate(union, collection="l")), 2, 1)


@read("aggregate $lookup both forms")
def _(c):
    return c.one(
        joined(
            c,
            {
                "$lookup": {
                    "from": "r",
                    "localField": "ref",
                    "foreignField": "k",
                    "as": "found",
                    "pipeline": [{"$match": {"g": 1}}],
                }
            },
        )
    )


@read("aggregate $lookup uncorrelated")
def _(c):
    return c.ids(joined(c, {"$lookup": {"from": "r", "pipeline": [], "as": "found"}}))


@read("aggregate $graphLookup")
def _(c):
    return c.one(
        joined(
            c,
            {
                "$graphLookup": {
                    "from": "r",
                    "startWith": "$ref",
                    "connectFromField": "none",
                    "connectToField": "k",
                    "as": "found",
                }
            },
        )
    )


@read("aggregate $facet with $lookup")
def _(c):
    rows = c.aggregate(
        {
            "$facet": {
                "a": [
                    {
                        "$lookup": {
                            "from": "r",
                            "localField": "ref",
                            "foreignField": "k",
                            "as": "found",
                        }
                    }
                ]
            }
        },
        collection="l",
    )
    return c.one(rows[0]["a"][0]["found"])


@read("aggregate $skip")
def _(c):
    return c.judge(len(c.aggregate({"$skip": c.controls})), FILLERS + 1, 0)


@read("aggregate $group first and last")
def _(c):
    group = {"_id": "$g", "first": {"$first": "$k"}, "last": {"$last": "$k"}}
    [row] = c.aggregate({"$sort": {"n": 1}}, {"$group": group})
    assert row["first"].startswith("c")
    if row["last"] not in ("t", f"c{c.controls - 1}", "c0"):
        raise Strange(f"{row}")
    return row["last"] == "t"


@read("aggregate $collStats count")
def _(c):
    rows = c.aggregate({"$collStats": {"count": {}}})
    return c.all_or_controls(rows[0]["count"])


@read("aggregate $collStats storageStats")
def _(c):
    rows = c.aggregate({"$collStats": {"storageStats": {}}})
    return c.all_or_controls(rows[0]["storageStats"]["count"])


@read("aggregate $documents $lookup")
def _(c):
    rows = c.aggregate(
        {"$documents": [{"ref": "t"}]},
        {"$lookup": {"from": "r", "localField": "ref", "foreignField": "k", "as": "found"}},
        collection=1,
    )
    return c.one(rows[0]["found"])


@read("aggregate $lookup within $lookup")
def _(c):
    inner = {"$lookup": {"from": "r", "localField": "ref", "foreignField": "u", "as": "inner"}}
    found = joined(c, {"$lookup": {"from": "l", "pipeline": [inner], "as": "found"}})
    return c.one(found[0]["inner"])


@read("aggregate $lookup within $unionWith")
def _(c):
    inner = {"$lookup": {"from": "r", "localField": "ref", "foreignField": "sp", "as": "inner"}}
    union = {"$unionWith": {"coll": "l", "pipeline": [inner]}}
    rows = c.aggregate(union, {"$match": {"inner": {"$exists": True}}})
    return c.one(rows[0]["inner"])


@read("aggregate $lookup from the collection itself")
def _(c):
    rows = c.aggregate(
        {"$match": {"k": "c0"}},
        {"$lookup": {"from": "r", "localField": "same", "foreignField": "same", "as": "found"}},
    )
    return c.ids(rows[0]["found"])


@read("aggregate $lookup $unwind $match")
def _(c):
    rows = c.aggregate(
        {"$lookup": {"from": "r", "localField": "ref", "foreignField": "k", "as": "found"}},
        {"$unwind": "$found"},
        {"$match": {"found.k": "t"}},
        collection="l",
    )
    return c.one(rows)


@read("aggregate $graphLookup of several steps")
def _(c):
    # All documents have the same `same`: the second step leads from any to all.
    found = joined(
        c,
        {
            "$graphLookup": {
                "from": "r",
                "startWith": 1,
                "connectFromField": "same",
                "connectToField": "g",
                "maxDepth": 2,
                "restrictSearchWithMatch": {"n": {"$gte": 0}},
                "as": "found",
            }
        },
    )
    return c.ids(found)


@read("aggregate $facet of several")
def _(c):
    parts = {"n": [{"$count": "n"}], "t": [BY_T], "k": [{"$sortByCount": "$g"}]}
    [row] = c.aggregate({"$facet": parts})
    seen = c.all_or_controls(row["n"][0]["n"])
    if len(row["t"]) != int(seen) or row["k"][0]["count"] != row["n"][0]["n"]:
        raise Strange(f"{row}")
    return seen
