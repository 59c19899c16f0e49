"""Every shape of query: over all partitions, in one, in small pages, and by the rewritten text."""

from nosql.paths.shapes import SHAPES, every, ids, mean, per_kind
from nosql.paths.table import Strange, plain, read

FILTER = "{documentdb-formattableorderbyquery-filter}"


def judged(cell, shape, rows, scope):
    found = list(map(plain, rows))
    alive, dead = ([plain(row) for row in shape.answer(cell.living(life, scope))]
                   for life in (True, False))
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


# The rewritten text of the plan endpoint, executed as .NET and Java do.

def payloads(rows):
    return [row["payload"] for row in rows]


def items_of(rows):
    return [[part["item"] for part in row] for row in rows]


#: name: (text, rows of the rewritten text to an answer, the answer of the living)
REWRITTEN = {
    "ORDER BY": ("SELECT * FROM c ORDER BY c.n", payloads, every),
    "ORDER BY, back": ("SELECT VALUE c.id FROM c ORDER BY c.n DESC",
                       lambda rows: [row if isinstance(row, str) else row.get("id", row)
                                     for row in payloads(rows)], ids()),
    "COUNT": ("SELECT VALUE COUNT(1) FROM c", items_of, lambda items: [[len(items)]]),
    "MAX": ("SELECT VALUE MAX(c.n) FROM c", items_of,
            lambda items: [[max(item["n"] for item in items)]]),
    "AVG": ("SELECT VALUE AVG(c.n) FROM c",
            lambda rows: [row[0]["item"]["sum"] / row[0]["item"]["count"] for row in rows],
            lambda items: [mean(items)]),
    "GROUP BY": ("SELECT c.kind, COUNT(1) AS n FROM c GROUP BY c.kind",
                 lambda rows: [[row["groupByItems"][0]["item"], row["payload"]["n"]["item"]]
                               for row in rows],
                 lambda items: [[kind, len(group)] for kind, group in per_kind(items).items()]),
    "DISTINCT": ("SELECT DISTINCT VALUE c.k FROM c", list, ids()),
    "TOP": ("SELECT TOP 100 * FROM c", list, every),
    "OFFSET LIMIT": ("SELECT VALUE c.id FROM c OFFSET 0 LIMIT 100", list, ids()),
    "WHERE": ("SELECT VALUE c.id FROM c WHERE c.n > 0", list, ids()),
}


def rewritten(text, rows_of, answer):
    def run(cell):
        plan = cell.c.plan(text)
        if plan.status != 200:
            raise Strange(f"plan of {text}: {plan}")
        query = (plan.json["queryInfo"]["rewrittenQuery"] or text).replace(FILTER, "true")
        rows = cell.c.rows(query)
        alive, dead = (sorted(plain(row) for row in answer(cell.living(life)))
                       for life in (True, False))
        return cell.judge(sorted(plain(row) for row in rows_of(rows)), alive, dead)
    return run


for name, row in REWRITTEN.items():
    read(f"rewritten: {name}")(rewritten(*row))
