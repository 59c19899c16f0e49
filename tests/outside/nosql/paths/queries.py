"""Queries of every shape: over all partitions, in one, in small pages, and rewritten."""

from nosql.paths.shapes import SHAPES, every, ids, mean, per_kind
from nosql.paths.table import Strange, plain, read

FILTER = "{documentdb-formattableorderbyquery-filter}"


def judged(cell, shape, rows, scope):
    found = list(map(plain, rows))
    alive, dead = (
        [plain(row) for row in shape.answer(cell.living(life, scope))] for life in (True, False)
    )
    if not shape.ordered:
        found, alive, dead = sorted(found), sorted(alive), sorted(dead)
    return cell.judge(found, alive, dead)


def ask(shape):
    def run(cell):
        answers = []
        for scope, size in ((None, None), ("a", None), (None, 2), ("a", 3)):
            rows = cell.c.rows(shape.text, parameters=shape.parameters, pk=scope, size=size)
            answers.append(judged(cell, shape, rows, scope))
        rows = cell.v.rows(shape.text, parameters=shape.parameters)
        return cell.agreed([*answers, judged(cell, shape, rows, None)])

    return run


for one in SHAPES:
    read(f"query: {one.name}")(ask(one))


@read("query metrics")
def metrics(cell):
    """Reads the metrics of a query: documents retrieved and returned."""

    def asked(text):
        reply = cell.c.page(text, headers={"x-ms-documentdb-populatequerymetrics": "True"})
        figures = dict(
            pair.split("=") for pair in reply.headers["x-ms-documentdb-query-metrics"].split(";")
        )
        return int(figures["retrievedDocumentCount"]), int(figures["outputDocumentCount"])

    lives = max(len(cell.living(life)) for life in (cell.all(cell.c.rows()), False))
    (all_read, all_answered), (read_, answered) = (
        asked("SELECT * FROM c"),
        asked("SELECT * FROM c WHERE c.k = 't'"),
    )
    if all_read != lives or read_ > lives:
        raise Strange(f"{all_read} and {read_} were read, {lives} live")
    return cell.agreed(
        [
            cell.judge(answered, 1, 0),
            cell.judge(all_answered, *(len(cell.living(life)) for life in (True, False))),
        ]
    )


@read("count of items of a page")
def item_count(cell):
    reply = cell.c.page("SELECT * FROM c")
    return cell.judge(
        int(reply.headers["x-ms-item-count"]), *(len(cell.living(life)) for life in (True, False))
    )


# The rewritten text of the plan endpoint, executed as .NET and Java do.


def payloads(rows):
    return [row["payload"] for row in rows]


def items_of(rows):
    return [[part["item"] for part in row] for row in rows]


#: name: (text, its rewritten text, function from rows to the result, expected result)
REWRITTEN = {
    "ORDER BY": (
        "SELECT * FROM c ORDER BY c.n",
        (
            'SELECT c._rid, [{"item": c.n}] AS orderByItems, c AS payload FROM c '
            f"WHERE ({FILTER}) ORDER BY c.n ASC"
        ),
        payloads,
        every,
    ),
    "ORDER BY, back": (
        "SELECT VALUE c.id FROM c ORDER BY c.n DESC",
        (
            'SELECT c._rid, [{"item": c.n}] AS orderByItems, c.id AS payload FROM c '
            f"WHERE ({FILTER}) ORDER BY c.n DESC"
        ),
        payloads,
        ids(),
    ),
    "COUNT": (
        "SELECT VALUE COUNT(1) FROM c",
        'SELECT VALUE [{"item": COUNT(1)}] FROM c',
        items_of,
        lambda items: [[len(items)]],
    ),
    "MAX": (
        "SELECT VALUE MAX(c.n) FROM c",
        'SELECT VALUE [{"item": MAX(c.n), "item2": {"max": MAX(c.n), "count": COUNT(c.n)}}] FROM c',
        items_of,
        lambda items: [[max(item["n"] for item in items)]],
    ),
    "AVG": (
        "SELECT VALUE AVG(c.n) FROM c",
        'SELECT VALUE [{"item": {"sum": SUM(c.n), "count": COUNT(c.n)}}] FROM c',
        lambda rows: [row[0]["item"]["sum"] / row[0]["item"]["count"] for row in rows],
        lambda items: [mean(items)],
    ),
    "GROUP BY": (
        "SELECT c.kind, COUNT(1) AS n FROM c GROUP BY c.kind",
        (
            'SELECT [{"item": c.kind}] AS groupByItems, {"kind": c.kind, '
            '"n": {"item": COUNT(1)}} AS payload FROM c GROUP BY c.kind'
        ),
        lambda rows: [
            [row["groupByItems"][0]["item"], row["payload"]["n"]["item"]] for row in rows
        ],
        lambda items: [[kind, len(group)] for kind, group in per_kind(items).items()],
    ),
    "DISTINCT": ("SELECT DISTINCT VALUE c.k FROM c", None, list, ids()),
    "TOP": ("SELECT TOP 100 * FROM c", None, list, every),
    "OFFSET LIMIT": (
        "SELECT VALUE c.id FROM c OFFSET 0 LIMIT 100",
        "SELECT VALUE c.id FROM c OFFSET 0 LIMIT 100",
        list,
        ids(),
    ),
    "WHERE": ("SELECT VALUE c.id FROM c WHERE c.n > 0", None, list, ids()),
}


def judge_rewritten(cell, query, rows_of, answer):
    rows = cell.c.rows(query.replace(FILTER, "true"))
    alive, dead = (
        sorted(plain(row) for row in answer(cell.living(life))) for life in (True, False)
    )
    return cell.judge(sorted(plain(row) for row in rows_of(rows)), alive, dead)


def by_text(text, known, rows_of, answer):
    return lambda cell: judge_rewritten(cell, known or text, rows_of, answer)


def by_plan(text, known, rows_of, answer):
    """Adds a query with the plan endpoint's text, or with the text that SDKs send."""

    def run(cell):
        plan = cell.c.plan(text)
        if plan.status != 200:
            raise Strange(f"plan of {text}: {plan}")
        query = plan.json["queryInfo"]["rewrittenQuery"] or known or text
        return judge_rewritten(cell, query, rows_of, answer)

    return run


for name, row in REWRITTEN.items():
    read(f"rewritten: {name}")(by_text(*row))
    read(f"planned: {name}")(by_plan(*row))
