"""The shapes of queries: text, and the expected result for given items. `answer(items)` gets the
live items, in the order of `n`.
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    """One query. The order of rows is checked if `ordered`."""

    name: str
    text: str
    answer: Callable
    ordered: bool = False
    parameters: tuple = ()
    #: Whether its pages, started while all items are live, continue with the remaining rows.
    continues: bool = False


def where(test):
    return lambda items: [item for item in items if test(item)]


def ids(test=lambda item: True):
    return lambda items: [item["id"] for item in items if test(item)]


def value(function):
    """Returns a function whose result is a single row."""
    return lambda items: [function(items)]


def numbers(items):
    return [item["n"] for item in items]


def is_t(item):
    return item["id"] == "t"


def backwards(items):
    return list(reversed(items))


def every(items):
    return list(items)


def mean(items):
    return sum(numbers(items)) / len(items)


def per_kind(items):
    return {
        kind: [item for item in items if item["kind"] == kind]
        for kind in sorted({item["kind"] for item in items})
    }


def param(name, value):
    return {"name": name, "value": value}


IDS = [f"f{i}" for i in range(8)] + ["t", "c0", "c1"]
#: Queries for one item by a predicate: (name, text after WHERE).
FINDERS = [
    ("the id", "c.id = 't'"),
    ("an indexed property", "c.k = 't'"),
    ("an unindexed property", "c.plain = 't'"),
    ("a nested property", "c.sub.a = 't'"),
    ("brackets", "c['sub']['a'] = 't'"),
    ("the partition key and a property", "c.pk = 'a' AND c.k = 't'"),
    ("a property that it alone has", "IS_DEFINED(c.only_t)"),
    ("a parameter", "c.k = @k"),
    ("an element", "c.arr[0] = 't-0'"),
    ("ARRAY_CONTAINS", "ARRAY_CONTAINS(c.arr, 't-1')"),
    ("ARRAY_CONTAINS of an object", "ARRAY_CONTAINS(c.tags, {'name': 't'}, true)"),
    ("IN of one", "c.k IN ('t', 'x')"),
    ("LIKE", "c.plain LIKE '%t'"),
    ("STARTSWITH", "STARTSWITH(c.k, 't')"),
    ("ENDSWITH", "ENDSWITH(c.k, 't')"),
    ("CONTAINS", "CONTAINS(c.plain, 'T', true)"),
    ("STRINGEQUALS", "STRINGEQUALS(c.k, 'T', true)"),
    ("REGEXMATCH", "REGEXMATCH(c.k, '^t$')"),
    ("a function of it", "UPPER(c.k) = 'T'"),
    ("arithmetic", "c.n * 2 = 1998"),
    ("concatenation", "c.k || c.plain = 'tt'"),
    ("coalescing", "(c.only_t ?? false) = true"),
    ("a conditional", "(c.only_t ? 1 : 2) = 1"),
    ("a range above all others", "c.n > 990"),
    ("BETWEEN", "c.n BETWEEN 999 AND 2000"),
    ("EXISTS", "EXISTS(SELECT VALUE a FROM a IN c.arr WHERE a = 't-0')"),
    ("EXISTS of objects", "EXISTS(SELECT VALUE x FROM x IN c.tags WHERE x.name = 't')"),
    ("a scalar sub-query", "(SELECT VALUE COUNT(1) FROM a IN c.arr WHERE a = 't-0') = 1"),
    (
        "ARRAY of a sub-query",
        "ARRAY_LENGTH(ARRAY(SELECT VALUE a FROM a IN c.arr WHERE a = 't-0')) = 1",
    ),
    ("OR", "c.k = 't' OR c.plain = 'none'"),
    ("NOT", "NOT (c.n < 990)"),
]

SHAPES = [
    Shape("star", "SELECT * FROM c", every, continues=True),
    Shape("no alias", "SELECT * FROM root", every),
    Shape("VALUE of the root", "SELECT VALUE c FROM c", every),
    Shape("a property", "SELECT c.id FROM c", lambda items: [{"id": i["id"]} for i in items]),
    Shape("VALUE of a property", "SELECT VALUE c.id FROM c", ids(), continues=True),
    Shape(
        "an expression",
        "SELECT VALUE {'i': c.id, 'm': c.n + 1} FROM c",
        lambda items: [{"i": i["id"], "m": i["n"] + 1} for i in items],
    ),
    Shape(
        "a function",
        "SELECT VALUE UPPER(c.k) FROM c",
        lambda items: [i["k"].upper() for i in items],
    ),
    Shape(
        "the own ttl",
        "SELECT VALUE c.id FROM c WHERE c.kind = 'm' OR IS_DEFINED(c.ttl)",
        ids(lambda item: item["kind"] == "m" or "ttl" in item),
    ),
    *(
        Shape(
            f"WHERE {name}",
            f"SELECT * FROM c WHERE {text}",
            where(is_t),
            parameters=(param("@k", "t"),),
        )
        for name, text in FINDERS
    ),
    Shape(
        "WHERE the partition key",
        "SELECT * FROM c WHERE c.pk = 'a'",
        where(lambda item: item["pk"] == "a"),
        continues=True,
    ),
    Shape(
        "WHERE not equal",
        "SELECT VALUE c.id FROM c WHERE c.k != 'c0'",
        ids(lambda item: item["id"] != "c0"),
    ),
    Shape(
        "WHERE IN of ids",
        f"SELECT VALUE c.id FROM c WHERE c.id IN ({str(IDS)[1:-1]})",
        ids(lambda item: item["id"] in IDS),
        continues=True,
    ),
    Shape(
        "WHERE a range",
        "SELECT VALUE c.id FROM c WHERE c.n >= 900 AND c.n < 5000",
        ids(),
        continues=True,
    ),
    Shape("WHERE _ts", "SELECT VALUE c.id FROM c WHERE c._ts > 0", ids()),
    Shape(
        "WHERE EXISTS for all",
        "SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE a FROM a IN c.arr)",
        ids(),
    ),
    Shape("ORDER BY", "SELECT * FROM c ORDER BY c.n", every, True, continues=True),
    Shape("ORDER BY, back", "SELECT * FROM c ORDER BY c.n DESC", backwards, True, continues=True),
    Shape(
        "ORDER BY composite",
        "SELECT VALUE c.id FROM c ORDER BY c.g ASC, c.k DESC",
        lambda items: sorted((i["id"] for i in items), reverse=True),
        True,
        continues=True,
    ),
    Shape(
        "ORDER BY composite, back",
        "SELECT VALUE c.id FROM c ORDER BY c.g DESC, c.k ASC",
        lambda items: sorted(i["id"] for i in items),
        True,
    ),
    Shape(
        "ORDER BY and WHERE",
        "SELECT VALUE c.id FROM c WHERE c.kind = 'm' OR c.n > 0 ORDER BY c.n DESC",
        lambda items: ids()(backwards(items)),
        True,
    ),
    Shape(
        "ORDER BY VALUE and TOP",
        "SELECT TOP 1 VALUE c.id FROM c ORDER BY c.n DESC",
        lambda items: ids()(items)[-1:],
        True,
    ),
    Shape("TOP", "SELECT TOP 100 * FROM c", every, continues=True),
    Shape(
        "TOP with ORDER BY",
        "SELECT TOP 3 * FROM c ORDER BY c.n DESC",
        lambda items: backwards(items)[:3],
        True,
    ),
    Shape(
        "TOP by a parameter",
        "SELECT TOP @n VALUE c.id FROM c ORDER BY c.n DESC",
        lambda items: ids()(backwards(items)[:2]),
        True,
        (param("@n", 2),),
    ),
    Shape(
        "OFFSET LIMIT",
        "SELECT VALUE c.id FROM c ORDER BY c.n DESC OFFSET 1 LIMIT 2",
        lambda items: ids()(backwards(items)[1:3]),
        True,
    ),
    Shape(
        "OFFSET past the controls",
        "SELECT VALUE c.id FROM c ORDER BY c.n OFFSET 4 LIMIT 50",
        lambda items: ids()(items[4:]),
        True,
    ),
    Shape(
        "DISTINCT",
        "SELECT DISTINCT c.kind FROM c",
        lambda items: [{"kind": kind} for kind in per_kind(items)],
    ),
    Shape(
        "DISTINCT VALUE", "SELECT DISTINCT VALUE c.kind FROM c", lambda items: [*per_kind(items)]
    ),
    Shape("DISTINCT of many", "SELECT DISTINCT VALUE c.k FROM c", ids(), continues=True),
    Shape(
        "DISTINCT with ORDER BY",
        "SELECT DISTINCT VALUE c.k FROM c ORDER BY c.k",
        lambda items: sorted(i["k"] for i in items),
        True,
        continues=True,
    ),
    Shape("COUNT", "SELECT VALUE COUNT(1) FROM c", value(len)),
    Shape("COUNT by name", "SELECT COUNT(1) AS n FROM c", value(lambda items: {"n": len(items)})),
    Shape(
        "COUNT without a name", "SELECT COUNT(1) FROM c", value(lambda items: {"$1": len(items)})
    ),
    Shape(
        "COUNT of a property",
        "SELECT VALUE COUNT(c.only_t) FROM c",
        value(lambda items: sum("only_t" in item for item in items)),
    ),
    Shape("COUNT of the root", "SELECT VALUE COUNT(c) FROM c", value(len)),
    Shape("COUNT WHERE", "SELECT VALUE COUNT(1) FROM c WHERE c.n > 0", value(len)),
    Shape(
        "COUNT WHERE the partition key",
        "SELECT VALUE COUNT(1) FROM c WHERE c.pk = 'a'",
        value(lambda items: sum(item["pk"] == "a" for item in items)),
    ),
    Shape("COUNT WHERE unindexed", "SELECT VALUE COUNT(1) FROM c WHERE c.plain >= ''", value(len)),
    Shape("SUM", "SELECT VALUE SUM(c.n) FROM c", value(lambda items: sum(numbers(items)))),
    Shape("MAX", "SELECT VALUE MAX(c.n) FROM c", value(lambda items: max(numbers(items)))),
    Shape("MIN", "SELECT VALUE MIN(-c.n) FROM c", value(lambda items: -max(numbers(items)))),
    Shape(
        "MAX of text",
        "SELECT VALUE MAX(c.k) FROM c",
        value(lambda items: max(item["k"] for item in items)),
    ),
    Shape("AVG", "SELECT VALUE AVG(c.n) FROM c", value(mean)),
    Shape("COUNTIF", "SELECT VALUE COUNTIF(c.n > 0) FROM c", value(len)),
    Shape(
        "several aggregates",
        "SELECT COUNT(1) AS n, SUM(c.n) AS s, MAX(c.k) AS m FROM c",
        value(
            lambda items: {
                "n": len(items),
                "s": sum(numbers(items)),
                "m": max(item["k"] for item in items),
            }
        ),
    ),
    Shape(
        "an aggregate of a sub-query",
        "SELECT VALUE SUM((SELECT VALUE COUNT(1) FROM a IN c.arr)) FROM c",
        value(lambda items: 2 * len(items)),
    ),
    Shape(
        "COUNT of DISTINCT",
        "SELECT COUNT(1) AS n FROM (SELECT DISTINCT VALUE c.k FROM c)",
        value(lambda items: {"n": len(items)}),
    ),
    Shape(
        "GROUP BY",
        "SELECT c.kind, COUNT(1) AS n FROM c GROUP BY c.kind",
        lambda items: [{"kind": k, "n": len(g)} for k, g in per_kind(items).items()],
        continues=True,
    ),
    Shape(
        "GROUP BY with all aggregates",
        "SELECT c.kind, COUNT(1) AS n, SUM(c.n) AS s, "
        "MIN(c.n) AS a, MAX(c.n) AS z, AVG(c.n) AS m FROM c GROUP BY c.kind",
        lambda items: [
            {
                "kind": k,
                "n": len(g),
                "s": sum(numbers(g)),
                "a": min(numbers(g)),
                "z": max(numbers(g)),
                "m": mean(g),
            }
            for k, g in per_kind(items).items()
        ],
    ),
    Shape(
        "GROUP BY of one group",
        "SELECT c.same, COUNT(1) AS n FROM c GROUP BY c.same",
        value(lambda items: {"same": 1, "n": len(items)}),
    ),
    Shape(
        "GROUP BY without aggregates", "SELECT VALUE c.k FROM c GROUP BY c.k", ids(), continues=True
    ),
    Shape(
        "GROUP BY a function",
        "SELECT UPPER(c.kind) AS u, COUNT(1) AS n FROM c GROUP BY UPPER(c.kind)",
        lambda items: [{"u": k.upper(), "n": len(g)} for k, g in per_kind(items).items()],
    ),
    Shape(
        "JOIN",
        "SELECT c.id, a FROM c JOIN a IN c.arr",
        lambda items: [{"id": i["id"], "a": a} for i in items for a in i["arr"]],
        continues=True,
    ),
    Shape(
        "JOIN and WHERE",
        "SELECT VALUE a FROM c JOIN a IN c.arr WHERE a = 't-1'",
        lambda items: [a for i in items for a in i["arr"] if a == "t-1"],
    ),
    Shape(
        "JOIN twice",
        "SELECT VALUE {'a': a, 'x': x.name} FROM c JOIN a IN c.arr JOIN x IN c.tags",
        lambda items: [{"a": a, "x": i["id"]} for i in items for a in i["arr"]],
    ),
    Shape(
        "JOIN and COUNT",
        "SELECT VALUE COUNT(1) FROM c JOIN a IN c.arr",
        value(lambda items: 2 * len(items)),
    ),
    Shape(
        "JOIN of a sub-query",
        "SELECT VALUE x FROM c JOIN (SELECT VALUE a FROM a IN c.arr WHERE a = 't-0') x",
        lambda items: [a for i in items for a in i["arr"] if a == "t-0"],
    ),
    Shape(
        "FROM elements",
        "SELECT VALUE a FROM a IN c.arr",
        lambda items: [a for i in items for a in i["arr"]],
    ),
    Shape("FROM a path", "SELECT VALUE s FROM c.sub s", lambda items: [i["sub"] for i in items]),
    Shape("FROM a sub-query", "SELECT VALUE s.k FROM (SELECT c.k FROM c) AS s", ids()),
    Shape(
        "ARRAY in the list",
        "SELECT VALUE ARRAY(SELECT VALUE a FROM a IN c.arr) FROM c",
        lambda items: [i["arr"] for i in items],
    ),
    Shape(
        "a scalar sub-query in the list",
        "SELECT VALUE (SELECT VALUE COUNT(1) FROM a IN c.arr WHERE a = 't-0') FROM c WHERE c.n > 0",
        lambda items: [int(i["id"] == "t") for i in items],
    ),
    Shape(
        "EXISTS in the list",
        "SELECT VALUE {'i': c.id, 'e': EXISTS(SELECT VALUE a FROM a IN c.arr)} FROM c",
        lambda items: [{"i": i["id"], "e": True} for i in items],
    ),
    Shape(
        "read-many",
        "SELECT * FROM c WHERE ( ( c.id = @param_id0 AND c.pk = @param_pk00 ) OR "
        "( c.id = @param_id1 AND c.pk = @param_pk10 ) OR "
        "( c.id = @param_id2 AND c.pk = @param_pk20 ) )",
        where(lambda item: item["id"] in ("t", "c0", "f0")),
        parameters=(
            param("@param_id0", "t"),
            param("@param_pk00", "a"),
            param("@param_id1", "c0"),
            param("@param_pk10", "a"),
            param("@param_id2", "f0"),
            param("@param_pk20", "a"),
        ),
    ),
]
