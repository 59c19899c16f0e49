"""A server with little memory serves many clients that read everything at once, or write much at
once, while collections are created and dropped and it is restarted: reads are complete, no client
is refused, and memory stays within its limit."""

import threading

import pymongo
from bson import encode
from bson.raw_bson import RawBSONDocument
from lib.nosql import Client
from lib.seed import TORTURE
from lib.server import Server

#: Values of --memory, and the factor by which resident memory may exceed them.
MEMORY, WRITE_MEMORY, BEYOND = 128 << 20, 256 << 20, 1.2
#: Readers of both APIs together, and the number of times that each reads everything.
READERS, READS = 12, 3
#: Documents of a kilobyte: three times what operations may hold.
DOCUMENTS, TEXT = 60_000, 1000
#: Items of a kilobyte, in batches of one partition.
BATCHES, BATCH = 60, 100
#: Writers, which fill one collection; messages of each, and documents of a message.
WRITERS, MESSAGES, MESSAGE = 8, 120, 1000
#: After the restart the ordinary run does less of the same.
READS_AGAIN, MESSAGES_AGAIN = (READS, MESSAGES) if TORTURE else (1, MESSAGES // 4)
#: Text that compresses to a tenth of its size.
LIGHT = "expired on time " * 60


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
    """Reads a whole collection, in batches of default size. Documents are not decoded: that would
    take longer than the server does."""
    client = server.connect(maxPoolSize=1, document_class=RawBSONDocument)
    rows = client["small"]["rows"]
    found = rows.find() if reader % 2 else rows.aggregate([{"$match": {"n": {"$lte": 0}}}])
    return sum(1 for _ in found), DOCUMENTS


def read_items(server, reader):
    """Reads a whole container, in pages as large as the server allows."""
    container = server.items.container("small", "items").through(Client(server.items.address))
    query = "SELECT * FROM c" if reader % 4 == 0 else "SELECT * FROM c ORDER BY c.id"
    return len(container.rows(query, size=1000)), BATCHES * BATCH


def storm(server, stop, problems):
    """Creates, fills and drops collections and containers until it is stopped."""
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


def run_beside_storm(server, works, problems):
    """Runs all functions concurrently with the storm."""
    stop = threading.Event()
    workers = [threading.Thread(target=work, args=[at]) for at, work in enumerate(works)]
    beside = threading.Thread(target=storm, args=[server, stop, problems])
    for thread in [beside, *workers]:
        thread.start()
    for thread in workers:
        thread.join()
    stop.set()
    beside.join()


def read_all(server, reads):
    """Runs all readers concurrently with the storm; returns the peak resident memory, and the
    errors."""
    problems, most = [], [0]

    def work(reader):
        read = read_rows if reader % 3 else read_items
        for _ in range(reads):
            try:
                found, wanted = read(server, reader)
                if found != wanted:
                    problems.append(f"{read.__name__}: {found} instead of {wanted}")
            except (pymongo.errors.PyMongoError, AssertionError) as problem:
                problems.append(f"{read.__name__}: {str(problem)[:200]}")
            most[0] = max(most[0], server.rss())

    run_beside_storm(server, [work] * READERS, problems)
    return most[0], problems


def write_all(server, messages):
    """Runs all writers concurrently with the storm; returns the errors."""
    problems = []
    rows = server.connect()["small"]["written"]
    rows.drop()
    rows.create_index("n")

    def work(writer):
        rows = server.connect(maxPoolSize=1)["small"]["written"]
        try:
            for message in range(messages):
                first = (message * WRITERS + writer) * MESSAGE
                documents = [{"n": first + n, "text": LIGHT} for n in range(MESSAGE)]
                rows.insert_many([RawBSONDocument(encode(one)) for one in documents], ordered=False)
        except pymongo.errors.PyMongoError as problem:
            problems.append(str(problem)[:200])

    run_beside_storm(server, [work] * WRITERS, problems)
    found, wanted = rows.count_documents({"n": {"$gte": 0}}), WRITERS * messages * MESSAGE
    return problems if found == wanted else [*problems, f"{found} of {wanted}"]


def test_many_read_everything_with_little_memory():
    flags = ["--memory", f"{MEMORY >> 20}MB"]
    with Server(data_dir=True, nosql=True, flags=flags) as server:
        fill(server)
        for reads in (READS, READS_AGAIN):
            most, problems = read_all(server, reads)
            assert not problems, (len(problems), problems[:3])
            assert most <= MEMORY * BEYOND, f"{most >> 20} MB were resident"
            server.kill()
            server.start()


def test_many_write_much_with_little_memory():
    flags = ["--memory", f"{WRITE_MEMORY >> 20}MB"]
    with Server(data_dir=True, nosql=True, flags=flags) as server:
        assert server.items.create_database("small").status == 201
        for messages in (MESSAGES, MESSAGES_AGAIN):
            problems = write_all(server, messages)
            assert not problems, (len(problems), problems[:3])
            most = server.most_rss()
            assert most <= WRITE_MEMORY * BEYOND, f"{most >> 20} MB were resident"
            server.kill()
            server.start()
