"""Pipelines that write their result into another collection."""

from ghosts.paths.table import read


def written(c, *stages):
    """Runs a pipeline over document `t`, and judges the number of documents it has written."""
    c.aggregate({"$match": {"k": "t"}}, *stages)
    count = c.command("count", "written")["n"]
    # Other paths count all documents of the database.
    c.command("drop", "written")
    return c.judge(count, 1, 0)


@read("$out")
def _(c):
    return written(c, {"$out": "written"})


@read("$merge")
def _(c):
    return written(c, {"$merge": {"into": "written", "whenMatched": "fail"}})
