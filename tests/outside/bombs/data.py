"""The data that bombs use: a wide document, many rows, and the same as items."""

#: Bytes of the text of the wide document, and of the shorter text that each row has.
WIDE, SHORT = 1_900_000, 100_000
NUMBERS, ROWS = 3_000, 200
DATABASE = "bombs"
#: The document that an honest client reads.
HONEST = {"_id": "honest", "v": 1}
ITEM = {"id": "honest", "pk": "honest", "v": 1}


def wide():
    return {"s": "x" * WIDE, "t": "y" * SHORT, "a": list(range(NUMBERS)), "n": 0}


def row(number):
    return {"n": number, "next": number + 1, "t": "y" * SHORT}


def settle(server):
    """Stores the data through both APIs."""
    database = server.client[DATABASE]
    database["honest"].insert_one(HONEST)
    database["wide"].insert_one({"_id": 0, **wide()})
    database["changed"].insert_one({"_id": 0, **wide()})
    database["rows"].insert_many([{"_id": i, **row(i)} for i in range(ROWS)])
    items = server.items
    assert items.create_database(DATABASE).status == 201
    container = items.container(DATABASE, "c")
    # Without indexes: bombs process values, they do not look them up.
    bare = {"includedPaths": [], "excludedPaths": [{"path": "/*"}]}
    replies = [
        container.define(indexingPolicy=bare),
        container.create(ITEM),
        container.create({"id": "wide", "pk": "a", **wide()}),
    ]
    replies += [container.create({"id": str(i), "pk": "rows", **row(i)}) for i in range(ROWS)]
    assert all(reply.status == 201 for reply in replies), replies
