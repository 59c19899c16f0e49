"""Short ways to write a case: an expression, a find, a pipeline, an update."""

from both.case import Case

OPEN_ROWS = frozenset(["rows"])


def expression(id, value, doc=None):
    doc = {"_id": 1, **(doc or {})}
    return Case(
        id,
        [{"aggregate": "c", "pipeline": [{"$project": {"_id": 0, "r": value}}], "cursor": {}}],
        [doc],
    )


def find(id, docs, **options):
    return Case(id, [{"find": "c", **options}], docs)


def pipeline(id, docs, *stages, loose=()):
    return Case(
        id,
        [{"aggregate": "c", "pipeline": list(stages), "cursor": {}}],
        docs,
        loose=frozenset(loose),
    )


def update(id, docs, q, u, **options):
    return Case(id, [{"update": "c", "updates": [{"q": q, "u": u, **options}]}], docs, writes=True)


def modify(id, docs, **options):
    return Case(id, [{"findAndModify": "c", **options}], docs, writes=True)


def send(id, docs, *commands, drops=(), loose=(), writes=False):
    return Case(id, list(commands), docs, drops=drops, loose=frozenset(loose), writes=writes)


def numbered(name, cases):
    """Gives ids to rows without their own, by number."""
    return [(f"{name}/{at}", *row) for at, row in enumerate(cases)]
