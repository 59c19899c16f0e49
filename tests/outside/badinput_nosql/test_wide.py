"""Queries and bodies with as many elements as a request may have: every list gets thousands of
different ones. A linear search for each of them would be far too slow."""

import pytest
from lib.wire import WITHIN

from badinput_nosql.attacked import ONE
from badinput_nosql.wire import PARTITION_KEY, query, request

WIDTH = 20_000
#: A query's text may have half a million characters.
NUMBERS = range(WIDTH)
DOCS = "/dbs/data/colls/wide/docs"
KEY = {PARTITION_KEY: '["x"]'}


def each(text, joined=",", count=WIDTH):
    """Returns `count` copies of the text, with the number in place of `#`."""
    return joined.join(text.replace("#", str(i)) for i in range(count))


def select(what, rest="", parameters=()):
    return query(f"SELECT {what} FROM c {rest}", parameters, path=DOCS, headers=KEY)


def create(path, body, headers=None):
    return request("POST", path, body, headers or {})


PLACES = {
    "columns": lambda: select(each("c.f# AS a#")),
    "columns of one name": lambda: select(each("c.f#")),
    "columns without names": lambda: select(each("c.f#+1")),
    "an object": lambda: select("VALUE {" + each("'f#':c.f#") + "}"),
    "an array": lambda: select("VALUE [" + each("c.f#") + "]"),
    "an object of numbers": lambda: select("VALUE {" + each("'f#':#") + "}"),
    "IN": lambda: select("VALUE 1", "WHERE c.f1 IN (" + each("'x#'") + ")"),
    "IN of expressions": lambda: select("VALUE 1", "WHERE c.f1 IN (" + each("c.g#") + ")"),
    "IN of ids": lambda: select("VALUE 1", "WHERE c.id IN (" + each("'x#'") + ")"),
    "OR": lambda: select("VALUE 1", "WHERE " + each("c.f1=-#", " OR ")),
    "OR of different ones": lambda: select("VALUE 1", "WHERE " + each("c.f#=-1", " OR ")),
    "AND": lambda: select("VALUE 1", "WHERE " + each("c.f#=1", " AND ")),
    "AND of ranges": lambda: select("VALUE 1", "WHERE " + each("c.f1>-#", " AND ")),
    "NOT": lambda: select("VALUE 1", "WHERE " + each("NOT c.f#=-1", " AND ")),
    "a sum": lambda: select("VALUE " + each("c.f#", "+")),
    "a text": lambda: select("VALUE " + each("'x#'", "||")),
    "CONCAT": lambda: select("VALUE CONCAT(" + each("'x#'") + ")"),
    "ARRAY_CONCAT": lambda: select("VALUE ARRAY_CONCAT(" + each("[#]") + ")"),
    "CHOOSE": lambda: select("VALUE CHOOSE(19999," + each("#") + ")"),
    "coalesced": lambda: select("VALUE " + each("c.g#", "??")),
    "either or": lambda: select("VALUE " + each("c.g#?1:", "") + "2"),
    "groups": lambda: select("COUNT(1) AS n", "GROUP BY " + each("c.f#")),
    "groups that are shown": lambda: select(
        each("c.f#", count=8000), "GROUP BY " + each("c.f#", count=8000)
    ),
    "aggregates": lambda: select(each("SUM(c.f#) AS a#")),
    "an order": lambda: select("VALUE 1", "ORDER BY " + each("c.f#")),
    "joins": lambda: select("VALUE 1", each("JOIN x# IN c.one", " ")),
    "joins that are read": lambda: select(
        "VALUE [" + each("x#", count=8000) + "]", each("JOIN x# IN c.one", " ", 8000)
    ),
    "parameters": lambda: select(
        "VALUE [" + each("@p#") + "]", "", [{"name": f"@p{i}", "value": i} for i in NUMBERS]
    ),
    "parameters that nothing reads": lambda: select(
        "VALUE 1", "", [{"name": f"@p{i}", "value": i} for i in range(100_000)]
    ),
    "a list as a parameter": lambda: select(
        "VALUE 1", "WHERE ARRAY_CONTAINS(@p,c.f1)", [{"name": "@p", "value": [*range(100_000)]}]
    ),
    "an object as a parameter": lambda: select(
        "VALUE @p", "", [{"name": "@p", "value": {f"f{i}": i for i in range(100_000)}}]
    ),
    "CONTAINS_ANY": lambda: select("VALUE ARRAY_CONTAINS_ANY(c.list," + each("-#") + ")"),
    "CONTAINS_ALL": lambda: select("VALUE ARRAY_CONTAINS_ALL(c.list," + each("#") + ")"),
    "SETUNION": lambda: select("VALUE SETUNION(c.list,c.list)"),
    "SETINTERSECT": lambda: select("VALUE SETINTERSECT(c.list,c.list)"),
    "SETDIFFERENCE": lambda: select("VALUE SETDIFFERENCE(c.list,c.list)"),
    "OBJECTTOARRAY": lambda: select("VALUE OBJECTTOARRAY(c)"),
    "DISTINCT": lambda: select("DISTINCT VALUE x", "JOIN x IN c.list"),
    "EXISTS": lambda: select(
        "VALUE 1", "WHERE " + each("EXISTS(SELECT 1 FROM x IN c.g#)", " OR ", 8000)
    ),
    "sub-queries": lambda: select("VALUE [" + each("(SELECT VALUE c.f#)", count=8000) + "]"),
    "brackets": lambda: select("VALUE " + "(" * 20_000 + "1" + ")" * 20_000),
    "a path": lambda: select("VALUE c" + each(".f#", "")),
    "an item": lambda: create(
        DOCS, {"id": "2", "pk": "x", **{f"f{i}": i for i in range(100_000)}}, KEY
    ),
    "an item of arrays": lambda: create(
        DOCS, {"id": "3", "pk": "x", "list": [[i] for i in range(100_000)]}, KEY
    ),
    "an item of deep paths": lambda: create(
        DOCS, {"id": "4", "pk": "x", **{f"f{i}": {"a": {"b": i}} for i in range(50_000)}}, KEY
    ),
    "paths of an index": lambda: create(
        "/dbs/data/colls",
        {
            "id": "paths",
            "partitionKey": ONE,
            "indexingPolicy": {
                "includedPaths": [{"path": f"/f{i}/?"} for i in NUMBERS],
                "excludedPaths": [{"path": "/*"}],
            },
        },
    ),
    "composite indexes": lambda: create(
        "/dbs/data/colls",
        {
            "id": "composites",
            "partitionKey": ONE,
            "indexingPolicy": {
                "compositeIndexes": [[{"path": f"/f{i}"}, {"path": f"/g{i}"}] for i in NUMBERS]
            },
        },
    ),
    "unique keys": lambda: create(
        "/dbs/data/colls",
        {
            "id": "unique",
            "partitionKey": ONE,
            "uniqueKeyPolicy": {"uniqueKeys": [{"paths": [f"/f{i}"]} for i in NUMBERS]},
        },
    ),
    "a unique key": lambda: create(
        "/dbs/data/colls",
        {
            "id": "unique2",
            "partitionKey": ONE,
            "uniqueKeyPolicy": {"uniqueKeys": [{"paths": [f"/f{i}" for i in NUMBERS]}]},
        },
    ),
    "a partition key": lambda: create(
        "/dbs/data/colls",
        {
            "id": "key",
            "partitionKey": {
                "paths": [f"/f{i}" for i in NUMBERS],
                "kind": "MultiHash",
                "version": 2,
            },
        },
    ),
    "a patch": lambda: request(
        "PATCH",
        f"{DOCS}/1",
        {"operations": [{"op": "set", "path": f"/g{i}", "value": i} for i in NUMBERS]},
        KEY,
    ),
    "a batch": lambda: request(
        "POST",
        DOCS,
        [{"operationType": "Create", "resourceBody": {"id": f"b{i}", "pk": "x"}} for i in NUMBERS],
        {
            **KEY,
            "x-ms-cosmos-is-batch-request": "True",
            "x-ms-cosmos-batch-atomic": "True",
            "x-ms-cosmos-batch-ordered": "True",
        },
    ),
}


@pytest.fixture(scope="module", autouse=True)
def wide(attacked):
    """A container without indexes that contains one wide item."""
    bare = {"includedPaths": [], "excludedPaths": [{"path": "/*"}]}
    attacked.make("/dbs/data/colls", {"id": "wide", "partitionKey": ONE, "indexingPolicy": bare})
    body = {f"f{i}": i for i in NUMBERS}
    item = {"id": "1", "pk": "x", "one": [1], "list": [*NUMBERS], **body}
    attacked.make(DOCS, item, KEY)
    attacked.keep()
    attacked.held = attacked.state()


ANSWERS = (200, 201, 207, 400, 408, 413, 503)


@pytest.mark.parametrize("place", PLACES)
def test_answered_in_time(attacked, place):
    data = PLACES[place]()
    with attacked.undisturbed():
        # Other suites run at the same time.
        attacked.survived(data, *ANSWERS, within=10 * WITHIN)
