"""Collections and containers that are created at the same moment: each has the documents
acknowledged into it, before a restart and after one, and the directory is undamaged."""

import threading

import pymongo
import pytest
from lib.nosql import Client
from lib.server import Server

#: Rounds of each kind: a defect shows in about every second of them.
ROUNDS, MORE_ROUNDS = 4, 40
DOCUMENTS = 10


def together(works):
    """Runs all functions at the same moment; returns their results in order."""
    gate, answers, problems = threading.Barrier(len(works)), [None] * len(works), []

    def run(at, work):
        try:
            gate.wait(30)
            answers[at] = work()
        except Exception as problem:
            problems.append(f"work {at}: {problem!r}")

    threads = [threading.Thread(target=run, args=it, daemon=True) for it in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not problems, problems
    return answers


def differences(verified):
    """Returns the distinct indented lines of `ebb verify`."""
    lines = [line.strip() for line in verified.stdout.splitlines() if line.startswith(" ")]
    return sorted(set(lines))[:3] or verified.stderr[-300:]


class Makers:
    """Clients of both APIs, each with its own connection, and their acknowledged writes."""

    def __init__(self, server, count):
        self.server = server
        self.clients = [server.connect(retryWrites=False, maxPoolSize=1) for _ in range(count)]
        for client in self.clients:
            client.admin.command("ping")
        #: Ids by (API, database, name).
        self.acked = {}

    def insert(self, at, database, name, count=DOCUMENTS):
        """Returns a function that inserts documents into a possibly missing collection."""
        ids = [f"{at}-{i}" for i in range(count)]

        def work():
            self.clients[at][database][name].insert_many([{"_id": id} for id in ids])

        self.acked.setdefault(("mongo", database, name), set()).update(ids)
        return work

    def index(self, at, database, name, field):
        return lambda: self.clients[at][database][name].create_index([(field, 1)])

    def contain(self, at, database, name):
        """Returns a function that creates a container and creates items in it."""
        ids = [f"{at}-{i}" for i in range(DOCUMENTS)]
        container = Client(self.server.items.address).container(database, name)

        def work():
            replies = [container.define()]
            replies += [container.create({"id": id, "pk": "a"}) for id in ids]
            container.client.close()
            assert all(reply.status == 201 for reply in replies), replies

        self.acked.setdefault(("nosql", database, name), set()).update(ids)
        return work

    def close(self):
        for client in self.clients:
            client.close()

    def lost(self):
        """Returns the differences from the acknowledged writes, by rows, by count and by index."""
        wrong = []
        for (door, database, name), ids in self.acked.items():
            if door == "mongo":
                collection = self.server.client[database][name]
                found = {row["_id"] for row in collection.find()}
                counts = {"count": collection.estimated_document_count()}
                for index in collection.index_information():
                    counts[index] = len(list(collection.find().hint(index)))
            else:
                container = self.server.items.container(database, name)
                found = {row["id"] for row in container.rows()}
                counts = {"COUNT": container.rows("SELECT VALUE COUNT(1) FROM c")[0]}
            if found != ids:
                wrong.append(f"{door} {database}.{name} has {len(found)} of {len(ids)}")
            wrong += [
                f"{door} {database}.{name}: {n} by {way}, there were {len(ids)}"
                for way, n in counts.items()
                if n != len(ids)
            ]
        return wrong


def one_collection(makers):
    return [makers.insert(at, "app", "one") for at in range(4)]


def eight_collections(makers):
    return [makers.insert(at, f"app{at % 2}", f"c{at}") for at in range(8)]


def both_doors(makers):
    return [makers.insert(at, "app", f"c{at}") for at in range(6)] + [
        makers.contain(at, "app", f"c{at}") for at in range(6)
    ]


def indexes(makers):
    """Two clients create the same index, and others other ones, on a missing collection."""
    makers.acked["mongo", "app", "one"] = set()
    return [makers.index(at, "app", "one", field) for at, field in enumerate("aabc")]


def indexes_and_rows(makers):
    return indexes(makers) + [makers.insert(at, "app", "one") for at in range(4, 8)]


@pytest.mark.parametrize(
    "kind", [one_collection, eight_collections, both_doors, indexes, indexes_and_rows]
)
def test_made_at_the_same_moment(kind, torture):
    """All rounds run before the check, so that a failure reports how many went wrong. Every other
    round ends with SIGKILL."""
    rounds, wrong = MORE_ROUNDS if torture else ROUNDS, []
    for round in range(rounds):
        with Server(data_dir=True, nosql=True) as server:
            server.items.create_database("app")
            makers = Makers(server, 12)
            together(kind(makers))
            if kind is indexes:
                # A collection that was created without rows gets them now.
                makers.insert(0, "app", "one")()
            found = [f"at once: {it}" for it in makers.lost()]
            makers.close()
            server.kill() if round % 2 else server.leave()
            verified = server.verify()
            if verified.returncode:
                found.append(f"verify ends with {verified.returncode}: {differences(verified)}")
            try:
                server.start()
                found += [f"after a restart: {it}" for it in makers.lost()]
            except (AssertionError, pymongo.errors.PyMongoError) as error:
                found.append(f"after a restart: {error}")
        if found:
            wrong.append(f"round {round}: " + "; ".join(found[:6]))
    assert not wrong, f"{len(wrong)} of {rounds} rounds:\n" + "\n".join(wrong[:5])


def test_many_new_collections():
    """Eight writers create 150 collections, several of them at the same time."""
    with Server(data_dir=True, nosql=True) as server:
        makers, names = Makers(server, 8), [f"n{i}" for i in range(150)]

        def share(at):
            works = [makers.insert(at, "app", name, 3) for name in names[at::8]]
            return lambda: [work() for work in works]

        together([share(at) for at in range(8)])
        wrong = [f"at once: {it}" for it in makers.lost()]
        makers.close()
        server.leave()
        verified = server.verify()
        server.start()
        wrong += [f"after a restart: {it}" for it in makers.lost()]
    assert not wrong and not verified.returncode, (
        f"{len(wrong)} of what was made: {wrong[:6]}; verify: {differences(verified)}"
    )
