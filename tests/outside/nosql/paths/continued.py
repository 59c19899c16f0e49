"""Pages that started while all items were live and continue after expiry and restarts."""

from nosql.paths.shapes import SHAPES
from nosql.paths.table import Strange, less, plain, read


def begin(text, size, scope=None, parameters=()):
    def run(cell):
        reply = cell.c.page(text, pk=scope, size=size, parameters=parameters)
        assert reply.status == 200 and reply.continuation, reply
        return reply.json["Documents"], reply.continuation

    return run


def rest(cell, text, answer, scope, **more):
    """Judges the remaining pages: live items that were not on the first one."""
    first, after = cell.prepared
    rows, _ = cell.c.rest(text, after, pk=scope, size=2, **more)
    alive, dead = (sorted(less(answer(cell.living(life, scope)), first)) for life in (True, False))
    return cell.judge(sorted(map(plain, rows)), alive, dead)


def go_on(shape, scope):
    return lambda cell: rest(cell, shape.text, shape.answer, scope, parameters=shape.parameters)


for one in SHAPES:
    if one.continues:
        for scope, size in ((None, 1), ("a", 2 if one.name != "GROUP BY" else 1)):
            named = f"continued: {one.name}" + (" in a partition" if scope else "")
            ready = begin(one.text, size, scope, one.parameters)
            read(named, ready)(go_on(one, scope))


@read("continued: read feed", begin(None, 1))
def feed(cell):
    return rest(cell, None, list, None)


@read("continued: read feed in a partition", begin(None, 1, "a"))
def feed_of_a(cell):
    return rest(cell, None, list, "a")


def half_a_feed(cell):
    """Returns an ETag of a change feed after its first page."""
    reply = cell.c.client.call(
        "GET",
        cell.c.docs,
        None,
        {
            "a-im": "Incremental Feed",
            "x-ms-documentdb-partitionkeyrangeid": "0",
            "x-ms-max-item-count": "1",
        },
    )
    assert reply.status == 200 and len(reply.json["Documents"]) == 1, reply
    return reply.json["Documents"], reply.etag


@read("continued: change feed", half_a_feed)
def changes(cell):
    first, after = cell.prepared
    rows, _ = cell.c.changes(after, size=2)
    alive, dead = (sorted(less(cell.living(life), first)) for life in (True, False))
    return cell.judge(sorted(map(plain, rows)), alive, dead)


@read("continued: a page that is not asked for", begin("SELECT * FROM c", 1))
def left(cell):
    """Checks that the token itself contains no item: a damaged one is refused."""
    _, after = cell.prepared
    damaged = after[:-8] + ("AAAAAAAA" if after[-8:] != "AAAAAAAA" else "BBBBBBBB")
    reply = cell.c.page("SELECT * FROM c", after=damaged)
    if reply.status != 400:
        raise Strange(f"a damaged token: {reply}")
    return cell.all(cell.c.rows("SELECT * FROM c"))
