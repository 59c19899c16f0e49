"""Reads with a resource token that was issued while all items were live."""

import itertools
import urllib.parse

from nosql.paths.table import read

NUMBERS = itertools.count()


def issued(cell):
    """Returns the header of a token for the container of reads."""
    call, number = cell.c.client.call, next(NUMBERS)
    user = call("POST", f"dbs/{cell.c.database}/users", {"id": f"u{number}"})
    assert user.status == 201, user
    permission = call(
        "POST",
        f"dbs/{cell.c.database}/users/u{number}/permissions",
        {"id": "p", "permissionMode": "Read", "resource": cell.c.link},
    )
    assert permission.status == 201, permission
    return {"authorization": urllib.parse.quote(permission.json["_token"], safe="")}


@read("token: read", issued)
def point(cell):
    return cell.there(cell.c.read("t", "a", cell.prepared))


@read("token: query", issued)
def query(cell):
    return cell.all(cell.c.rows("SELECT * FROM c", headers=cell.prepared))


@read("token: feeds", issued)
def feeds(cell):
    changes, _ = cell.c.changes(headers=cell.prepared)
    return cell.agreed([cell.all(changes), cell.all(cell.c.rows(headers=cell.prepared))])
