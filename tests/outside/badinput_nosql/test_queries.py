"""Queries that do not compile, with error code and position; queries over the limits; parameters;
and unsupported features, which the error names."""

import pytest
from lib.texts import COMPOSITE

from badinput_nosql.wire import QUERY, query, request

DOCS = "/dbs/data/colls/c/docs"
PLAN = {
    "x-ms-documentdb-isquery": None,
    "x-ms-cosmos-is-query-plan-request": "True",
    "x-ms-cosmos-query-version": "1.4",
    "x-ms-cosmos-supported-query-features": (
        "OrderBy, Top, Distinct, GroupBy, Aggregate, CompositeAggregate, MultipleOrderBy, "
        "OffsetAndLimit"
    ),
}


def near(token):
    return f"Syntax error, incorrect syntax near '{token}'."


def name(text):
    return f"Identifier '{text}' could not be resolved."


def function(text):
    return f"'{text}' is not a recognized built-in function name."


#: Query, code, text at the position of the error, message. None: anything.
WRONG = [
    ("SELEC * FROM c", "SC1001", "SELEC", near("SELEC")),
    ("SELECT * FRM c", "SC1001", None, None),
    ("SELECT * FROM c WHERE", "SC1002", "", None),
    ("SELECT * FROM", "SC1002", "", None),
    ("SELECT", "SC1002", "", None),
    ("SELECT * FROM c WHERE c.n =", "SC1002", "", None),
    ("SELECT * FROM c WHERE = 1", "SC1001", "=", near("=")),
    ("SELECT * FROM c WHERE c.n == 1", "SC1001", None, None),
    ("SELECT * FROM c ORDER c.n", "SC1001", "c", near("c")),
    ("SELECT * FROM c GROUP c.n", "SC1001", "c", near("c")),
    ("SELECT c.n FROM c GROUP BY c.n HAVING c.n > 1", "SC1001", "HAVING", near("HAVING")),
    ("SELECT * FROM c LIMIT 1", "SC1001", None, None),
    ("SELECT * FROM c OFFSET 1", "SC1002", "", None),
    ("SELECT * FROM c LIMIT 1 OFFSET 1", "SC1001", None, None),
    ("SELECT TOP * FROM c", "SC1001", "*", near("*")),
    ("SELECT c. FROM c", "SC1001", None, None),
    ("SELECT c[ FROM c", "SC1001", "FROM", near("FROM")),
    ("SELECT c['a' FROM c", "SC1001", "FROM", near("FROM")),
    ("SELECT (c.n FROM c", "SC1001", "FROM", near("FROM")),
    ("SELECT c.n) FROM c", "SC1001", ")", near(")")),
    ("SELECT {a:} FROM c", "SC1001", "}", near("}")),
    ("SELECT {1:2} FROM c", "SC1001", "1", near("1")),
    ("SELECT [1,2 FROM c", "SC1001", "FROM", near("FROM")),
    ("SELECT * FROM c WHERE c.n IN ()", "SC1001", ")", near(")")),
    ("SELECT * FROM c WHERE c.n IN 1", "SC1001", "1", near("1")),
    ("SELECT * FROM c WHERE c.n BETWEEN 1", "SC1002", "", None),
    ("SELECT * FROM c WHERE c.n BETWEEN 1 OR 2", "SC1001", None, None),
    ("SELECT * FROM c WHERE c.s LIKE", "SC1002", "", None),
    ("SELECT * FROM c WHERE NOT", "SC1002", "", None),
    ("SELECT * FROM c JOIN d", None, None, None),
    ("SELECT * FROM c JOIN d IN", "SC1002", "", None),
    ("SELECT * FROM c, d IN", "SC1001", None, None),
    ("SELECT * FROM c; SELECT * FROM c", None, ";", None),
    ("INSERT INTO c VALUES (1)", "SC1001", "INSERT", near("INSERT")),
    ("DELETE FROM c", "SC1001", "DELETE", near("DELETE")),
    ("UPDATE c SET c.n = 1", "SC1001", "UPDATE", near("UPDATE")),
    ("DROP TABLE c", "SC1001", "DROP", near("DROP")),
    ("x", "SC1001", "x", near("x")),
    ("1", "SC1001", "1", near("1")),
    ("SELECT * FROM c UNION SELECT * FROM c", "SC1001", None, None),
    ("SELECT DISTINCT FROM c", "SC1001", "FROM", near("FROM")),
    ("SELECT VALUE FROM c", "SC1001", "FROM", near("FROM")),
    ("SELECT c.a AS FROM c", "SC1001", "FROM", near("FROM")),
    ("SELECT c.n ? 1 FROM c", "SC1001", "FROM", near("FROM")),
    ("SELECT * FROM c WHERE c.n ?? ", "SC1002", "", None),
    ("SELECT 'x FROM c", None, None, None),
    ('SELECT "x FROM c', None, None, None),
    ("SELECT '\\u12' FROM c", None, None, None),
    ("SELECT 1a FROM c", None, None, None),
    ("SELECT 1e FROM c", None, None, None),
    ("SELECT 1e999 FROM c", None, None, None),
    ("SELECT 0x FROM c", None, None, None),
    ("SELECT c.n # 1 FROM c", None, None, None),
    ("SELECT @ FROM c", None, None, None),
    ("SELECT `c` FROM c", None, None, None),
    ("SELECT * FROM c /* open", None, None, None),
    ("SELECT c.n \\ 1 FROM c", None, None, None),
    ("SELECT $ FROM c", None, None, None),
    ("SELECT \0 FROM c", None, None, None),
    ("\ufeff\ufeffSELECT \u2028* FRM c", None, None, None),
    ("SELECT x FROM c", "SC2001", "x", name("x")),
    ("SELECT x.y FROM c", "SC2001", "x", name("x")),
    ("SELECT * FROM c WHERE d.n = 1", "SC2001", "d", name("d")),
    ("SELECT * FROM c WHERE C.n = 1", "SC2001", "C", name("C")),
    ("SELECT * FROM c ORDER BY d.n", "SC2001", "d", name("d")),
    ("SELECT c.n FROM c GROUP BY d.n", "SC2001", "d", name("d")),
    ("SELECT * FROM c WHERE EXISTS(SELECT VALUE d FROM e IN c.list)", "SC2001", "d", name("d")),
    ("SELECT * FROM c JOIN d IN e.list", "SC2001", "e", name("e")),
    ("SELECT 'é😀', x FROM c", "SC2001", "x", name("x")),
    ("SELECT udf FROM c", None, None, None),
    ("SELECT NOPENOP(c.n) FROM c", "SC2005", "NOPENOP", function("NOPENOP")),
    ("SELECT * FROM c WHERE nofunction(c.n)", "SC2005", "nofunction", function("nofunction")),
    ("SELECT abs2(1) FROM c", "SC2005", "abs2", function("abs2")),
    ("SELECT sleep(10) FROM c", "SC2005", "sleep", function("sleep")),
    ("SELECT ABS(NOPE(1)) FROM c", "SC2005", "NOPE", function("NOPE")),
    ("SELECT 'é😀', NOPE(1) FROM c", "SC2005", "NOPE", function("NOPE")),
    ("SELECT load_file('/etc/passwd') FROM c", "SC2005", "load_file", function("load_file")),
    ("SELECT ABS() FROM c", None, None, None),
    ("SELECT ABS(1,2) FROM c", None, None, None),
    ("SELECT CONTAINS('a') FROM c", None, None, None),
    ("SELECT PI(1) FROM c", None, None, None),
    ("SELECT COUNT() FROM c", None, None, None),
    ("SELECT SUM(1,2) FROM c", None, None, None),
    ("SELECT *", None, None, None),
    ("SELECT * FROM c JOIN d IN c.list", None, None, None),
    ("SELECT c.n, COUNT(1) FROM c", None, None, None),
    ("SELECT c.s FROM c GROUP BY c.n", None, None, None),
    ("SELECT * FROM c GROUP BY c.n", None, None, None),
    ("SELECT * FROM c WHERE COUNT(1) > 1", None, None, None),
    ("SELECT COUNT(COUNT(1)) FROM c", None, None, None),
    ("SELECT c.n, c.n FROM c", None, None, None),
    ("SELECT c.a AS x, c.b AS x FROM c", None, None, None),
    ("SELECT TOP -1 * FROM c", None, None, None),
    ("SELECT TOP 1.5 * FROM c", None, None, None),
    ("SELECT TOP 'x' * FROM c", None, None, None),
    ("SELECT TOP 1e300 * FROM c", None, None, None),
    ("SELECT * FROM c OFFSET -1 LIMIT 1", None, None, None),
    ("SELECT * FROM c OFFSET 0 LIMIT 1.5", None, None, None),
    ("SELECT TOP 1 * FROM c OFFSET 0 LIMIT 1", None, None, None),
    ("SELECT * FROM c JOIN c IN c.list", None, None, None),
    ("SELECT * FROM c WHERE c.s LIKE 'a' ESCAPE 'xx'", None, None, None),
    ("SELECT * FROM c WHERE c.s LIKE 'a' ESCAPE ''", None, None, None),
    ("SELECT c.* FROM c", None, None, None),
    ("", None, None, None),
    (" ", None, None, None),
    ("\0", None, None, None),
    ("--", None, None, None),
    ("/**/", None, None, None),
    ("SELECT * FROM c WHERE c.n = 1 c.m = 2", "SC1001", "c", near("c")),
]


@pytest.mark.parametrize(("text", "code", "place", "said"), WRONG, ids=range(len(WRONG)))
def test_queries_that_do_not_compile(attacked, text, code, place, said):
    """A query and its plan have the same code, message and position, which counts UTF-16 units."""
    for headers in ({}, PLAN):
        reply = attacked.refused(query(text, headers=headers), 400)
        if not text.strip("\ufeff \0") and isinstance(reply.errors()[0], str):
            continue
        error = reply.errors()[0]
        assert code in (None, error["code"]), reply
        assert said in (None, error["message"]), reply
        start, end = error["location"]["start"], error["location"]["end"]
        units = text.encode("utf-16-le")
        assert 0 <= start <= end <= len(units) // 2, reply
        if place is not None:
            found = units[2 * start : 2 * end].decode("utf-16-le")
            # The position of a call is either its name or the whole call.
            assert found == place or (code == "SC2005" and found.startswith(f"{place}(")), reply


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM c ORDER BY c.n, c.s",
        "SELECT * FROM c ORDER BY c.n ASC, c.s DESC",
        "SELECT c.n FROM c ORDER BY c.a, c.b, c.c",
    ],
)
def test_orders_without_a_composite_index(attacked, text):
    error = attacked.refused(query(text), 400, 0, COMPOSITE).errors()[0]
    assert error["code"] == "SC2104"


def test_a_full_text_score_outside_its_place(attacked):
    for text in (
        "SELECT FullTextScore(c.s, 'x') FROM c",
        "SELECT * FROM c WHERE FullTextScore(c.s, 'x') > 1",
    ):
        reply = attacked.refused(query(text), (400, 501))
        if reply.status == 400:
            assert reply.errors()[0]["code"] == "SC2240", reply
            assert reply.texts() == [
                "The FullTextScore function is only allowed in the ORDER BY RANK clause."
            ]


def test_a_partition_or_all(attacked):
    """A query over all partitions requires a header."""
    headers = {"x-ms-documentdb-query-enablecrosspartition": None}
    text = (
        "Cross partition query is required but disabled. Please set "
        "x-ms-documentdb-query-enablecrosspartition to true, specify "
        "x-ms-documentdb-partitionkey, or revise your query to avoid this exception."
    )
    attacked.refused(query("SELECT * FROM c", headers=headers), 400, 0, text)
    attacked.refused(
        query("SELECT * FROM c", headers={"x-ms-documentdb-query-enablecrosspartition": "False"}),
        400,
        0,
        text,
    )


LIMITS = {
    "512 KB and a byte": "SELECT * FROM c --" + "x" * (512 * 1024),
    "1 MB": "SELECT * FROM c WHERE c.s = '" + "x" * (1 << 20) + "'",
    "10,000 parentheses": "SELECT " + "(" * 10_000 + "1" + ")" * 10_000 + " FROM c",
    "10,000 that do not close": "SELECT " + "(" * 10_000,
    "250,000 parentheses": "SELECT " + "(" * 250_000 + " FROM c",
    "10,000 brackets": "SELECT " + "[" * 10_000 + "]" * 10_000 + " FROM c",
    "10,000 braces": "SELECT " + "{a:" * 10_000 + "1" + "}" * 10_000 + " FROM c",
    "10,000 NOTs": "SELECT * FROM c WHERE " + "NOT " * 10_000 + "true",
    "100,000 minuses": "SELECT " + "- " * 100_000 + "1 FROM c",
    "10,000 tildes": "SELECT " + "~" * 10_000 + "1 FROM c",
    "3,000 ANDs": "SELECT * FROM c WHERE " + " AND ".join(["c.n = 1"] * 3001),
    "3,000 ORs": "SELECT * FROM c WHERE " + " OR ".join(["c.n = 1"] * 3001),
    "20,000 items of IN": "SELECT * FROM c WHERE c.n IN ("
    + ",".join(map(str, range(20_000)))
    + ")",
    "11 JOINs": "SELECT VALUE 1 FROM c " + " ".join(f"JOIN x{i} IN c.list" for i in range(11)),
    "1,000 JOINs": "SELECT VALUE 1 FROM c " + " ".join(f"JOIN x{i} IN c.list" for i in range(1000)),
    "10,000 subqueries": "SELECT (" * 5000 + "SELECT 1" + ")" * 5000,
    "10,000 conditionals": "SELECT " + "true ? 1 : " * 10_000 + "1 FROM c",
    "10,000 functions": "SELECT " + "ABS(" * 10_000 + "1" + ")" * 10_000 + " FROM c",
    "5,000 BETWEENs": "SELECT * FROM c WHERE c.n " + "BETWEEN 1 AND 2 " * 5000,
    "10,000 LIKEs": "SELECT * FROM c WHERE c.s " + "LIKE 'x' " * 10_000,
    "5,000 EXISTS": "SELECT * FROM c WHERE "
    + "EXISTS(SELECT 1 WHERE " * 5000
    + "true"
    + ")" * 5000,
    "1,000 sort keys": "SELECT * FROM c ORDER BY " + ", ".join(f"c.p{i}" for i in range(1000)),
    "1,000 group keys": "SELECT COUNT(1) FROM c GROUP BY "
    + ", ".join(f"c.p{i}" for i in range(1000)),
}


@pytest.mark.parametrize("what", LIMITS)
def test_queries_over_the_limits(attacked, what):
    """Refused at once, as a query and as a plan; deep nesting does not overflow the stack."""
    for headers in ({}, PLAN):
        attacked.refused(query(LIMITS[what], headers=headers), (400, 413), within=2)


#: Long queries that are valid, or refused: never slow.
LONG = {
    "20,000 additions": "SELECT VALUE " + "1 + " * 20_000 + "1",
    "20,000 concatenations": "SELECT VALUE " + "'a' || " * 20_000 + "'a'",
    "30,000 properties": "SELECT VALUE c" + ".a" * 30_000 + " FROM c",
    "20,000 columns": "SELECT " + ", ".join(f"c.n AS n{i}" for i in range(20_000)) + " FROM c",
    "30,000 elements": "SELECT VALUE [" + ",".join(["1"] * 30_000) + "]",
    "20,000 members": "SELECT VALUE {" + ",".join(f"a{i}:1" for i in range(20_000)) + "}",
    "a long comment": "SELECT * FROM c /*" + "*" * 400_000 + "*/",
    "a long name": "SELECT c." + "x" * 200_000 + " FROM c",
    "a long text": "SELECT VALUE '" + "\\n" * 100_000 + "'",
    "a long number": "SELECT VALUE " + "1" * 100_000,
    "blanks": "SELECT" + " " * 400_000 + "* FROM c",
    "15,000 items of IN": "SELECT * FROM c WHERE c.n IN ("
    + ",".join(map(str, range(15_000)))
    + ")",
    "1,900 ORs": "SELECT * FROM c WHERE " + " OR ".join(f"c.n = {i}" for i in range(1900)),
    "20,000 arguments": "SELECT VALUE CONCAT(" + ",".join(["'a'"] * 20_000) + ")",
    "10,000 coalesces": "SELECT " + "c.n ?? " * 10_000 + "1 FROM c",
    "200,000 unknown names": "SELECT VALUE [" + ",".join(["x"] * 200_000) + "] FROM c",
    "20,000 comparisons": "SELECT VALUE " + "1 = " * 20_000 + "1",
}


@pytest.mark.parametrize("what", LONG)
def test_long_queries(attacked, what):
    with attacked.undisturbed():
        attacked.survived(query(LONG[what]), 200, 400, 413, within=20)


def test_a_parameter_that_is_not_given(attacked):
    """The query is refused. Its plan does not depend on values and needs no parameter."""
    text = "SELECT * FROM c WHERE c.n = @none"
    [error] = attacked.refused(query(text), 400).errors()
    assert text[error["location"]["start"] : error["location"]["end"]] == "@none"
    attacked.survived(query(text, headers=PLAN), 200)


#: Names of parameters that are checked for the query only, not for its plan.
NAMES = ("no at", "empty name", "at alone", "a name of blanks")
PARAMETERS = {
    "no name": [{"value": 1}],
    "no at": [{"name": "n", "value": 1}],
    "empty name": [{"name": "", "value": 1}],
    "at alone": [{"name": "@", "value": 1}],
    "number as name": [{"name": 1, "value": 1}],
    "null as name": [{"name": None, "value": 1}],
    "no object": [1],
    "text": "x",
    "object": {"@n": 1},
    "null inside": [None],
    "a name of blanks": [{"name": "@ n", "value": 1}],
    "array": [["@n", 1]],
}


@pytest.mark.parametrize("what", PARAMETERS)
def test_parameters(attacked, what):
    body = {"query": "SELECT * FROM c WHERE c.n = @n", "parameters": PARAMETERS[what]}
    attacked.refused(request("POST", DOCS, body, QUERY), 400)
    plan = request("POST", DOCS, body, {**QUERY, **PLAN})
    if what in NAMES:
        attacked.survived(plan, 200)
    else:
        attacked.refused(plan, 400)


def test_a_parameter_twice(attacked):
    """The query is refused or uses one of the two values."""
    data = query(
        "SELECT VALUE @n FROM c WHERE c.n = 1",
        [{"name": "@n", "value": 1}, {"name": "@n", "value": 2}],
    )
    reply = attacked.survived(data, 200, 400)
    assert reply.status == 400 or reply.json["Documents"] in ([1], [2]), reply


def test_many_parameters(attacked):
    parameters = [{"name": f"@p{i}", "value": i} for i in range(50_000)]
    with attacked.undisturbed():
        attacked.survived(
            query("SELECT * FROM c WHERE c.n = @p7", parameters), 200, 400, 413, within=4
        )
        attacked.survived(
            query("SELECT * FROM c WHERE c.n = @none", parameters), 400, 413, within=4
        )


@pytest.mark.parametrize("levels", [130, 1000, 100_000])
def test_deep_parameters(attacked, levels):
    body = (
        '{"query":"SELECT @p","parameters":[{"name":"@p","value":'
        + "[" * levels
        + "]" * levels
        + "}]}"
    )
    attacked.refused(request("POST", DOCS, body, QUERY), 400)


def test_parameters_are_no_text_of_the_query(attacked):
    for value in ("' OR true --", "c.n", "@n", '"', "\\", "1; DELETE"):
        reply = attacked.accepted(
            query("SELECT * FROM c WHERE c.s = @n", [{"name": "@n", "value": value}]), 200
        )
        assert reply.json["Documents"] == []


UNSUPPORTED = [
    ("SELECT VECTORDISTANCE(c.v, [1,2]) FROM c", "VECTORDISTANCE"),
    ("SELECT TOP 1 * FROM c ORDER BY VectorDistance(c.v, [1,2])", "VECTORDISTANCE"),
    ("SELECT * FROM c WHERE FULLTEXTCONTAINS(c.s, 'x')", "FULLTEXTCONTAINS"),
    ("SELECT * FROM c WHERE FULLTEXTCONTAINSALL(c.s, 'x')", "FULLTEXTCONTAINSALL"),
    ("SELECT * FROM c WHERE FULLTEXTCONTAINSANY(c.s, 'x')", "FULLTEXTCONTAINSANY"),
    ("SELECT TOP 1 * FROM c ORDER BY RANK FULLTEXTSCORE(c.s, 'x')", "RANK"),
    (
        "SELECT TOP 1 * FROM c ORDER BY RANK RRF(FULLTEXTSCORE(c.s, 'x'), VECTORDISTANCE(c.v, [1]))",
        "RANK",
    ),
    ("SELECT udf.f(c.n) FROM c", "f"),
    ("SELECT * FROM c WHERE udf.f(c.n) = 1", "f"),
]


@pytest.mark.parametrize(("text", "what"), UNSUPPORTED)
def test_what_is_not_supported_is_named(attacked, text, what):
    """The error names the feature; an undefined function may also be an error of the query."""
    reply = attacked.refused(query(text), (400, 501) if "udf" in text else 501)
    said = " ".join(reply.texts()).lower()
    assert what.lower() in said or (
        what == "RANK" and ("fulltextscore" in said or "rrf" in said)
    ), reply


@pytest.mark.parametrize(
    "path",
    [
        "/dbs",
        "/dbs/data/colls",
        "/offers",
        "/dbs/data/users",
        "/dbs/data/colls/c/sprocs",
        "/dbs/data/colls/c/triggers",
        "/dbs/data/colls/c/udfs",
    ],
)
@pytest.mark.parametrize(
    "text", ["SELEC", "SELECT x FROM c", "SELECT NOPE(1) FROM c", "", "SELECT " + "(" * 10_000]
)
def test_queries_of_other_resources(attacked, path, text):
    attacked.refused(query(text, path=path), 400)


@pytest.mark.parametrize("version", ["", "x", "99.9", "-1"])
@pytest.mark.parametrize("features", ["", "Nonsense", "OrderBy,,", "x" * 9000, "None"])
def test_plans_for_clients_of_no_kind(attacked, version, features):
    headers = {
        **PLAN,
        "x-ms-cosmos-query-version": version,
        "x-ms-cosmos-supported-query-features": features,
    }
    attacked.survived(query("SELECT * FROM c ORDER BY c.n", headers=headers), 200, 400)


PLACEHOLDERS = [
    "SELECT * FROM c WHERE ({documentdb-formattableorderbyquery-filter})",
    "SELECT * FROM c WHERE {x}",
    'SELECT c._rid, [{"item": c.n}] AS orderByItems FROM c WHERE (',
    "SELECT * FROM c WHERE {0}",
]


@pytest.mark.parametrize("text", PLACEHOLDERS)
def test_rewritten_queries_that_were_not_filled_in(attacked, text):
    attacked.refused(query(text), 400)
