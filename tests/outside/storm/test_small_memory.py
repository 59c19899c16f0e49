"""A server with little memory serves many who read everything at once, while collections come and
go and it is started again: what they read is whole, nobody is sent away, and it keeps its bound."""

import threading

import pymongo
from lib.nosql import Client
from lib.server import Server

#: What the server is given, and what it may be beyond that at the most.
MEMORY, BEYOND = 128 << 20, 1.2
#: Readers of both doors together, and how often each reads everything.
READERS, READS = 12, 3
#: Documents of a kilobyte: three times what operations may hold.
DOCUMENTS, TEXT = 60_000, 1000
#: Items of a kilobyte, in batches of one partition.
BATCHES, BATCH = 60, 100


def fill(server):
    rows = server.client["small"]["rows"]
    for first in range(0, DOCUMENTS, 1000):
        numbers = range(first, first + 1000)
        rows.insert_many([{"_id": n, "n": -n, "text": "x" * TEXT} for n in numbers])
    assert server.items.create_database("small").status == 201
    container = server.items.container("small", "items")
    assert container.define().status == 201
    for pk in range(BATCHES):
        items = [{"id": f"{pk}-{n}", "pk": str(pk), "text": "x" * TEXT} for n in range(BATCH)]
        operations = [{"operationType": "Create", "resourceBody": item} for item in items]
        assert container.batch(str(pk), operations).status == 200


def read_rows(server, reader):
    """A whole collection, in batches of the server's choice."""
    rows = server.connect(maxPoolSize=1)["small"]["rows"]
    found = rows.find() if reader % 2 else rows.aggregate([{"$match": {"n": {"$lte": 0}}}])
    return sum(1 for _ in found), DOCUMENTS


def read_items(server, reader):
    """A whole container, in pages that are as large as the server lets them be."""
    container = server.items.container("small", "items").through(Client(server.items.address))
    query = "SELECT * FROM c" if reader % 4 == 0 else "SELECT * FROM c ORDER BY c.id"
    return len(container.rows(query, size=1000)), BATCHES * BATCH


def storm(server, stop, problems):
    """Collections and containers come and go until it is stopped."""
    database = server.connect()["small"]
    items = Client(server.items.address)
    try:
        while not stop.is_set():
            database["passing"].insert_many([{"text": "y" * TEXT} for _ in range(200)])
            container = server.items.container("small", "passing").through(items)
            assert container.define().status == 201
            assert container.create({"id": "a", "pk": "a"}).status == 201
            database["passing"].drop()
            assert items.call("DELETE", container.link).status == 204
    except Exception as problem:
        problems.append(f"the storm: {problem!r}")


def read_all(server):
    """All readers at once beside the storm; answers the most that was resident, and what went
    wrong."""
    problems, stop, most = [], threading.Event(), [0]

    def work(reader):
        read = read_rows if reader % 3 else read_items
        for _ in range(READS):
            try:
                found, wanted = read(server, reader)
                if found != wanted:
                    problems.append(f"{read.__name__}: {found} instead of {wanted}")
            except (pymongo.errors.PyMongoError, AssertionError) as problem:
                problems.append(f"{read.__name__}: {str(problem)[:200]}")
            most[0] = max(most[0], server.rss())

    readers = [threading.Thread(target=work, args=[reader]) for reader in range(READERS)]
    beside = threading.Thread(target=storm, args=[server, stop, problems])
    for thread in [beside, *readers]:
        thread.start()
    for thread in readers:
        thread.join()
    stop.set()
    beside.join()
    return most[0], problems


def test_many_read_everything_with_little_memory():
    flags = ["--memory", f"{MEMORY >> 20}MB"]
    with Server(data_dir=True, nosql=True, flags=flags) as server:
        fill(server)
        for _ in range(2):
            most, problems = read_all(server)
            assert not problems, (len(problems), problems[:3])
            assert most <= MEMORY * BEYOND, f"{most >> 20} MB were resident"
            server.kill()
            server.start()
