"""Indexes are created and dropped while others read and fetch usage counts: no use of an index that
stays is lost, and counts are reported only for indexes that exist or existed."""

import threading

import pytest
from lib.server import Server

FIELDS = ("a", "b", "c")
#: Rounds of creating and dropping an index, each index by its own client; and finds of each reader.
ROUNDS, MORE_ROUNDS = 15, 200
FINDS, MORE_FINDS = 150, 2000
READERS = 3
DOCUMENTS = 200


def uses(collection):
    return list(collection.aggregate([{"$indexStats": {}}]))


class Clients:
    """Threads with a connection each, and the errors in them."""

    def __init__(self, server):
        self.server, self.problems, self.threads = server, [], []

    def run(self, work):
        def guarded():
            try:
                with self.server.connect(maxPoolSize=1) as client:
                    work(client.app.log)
            except Exception as problem:
                self.problems.append(repr(problem))

        thread = threading.Thread(target=guarded, daemon=True)
        self.threads.append(thread)
        thread.start()
        return thread

    def join(self):
        for thread in self.threads:
            thread.join(300)
        assert not self.problems, self.problems
        assert not any(thread.is_alive() for thread in self.threads)


def maker(field, rounds):
    """Returns a function that repeatedly creates and drops an index, which stays at the end."""

    def work(collection):
        for _ in range(rounds):
            collection.create_index(field)
            collection.drop_index(f"{field}_1")
        collection.create_index(field)

    return work


def reader(finds):
    def work(collection):
        for n in range(finds):
            assert collection.find_one({"kept": n % DOCUMENTS})["_id"] == n % DOCUMENTS
            field = FIELDS[n % len(FIELDS)]
            assert len(list(collection.find({field: n % 10}))) == DOCUMENTS // 10

    return work


def asker(over, answers):
    """Returns a function that repeatedly fetches usage counts and checks each reply."""

    def work(collection):
        last = 0
        while not over.is_set():
            answers.append(found := uses(collection))
            names = [it["name"] for it in found]
            assert names[:2] == ["_id_", "kept_1"], names
            assert len(set(names)) == len(names), names
            assert set(names[2:]) <= {f"{field}_1" for field in FIELDS}, names
            assert all(it["accesses"]["ops"] >= 0 for it in found), found
            assert all(it["spec"]["name"] == it["name"] for it in found), found
            ops = found[1]["accesses"]["ops"]
            assert last <= ops
            last = ops

    return work


@pytest.fixture
def server():
    with Server(data_dir=True) as server:
        collection = server.client.app.log
        rows = [{"_id": n, "kept": n, **dict.fromkeys(FIELDS, n % 10)} for n in range(DOCUMENTS)]
        collection.insert_many(rows)
        collection.create_index("kept")
        yield server
        server.end()


def test_uses_are_counted_while_indexes_come_and_go(server, torture):
    rounds, finds = (MORE_ROUNDS, MORE_FINDS) if torture else (ROUNDS, FINDS)
    clients, over, answers = Clients(server), threading.Event(), []
    work = [clients.run(maker(field, rounds)) for field in FIELDS]
    work += [clients.run(reader(finds)) for _ in range(READERS)]
    clients.run(asker(over, answers))
    for thread in work:
        thread.join(300)
    over.set()
    clients.join()
    assert any(len(found) > 2 for found in answers), "nobody saw an index that comes and goes"
    collection = server.client.app.log
    found = {it["name"]: it["accesses"]["ops"] for it in uses(collection)}
    assert list(found) == list(collection.index_information())
    assert found["kept_1"] == READERS * finds
    # The other indexes are new, so only the last reads may have used them.
    assert all(found[f"{field}_1"] <= READERS * finds for field in FIELDS), found
    server.restart()
    collection = server.client.app.log
    assert {it["name"]: it["accesses"]["ops"] for it in uses(collection)} == dict.fromkeys(found, 0)
    assert collection.find_one({"a": 3}) is not None
    assert uses(collection)[list(found).index("a_1")]["accesses"]["ops"] == 1
