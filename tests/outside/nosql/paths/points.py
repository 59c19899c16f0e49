"""Reads of one item: by its id, by its link, under conditions, in a batch."""

from lib.nosql import if_match, if_none_match

from nosql.paths.table import ABSENT, Strange, plain, read


def the_item(cell):
    """Returns the item, read before the expiry."""
    reply = cell.c.read("t", "a")
    assert reply.status == 200, reply
    return reply.json


@read("read")
def point(cell):
    reply = cell.c.read("t", "a")
    seen = cell.there(reply)
    if seen and plain(reply.json) != plain(cell.living(True)[-1]):
        raise Strange(f"{reply}")
    return seen


@read("read, all versions kept")
def point_of_v(cell):
    return cell.there(cell.v.read("t", "a"))


@read("read of a filler")
def filler(cell):
    return cell.agreed([cell.there(cell.c.read("f1", "b")), cell.there(cell.c.read("f0", "a"))])


@read("read, If-None-Match of its ETag", the_item)
def unchanged(cell):
    return cell.there(cell.c.read("t", "a", if_none_match(cell.prepared["_etag"])), 304)


@read("read, If-None-Match of another ETag")
def changed(cell):
    other = '"00000000-0000-0000-0000-000000000000"'
    return cell.there(cell.c.read("t", "a", if_none_match(other)))


@read("read, If-Match of its ETag", the_item)
def matching(cell):
    return cell.there(cell.c.read("t", "a", if_match(cell.prepared["_etag"])))


@read("read by the link of resource ids", the_item)
def by_link(cell):
    link = cell.prepared["_self"].strip("/")
    return cell.there(
        cell.c.client.call(
            "GET",
            link,
            None,
            {"x-ms-documentdb-partitionkey": '["a"]'},
            signed=("docs", cell.prepared["_rid"].lower()),
        )
    )


@read("read at every consistency level")
def consistent(cell):
    return cell.agreed(
        cell.there(cell.c.read("t", "a", {"x-ms-consistency-level": level}))
        for level in ("Session", "Eventual")
    )


def with_token(cell):
    return cell.c.read("t", "a").headers["x-ms-session-token"]


@read("read with its session token", with_token)
def in_session(cell):
    return cell.there(cell.c.read("t", "a", {"x-ms-session-token": cell.prepared}))


@read("batch that reads")
def batch(cell):
    reply = cell.c.batch(
        "a", [{"operationType": "Read", "id": "t"}, {"operationType": "Read", "id": "c0"}]
    )
    codes = [one["statusCode"] for one in reply.json]
    return cell.judge((reply.status, codes), (200, [200, 200]), (207, [404, 424]))


@read("bulk that reads")
def bulk(cell):
    key = '["a"]'
    reply = cell.c.bulk(
        [
            {"operationType": "Read", "id": "t", "partitionKey": key},
            {"operationType": "Read", "id": "c0", "partitionKey": key},
        ]
    )
    codes = [one["statusCode"] for one in reply.json]
    if reply.status not in (200, 207):
        raise Strange(f"{reply}")
    return cell.judge(codes, [200, 200], [404, 200])


@read("read in another partition")
def elsewhere(cell):
    """The item is never in this partition; the path then reads the item itself."""
    if cell.c.read("t", "b").code != ABSENT:
        raise Strange("t is not in b")
    return cell.there(cell.c.read("t", "a"))
