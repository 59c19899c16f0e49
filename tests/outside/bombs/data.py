"""What bombs are thrown at: a wide document, many rows, and the same as items."""

#: Bytes of the text of the wide document, and of the shorter one that each row has too.
WIDE, SHORT = 1_900_000, 100_000
NUMBERS, ROWS = 3_000, 200
DATABASE = "bombs"
#: An honest client reads this document.
HONEST = {"_id": "honest", "v": 1}
ITEM = {"id": "honest", "pk": "honest", "v": 1}


def wide():
    return {"s": "x" * WIDE, "t": "y" * SHORT, "a": list(range(NUMBERS)), "n": 0}


def row(number):
    return {"n": number, "next": number + 1, "t": "y" * SHORT}


def settle(server):
    """Stores it at both doors."""
    database = server.client[DATABASE]
    database["honest"].insert_one(HONEST)
    database["wide"].insert_one({"_id": 0, **wide()})
    database["changed"].insert_one({"_id": 0, **wide()})
    database["rows"].insert_many([{"_id": i, **row(i)} for i in range(ROWS)])
    items = server.items
    assert items.create_database(DATABASE).status == 201
    container = items.container(DATABASE, "c")
    # Nothing is indexed: bombs are about what is made of values, not about finding them.
    bare = {"includedPaths": [], "excludedPaths": [{"path": "/*"}]}
    replies = [
        container.define(indexingPolicy=bare),
        container.create(ITEM),
        container.create({"id": "wide", "pk": "a", **wide()}),
    ]
    replies += [container.create({"id": str(i), "pk": "rows", **row(i)}) for i in range(ROWS)]
    assert all(reply.status == 201 for reply in replies), replies
