"""The contents of the stored fixtures: databases of both APIs with indexes, TTLs and a user, on a
manual clock. `python3 -m backup.fixture FOLDER` from tests/outside creates them with EBB_BIN, for a
new format only: those of a released format never change.

    data-2.tar.xz     a data directory of format 2, closed, which is refused
    data-3.tar.xz     a data directory of format 3, closed
    backup-1.ebb      a full backup of format 1
    contents.expected    the data that a server must show of both
"""

import json
import pathlib
import sys
import tarfile

from lib.server import Server

from backup.tools import backup

#: The time of the fixtures' clock, in milliseconds since 1970.
STANDS = 1_800_000_000_000
HERE = pathlib.Path(__file__).parent / "fixtures"


def fill(server):
    """Writes the contents, and leaves the clock at STANDS."""
    server.move_to(STANDS - 100_000)
    shop = server.client["shop"]
    orders = shop["orders"]
    orders.create_index("customer")
    orders.create_index([("number", -1)], unique=True)
    orders.create_index("at", expireAfterSeconds=3_600)
    orders.insert_many(
        {"_id": n, "customer": f"c{n % 7}", "number": 1_000 + n, "tags": ["a", n]}
        for n in range(60)
    )
    sessions = shop["sessions"]
    sessions.create_index("_ts", expireAfterSeconds=150)
    sessions.insert_many({"_id": f"old{n}"} for n in range(5))
    server.move_to(STANDS - 10_000)
    sessions.insert_many({"_id": f"own{n}", "ttl": 20 + n} for n in range(5))
    sessions.insert_many({"_id": f"short{n}", "ttl": 5} for n in range(5))
    orders.delete_many({"_id": {"$gte": 50}})
    server.items.create_database("plant")
    container = server.items.container("plant", "readings")
    assert container.define(defaultTtl=40).status == 201
    for number in range(12):
        body = {"id": f"r{number}", "pk": "ab"[number % 2], "value": number * 1.5}
        assert container.upsert(body).status == 201
    server.client["admin"].command(
        {"createUser": "ann", "pwd": "a password", "roles": [{"role": "read", "db": "shop"}]}
    )
    server.move_to(STANDS)


def contents(server):
    """Returns all data that a server shows."""
    shop = server.client["shop"]
    container = server.items.container("plant", "readings")
    return {
        "now": server.now_ms(),
        "collections": sorted(shop.list_collection_names()),
        "orders": sorted(shop["orders"].find(), key=lambda row: row["_id"]),
        "sessions": sorted(row["_id"] for row in shop["sessions"].find()),
        "indexes": {
            name: sorted(shop[name].index_information()) for name in ("orders", "sessions")
        },
        "by index": sorted(row["_id"] for row in shop["orders"].find({"customer": "c3"})),
        "items": sorted(
            [row["id"], row["pk"], row["value"], row["_ts"]] for row in container.rows()
        ),
        "users": [user["_id"] for user in server.client["admin"].command("usersInfo")["users"]],
    }


def later(server):
    """Returns the data that is left after some time: stored TTLs keep counting."""
    sessions, container = server.client["shop"]["sessions"], None
    found = []
    for seconds in (10, 15, 25):
        server.advance(seconds * 1_000)
        container = server.items.container("plant", "readings")
        found.append([sorted(row["_id"] for row in sessions.find()), len(container.rows())])
    return found


def make(folder):
    folder.mkdir(parents=True, exist_ok=True)
    with Server(data_dir=True, nosql=True) as server:
        fill(server)
        server.restart()
        shown = contents(server)
        target = folder / "backup-1.ebb"
        if "--data-only" not in sys.argv:
            backup(server, target)
        server.leave()
        with tarfile.open(folder / "data-3.tar.xz", "w:xz") as archive:
            archive.add(server.data_dir, "data")
        server.start()
        shown["later"] = later(server)
    (folder / "contents.expected").write_text(json.dumps(shown, indent=1) + "\n")


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
