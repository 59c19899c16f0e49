"""The read feed, and the change feed of latest versions with every kind of addressing."""

from lib.nosql import RANGE, RANGE_OF_A, of_partition

from nosql.paths.table import Strange, plain, read


@read("read feed")
def whole(cell):
    return cell.agreed([cell.all(cell.c.rows()), cell.all(cell.v.rows())])


@read("read feed in pages")
def paged(cell):
    return cell.agreed(cell.all(cell.c.rows(size=size)) for size in (1, 2, 5))


@read("read feed of a partition")
def parted(cell):
    return cell.agreed(cell.all(cell.c.rows(pk=scope), scope) for scope in ("a", "b"))


@read("read feed of a range")
def ranged(cell):
    return cell.agreed(
        [cell.all(cell.c.rows(headers=RANGE)), cell.all(cell.c.rows(headers=RANGE_OF_A), "a")]
    )


def in_order(rows):
    """Checks that changes come in the order of their commits."""
    stamps = [row["_ts"] for row in rows]
    if stamps != sorted(stamps):
        raise Strange(f"out of order: {stamps}")
    return rows


@read("change feed from the beginning")
def changes(cell):
    return cell.all(in_order(cell.c.changes()[0]))


@read("change feed in pages")
def changes_paged(cell):
    return cell.agreed(cell.all(in_order(cell.c.changes(size=size)[0])) for size in (1, 3))


@read("change feed without a range")
def changes_plain(cell):
    return cell.all(cell.c.changes(headers={})[0])


@read("change feed of a partition key")
def changes_of_key(cell):
    return cell.all(cell.c.changes(headers=of_partition("a"))[0], "a")


@read("change feed of a range of keys")
def changes_of_range(cell):
    return cell.all(cell.c.changes(headers=RANGE_OF_A)[0], "a")


@read("change feed since before the items")
def changes_since(cell):
    return cell.all(cell.c.changes(cell.before["r"])[0])


@read("change feed since a time")
def changes_since_time(cell):
    since = {"if-modified-since": "Thu, 01 Jan 2015 00:00:00 GMT"}
    return cell.all(cell.c.changes(headers={**RANGE, **since})[0])


@read("change feed where all versions are kept")
def changes_of_v(cell):
    return cell.agreed(
        [cell.all(cell.v.changes()[0]), cell.all(cell.v.changes(cell.before["v"], size=4)[0])]
    )


def at_the_end(cell):
    return cell.c.changes()[1]


@read("change feed with nothing new", at_the_end)
def nothing_new(cell):
    """Expiry is not a change: it adds nothing to the feed and does not change the ETag."""
    rows, after = cell.c.changes(cell.prepared)
    if rows:
        raise Strange(f"{list(map(plain, rows))}")
    if cell.c.changes(after)[0]:
        raise Strange("something after the end")
    return cell.all(cell.c.changes()[0])
