"""Items with a hierarchical partition key: by the whole key, its prefixes, and across."""

from lib.nosql import of_partition

from nosql.paths.table import Strange, plain, read

#: Prefixes: (key, `pk` of the items).
PREFIXES = ((["a"], "a"), (["b"], "b"))


@read("hierarchy: read")
def point(cell):
    return cell.agreed(
        [
            cell.there(cell.h.read("t", ["a", "m", "t"])),
            cell.there(cell.h.read("f1", ["b", "m", "f1"])),
        ]
    )


@read("hierarchy: query by a prefix")
def query(cell):
    return cell.agreed(
        cell.all(cell.h.rows(text, pk=key), scope)
        for key, scope in PREFIXES
        for text in ("SELECT * FROM c", "SELECT * FROM c ORDER BY c.n")
    )


@read("hierarchy: query by a longer prefix")
def longer(cell):
    rows = cell.h.rows("SELECT VALUE c.id FROM c", pk=["a", "m"])
    if cell.h.rows("SELECT VALUE c.id FROM c", pk=["a", "c"]) == []:
        raise Strange("no controls")
    mortals = [item["id"] for item in cell.living(True, "a") if item["kind"] == "m"]
    return cell.judge(sorted(rows), sorted(mortals), [])


@read("hierarchy: COUNT by a prefix")
def count(cell):
    found = [cell.h.rows("SELECT VALUE COUNT(1) FROM c", pk=key) for key, _ in PREFIXES]
    return cell.judge(
        found,
        *([[len(cell.living(life, scope))] for _, scope in PREFIXES] for life in (True, False)),
    )


@read("hierarchy: query across")
def across(cell):
    return cell.agreed(
        [
            cell.all(cell.h.rows("SELECT * FROM c")),
            cell.all(cell.h.rows("SELECT * FROM c WHERE c.n > 0", size=3)),
        ]
    )


@read("hierarchy: read feed")
def feed(cell):
    return cell.agreed([cell.all(cell.h.rows()), cell.all(cell.h.rows(pk=["a"]), "a")])


@read("hierarchy: change feed by a prefix")
def changes(cell):
    rows = [row for key, _ in PREFIXES for row in cell.h.changes(headers=of_partition(key))[0]]
    return cell.agreed([cell.all(rows), cell.all(cell.h.changes()[0])])


def begun(cell):
    """Returns a page of one partition's prefix, read before the expiry."""
    reply = cell.h.page("SELECT VALUE c.id FROM c ORDER BY c.n", pk=["a"], size=1)
    assert reply.status == 200 and reply.continuation, reply
    return reply.json["Documents"], reply.continuation


@read("hierarchy: continued by a prefix", begun)
def continued(cell):
    first, after = cell.prepared
    rows, _ = cell.h.rest("SELECT VALUE c.id FROM c ORDER BY c.n", after, pk=["a"], size=2)
    alive, dead = ([item["id"] for item in cell.living(life, "a")] for life in (True, False))
    return cell.judge(
        list(map(plain, first + rows)), list(map(plain, alive)), list(map(plain, dead))
    )
