"""Counts, distinct values, statistics, explain and the forecast: paths that return numbers."""

from ghosts.paths.table import FILLERS, READS, Path, Strange, read


def count_row(name, about, **more):
    def run(c):
        n = c.command("count", "r", **more)["n"]
        return c.all_or_controls(n) if about == "all" else c.judge(n, 1, 0)

    READS.append(Path(f"count {name}", run))


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


# Statistics, explain, expiry.


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
    # The count uses the index only.
    stats = explained(c, {"count": "r", "query": {"k": "t"}})
    if stats["totalDocsExamined"]:
        raise Strange(f"{stats}")
    return c.judge(stats["totalKeysExamined"], 1, 0)


@read("ebbExpiry")
def _(c):
    return c.all_or_controls(c.command("ebbExpiry", "r")["live"]["documents"])


@read("ebbExpiry preview")
def _(c):
    # Without the default TTL, the documents that count as live expire by their own dates only.
    reply = c.command("ebbExpiry", "r", preview={"default": None})
    if reply["dies_now"]["documents"] != 0:
        raise Strange(f"{reply}")
    return c.all_or_controls(c.command("ebbExpiry", "r")["live"]["documents"])


@read("ebbExpiry next")
def _(c):
    listed = c.command("ebbExpiry", "r", next=1000)["documents"]
    return "t" in [document["_id"] for document in listed]


@read("GET expiry")
def _(c):
    path = f"/_ebb/databases/{c.db.name}/collections/r/expiry"
    return c.all_or_controls(c.server.admin(path)["live"]["documents"])


@read("POST expiry preview")
def _(c):
    path = f"/_ebb/databases/{c.db.name}/collections/r/expiry/preview"
    if c.server.admin(path, {"default": None})["dies_now"]["documents"]:
        raise Strange("a default that is off kills nothing")
    return c.all_or_controls(c.server.admin(path.removesuffix("/preview"))["live"]["documents"])


def explain_row(name, about, command):
    """Adds an explain, which must not count expired documents as examined."""

    def run(c):
        stats = explained(c, command)
        if stats["nReturned"] > stats["totalDocsExamined"]:
            raise Strange(f"{stats}")
        if about == "all":
            return c.all_or_controls(stats["totalDocsExamined"])
        return c.judge(stats["totalDocsExamined"], 1, 0)

    READS.append(Path(f"explain of {name}", run))


explain_row(
    "an update", "t", {"update": "r", "updates": [{"q": {"k": "t"}, "u": {"$set": {"x": 1}}}]}
)
explain_row("a delete", "t", {"delete": "r", "deletes": [{"q": {"k": "t"}, "limit": 0}]})
explain_row("a findAndModify", "t", {"findAndModify": "r", "query": {"_id": "t"}, "remove": True})
explain_row(
    "an aggregate", "t", {"aggregate": "r", "pipeline": [{"$match": {"k": "t"}}], "cursor": {}}
)
explain_row(
    "a group", "all", {"aggregate": "r", "pipeline": [{"$group": {"_id": "$k"}}], "cursor": {}}
)
explain_row("a distinct", "all", {"distinct": "r", "key": "k"})
explain_row("a sort", "all", {"find": "r", "filter": {}, "sort": {"plain": 1}})


@read("collStats and dbStats under their old names")
def _(c):
    seen = c.all_or_controls(c.command("collstats", "r")["count"])
    if c.all_or_controls(c.command("dbstats")["objects"] - 1) != seen:
        raise Strange("they disagree")
    return seen


@read("collStats.avgObjSize")
def _(c):
    stats = c.command("collStats", "r")
    if stats["avgObjSize"] != stats["size"] // stats["count"]:
        raise Strange(f"{stats}")
    return c.all_or_controls(stats["count"])


@read("dataSize")
def _(c):
    reply = c.command("dataSize", f"{c.db.name}.r")
    stats = c.command("collStats", "r")
    if (reply["size"], reply["numObjects"]) != (stats["size"], stats["count"]):
        raise Strange(f"{reply}")
    return c.all_or_controls(reply["numObjects"])


@read("dbStats.dataSize")
def _(c):
    size = c.command("dbStats")["dataSize"] - c.command("collStats", "l")["size"]
    if size != c.command("collStats", "r")["size"]:
        raise Strange(f"{size}")
    return c.all_or_controls(c.command("dbStats")["objects"] - 1)


@read("validate in full")
def _(c):
    reply = c.command("validate", "r", full=True)
    keys = reply["keysPerIndex"]
    single = {keys[name] for name in ("_id_", "k_1", "u_1", "sp_1", "g_1_k_-1")}
    if not reply["valid"] or single != {reply["nrecords"]}:
        raise Strange(f"{reply}")
    if keys["arr_1"] != 2 * reply["nrecords"]:
        raise Strange(f"{reply}")
    return c.all_or_controls(reply["nrecords"])
