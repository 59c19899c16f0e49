"""Writes of one item: an expired item is not found, and its id and its unique keys are free."""

from lib.nosql import if_match, if_none_match
from lib.texts import EXISTS, PRECONDITION, UNIQUE

from nosql.paths.table import ABSENT, Strange, write

OTHER = '"00000000-0000-0000-0000-000000000000"'
SET = [{"op": "set", "path": "/n", "value": 2}]


def refused(reply, status, text):
    """Returns whether this is the refusal that a live item causes."""
    if reply.status != status:
        return False
    if reply.substatus or text not in reply.error:
        raise Strange(f"{reply}")
    return True


def free(reply, status=201):
    """Returns whether the unique key was free; otherwise the refusal is checked."""
    if refused(reply, 409, UNIQUE):
        return False
    assert reply.status == status, reply
    return True


def made(cell, reply):
    """Checks that a new item was created."""
    if reply.status != 201:
        raise Strange(f"{reply}")
    cell.fresh(reply.json)
    assert reply.etag == reply.json["_etag"]
    return False


def found(cell, reply, status=200):
    """Judges a change; on an expired item it leaves nothing."""
    seen = cell.there(reply, status)
    if not seen:
        cell.nothing()
    elif status == 200:
        assert reply.json["_rid"] == cell.old["_rid"], "another _rid in the same life"
    return seen


@write("create")
def create(cell):
    reply = cell.c.create(cell.body())
    return refused(reply, 409, EXISTS) or made(cell, reply)


@write("create, minimal answer")
def create_minimal(cell):
    reply = cell.c.create(cell.body(), {"prefer": "return=minimal"})
    if refused(reply, 409, EXISTS):
        return True
    assert reply.status == 201 and not reply.body, reply
    cell.fresh(cell.c.read("t", cell.pk).json)
    return False


@write("create twice")
def create_twice(cell):
    """The new item blocks its id like any other."""
    first = cell.c.create(cell.body(ttl=-1))
    if refused(first, 409, EXISTS):
        return True
    assert refused(cell.c.create(cell.body()), 409, EXISTS)
    return made(cell, first)


@write("create of its unique key")
def create_unique(cell):
    if not free(cell.c.create(cell.body(id="other", ttl=-1))):
        return True
    cell.nothing()
    cell.only("other")
    # Now the live item holds the unique key.
    assert refused(cell.c.create(cell.body()), 409, UNIQUE)
    return False


@write("upsert")
def upsert(cell):
    reply = cell.c.upsert(cell.body(n=7))
    return found(cell, reply) if reply.status != 201 else made(cell, reply)


@write("upsert of its unique key")
def upsert_unique(cell):
    if not free(cell.c.upsert(cell.body(id="other", ttl=-1))):
        return True
    cell.only("other")
    return False


@write("upsert, If-Match of its ETag")
def upsert_match(cell):
    reply = cell.c.upsert(cell.body(), if_match(cell.old["_etag"]))
    return found(cell, reply) if reply.status != 201 else made(cell, reply)


@write("upsert, If-Match of another ETag")
def upsert_other(cell):
    reply = cell.c.upsert(cell.body(), if_match(OTHER))
    return refused(reply, 412, PRECONDITION) or made(cell, reply)


@write("replace")
def replace(cell):
    return found(cell, cell.c.replace(cell.body(n=7)))


@write("replace, If-Match of its ETag")
def replace_match(cell):
    return found(cell, cell.c.replace(cell.body(), if_match(cell.old["_etag"])))


@write("replace, If-Match of another ETag")
def replace_other(cell):
    reply = cell.c.replace(cell.body(), if_match(OTHER))
    return refused(reply, 412, PRECONDITION) or found(cell, reply)


@write("replace by another id")
def replace_renames(cell):
    """The link names the expired item, the body another id: nothing is written."""
    cell.helper("h")
    reply = cell.c.replace(cell.body(id="h2", u="h2"), id="t")
    if reply.status == 404:
        cell.nothing()
        cell.only("h")
        return False
    if reply.status in (200, 400):
        return cell.there(cell.c.read("t" if reply.status == 400 else "h2", cell.pk))
    raise Strange(f"{reply}")


@write("replace of another by its unique key")
def replace_unique(cell):
    body = cell.helper("h")
    if not free(cell.c.replace({**body, "u": "u"}), 200):
        return True
    cell.nothing()
    return False


@write("replace that would pin it")
def replace_pins(cell):
    return found(cell, cell.c.replace(cell.body(ttl=-1)))


@write("patch")
def patch(cell):
    return found(cell, cell.c.patch("t", cell.pk, SET))


@write("patch that would pin it")
def patch_pins(cell):
    pin = [{"op": "set", "path": "/ttl", "value": -1}]
    return found(cell, cell.c.patch("t", cell.pk, pin))


@write("patch under a condition")
def patch_condition(cell):
    return found(cell, cell.c.patch("t", cell.pk, SET, "from c where c.n = 1"))


@write("patch under a condition that fails")
def patch_condition_fails(cell):
    reply = cell.c.patch("t", cell.pk, SET, "from c where c.n = 12345")
    return refused(reply, 412, PRECONDITION) or found(cell, reply)


@write("patch, If-Match of its ETag")
def patch_match(cell):
    etag = if_match(cell.old["_etag"])
    return found(cell, cell.c.patch("t", cell.pk, SET, headers=etag))


@write("patch, If-Match of another ETag")
def patch_other(cell):
    reply = cell.c.patch("t", cell.pk, SET, headers=if_match(OTHER))
    return refused(reply, 412, PRECONDITION) or found(cell, reply)


@write("patch of another to its unique key")
def patch_unique(cell):
    cell.helper("h")
    return not free(cell.c.patch("h", cell.pk, [{"op": "set", "path": "/u", "value": "u"}]), 200)


@write("delete")
def delete(cell):
    return found(cell, cell.c.delete("t", cell.pk), 204)


@write("delete, If-Match of its ETag")
def delete_match(cell):
    return found(cell, cell.c.delete("t", cell.pk, if_match(cell.old["_etag"])), 204)


@write("delete, If-Match of another ETag")
def delete_other(cell):
    reply = cell.c.delete("t", cell.pk, if_match(OTHER))
    return refused(reply, 412, PRECONDITION) or found(cell, reply, 204)


@write("delete and create")
def delete_and_create(cell):
    seen = found(cell, cell.c.delete("t", cell.pk), 204)
    made(cell, cell.c.create(cell.body()))
    return seen


@write("the former ETag after a new life")
def former_etag(cell):
    """The ETag of the expired item does not match the new one."""
    reply = cell.c.create(cell.body(ttl=-1))
    if refused(reply, 409, EXISTS):
        return True
    made(cell, reply)
    former = cell.old["_etag"]
    assert cell.c.read("t", cell.pk, if_none_match(former)).status == 200
    for reply in (
        cell.c.replace(cell.body(), if_match(former)),
        cell.c.upsert(cell.body(), if_match(former)),
        cell.c.patch("t", cell.pk, SET, headers=if_match(former)),
        cell.c.delete("t", cell.pk, if_match(former)),
    ):
        assert refused(reply, 412, PRECONDITION), reply
    return False


@write("the former link after a new life")
def former_link(cell):
    """A link of resource ids refers only to the item that it was made for."""
    link, key = cell.old["_self"].strip("/"), {"x-ms-documentdb-partitionkey": f'["{cell.pk}"]'}

    def ask(method):
        return cell.c.client.call(method, link, None, key, ("docs", cell.old["_rid"].lower()))

    seen = cell.there(ask("GET"))
    if not seen:
        made(cell, cell.c.create(cell.body(ttl=-1)))
        assert ask("GET").status == 404, ask("GET")
        assert ask("DELETE").status == 404
        cell.only("t")
    return seen


@write("removal of the partition")
def remove_partition(cell):
    seen = cell.there(cell.c.read("t", cell.pk))
    cell.helper("h")
    reply = cell.c.remove_partition(cell.pk)
    assert reply.status == 200, reply
    cell.only()
    assert cell.c.read("t", cell.pk).code == ABSENT
    made(cell, cell.c.create(cell.body()))
    return seen
