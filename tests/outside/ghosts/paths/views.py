"""Reads through views: plain, nested, joined, computed. The views are dropped after each path,
since other paths list the collections."""

import contextlib

from ghosts.paths.table import read

#: name: (source, pipeline)
VIEWS = {
    "v_all": ("r", []),
    "v_one": ("v_all", [{"$match": {"k": "t"}}]),
    "v_group": ("v_all", [{"$group": {"_id": "$k"}}, {"$match": {"_id": "t"}}]),
}


@contextlib.contextmanager
def views(c):
    for name, (source, pipeline) in VIEWS.items():
        c.command("create", name, viewOn=source, pipeline=pipeline)
    try:
        yield
    finally:
        for name in VIEWS:
            c.command("drop", name)


@read("find in a view")
def _(c):
    with views(c):
        return c.ids(c.rows("find", "v_all", filter={}))


@read("find in a view, in batches")
def _(c):
    with views(c):
        return c.ids(c.rows("find", "v_all", filter={}, batchSize=1))


@read("find by filter in a view")
def _(c):
    with views(c):
        return c.one(c.rows("find", "v_all", filter={"k": "t"}))


@read("find in a nested view")
def _(c):
    with views(c):
        return c.one(c.rows("find", "v_one", filter={}))


@read("aggregate of a view")
def _(c):
    with views(c):
        return c.one(c.aggregate({"$match": {"k": "t"}}, collection="v_all"))


@read("count of a view")
def _(c):
    with views(c):
        return c.judge(c.command("count", "v_one")["n"], 1, 0)


@read("distinct of a view")
def _(c):
    with views(c):
        return c.judge(len(c.command("distinct", "v_one", key="k")["values"]), 1, 0)


@read("group in a view")
def _(c):
    with views(c):
        return c.one(c.rows("find", "v_group", filter={}))


@read("$lookup of a view")
def _(c):
    joined = {"from": "v_one", "pipeline": [], "as": "j"}
    with views(c):
        rows = c.aggregate({"$documents": [{}]}, {"$lookup": joined}, collection=1)
    return c.judge(len(rows[0]["j"]), 1, 0)


@read("$unionWith of a view")
def _(c):
    with views(c):
        return c.one(c.aggregate({"$match": {"_id": "none"}}, {"$unionWith": "v_one"}))
