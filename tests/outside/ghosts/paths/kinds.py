"""Reads of a clustered and of a capped collection, which have the documents of the collection of
all reads, and by kinds of index that serve special conditions only."""

import dataclasses

from lib.paths import FILLERS

from ghosts.paths.table import READS, Path, read

#: The database of the collections below; other paths list and count those of the first one.
DATABASE = "kinds"
#: Options of `create` by collection.
COLLECTIONS = {
    "clustered": {"clusteredIndex": {"key": {"_id": 1}, "unique": True, "name": "by_id"}},
    "capped": {"capped": True, "size": 64 * 1024 * 1024},
}
#: The filter of documents that expire together: `f0` and so on, and `t`.
MORTALS = {"_id": {"$gte": "f"}}


def here(c):
    """Returns the cell in the database of these collections."""
    return dataclasses.replace(c, db=c.db.client[DATABASE])


for kind in COLLECTIONS:

    @read(f"find in a {kind} collection")
    def _(c, kind=kind):
        return c.ids(here(c).rows("find", kind, filter={}))

    @read(f"find in a {kind} collection, in batches")
    def _(c, kind=kind):
        return c.ids(here(c).rows("find", kind, filter={}, batchSize=1))

    @read(f"find backward in a {kind} collection")
    def _(c, kind=kind):
        return c.ids(here(c).rows("find", kind, filter={}, sort={"$natural": -1}))

    @read(f"find by range of ids in a {kind} collection")
    def _(c, kind=kind):
        rows = here(c).rows("find", kind, filter=MORTALS, hint={"_id": 1})
        return c.judge(len(rows), FILLERS + 1, 0)

    @read(f"find by index in a {kind} collection")
    def _(c, kind=kind):
        return c.one(here(c).rows("find", kind, filter={"k": "t"}, hint="k_1"))

    @read(f"count of a {kind} collection")
    def _(c, kind=kind):
        return c.all_or_controls(here(c).command("count", kind)["n"])

    @read(f"aggregate of a {kind} collection")
    def _(c, kind=kind):
        return c.one(here(c).aggregate({"$match": {"_id": "t"}}, collection=kind))


def followed(c, cursor):
    """Judges the documents that a tailable cursor has returned and will return, and ends it."""
    more = here(c).command("getMore", cursor["id"], collection="capped", batchSize=1000)["cursor"]
    here(c).command("killCursors", "capped", cursors=[cursor["id"]])
    return c.ids([*cursor["firstBatch"], *more["nextBatch"]])


def follow(c):
    return here(c).command("find", "capped", filter={}, tailable=True, batchSize=0)["cursor"]


@read("find with a tailable cursor")
def _(c):
    return followed(c, follow(c))


READS.append(Path("getMore of a tailable cursor", lambda c: followed(c, c.prepared), follow))


@read("find by compound wildcard index")
def _(c):
    return c.one(c.find({"g": 1, "sub.a": "t"}, hint="g_below_sub"))


@read("find by the other fields of a compound wildcard index")
def _(c):
    return c.ids(c.find({"g": 1}, hint="g_below_sub"))


@read("find by text or index")
def _(c):
    return c.one(c.find({"$or": [{"$text": {"$search": "t"}}, {"k": "t"}]}))
