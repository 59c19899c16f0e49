"""An index build that SIGKILL interrupts resumes at the next start, and reports its progress."""

import threading
import time

import pymongo
import pytest
from lib.server import Server

#: Number of documents, enough for a build to take a while, and number scanned before the kill.
DOCUMENTS, BEFORE = 100_000, 2_000
PART = 20_000


def builds(server):
    """Returns the operations that build an index, on behalf of clients or not."""
    asked = {"currentOp": 1, "command.createIndexes": "log"}
    return server.client.admin.command(asked)["inprog"]


def done(operation):
    """Returns the number of scanned documents; message and progress must agree."""
    progress = operation.get("progress")
    if progress is None:
        # No message before the build starts, and no numbers before the first documents.
        assert operation.get("msg") in (None, "Index Build: scanning collection")
        return 0
    done, total = progress["done"], progress["total"]
    assert 0 <= done <= total == DOCUMENTS, progress
    assert operation["msg"].endswith(f": {done}/{total} {100 * done // total}%"), operation["msg"]
    return done


def building(server):
    behind = [{"$match": {"building": True}}, {"$project": {"name": 1}}]
    return [it["name"] for it in server.client.app.log.aggregate([{"$indexStats": {}}, *behind])]


@pytest.fixture
def server():
    with Server(data_dir=True) as server:
        for first in range(0, DOCUMENTS, PART):
            rows = [{"_id": n, "a": n % 97} for n in range(first, first + PART)]
            server.client.app.log.insert_many(rows)
        yield server
        server.end()


def make(server, problems):
    try:
        with server.connect(retryWrites=False) as client:
            client.app.log.create_index("a")
        problems.append("it was made before the kill")
    except pymongo.errors.AutoReconnect:
        pass


def test_a_build_goes_on_after_a_kill_and_says_how_far_it_is(server):
    problems, until = [], time.monotonic() + 60
    thread = threading.Thread(target=make, args=(server, problems), daemon=True)
    thread.start()
    while not any(done(it) >= BEFORE for it in builds(server)):
        assert not problems, problems
        assert time.monotonic() < until, "the build does not begin"
    server.kill()
    thread.join(30)
    assert not problems, problems
    server.start()
    seen, names, until = [], set(), time.monotonic() + 120
    while found := builds(server):
        assert time.monotonic() < until, "the build does not end"
        seen += [done(it) for it in found]
        assert all("opid" not in it for it in found), "nobody waits for it"
        names.update(building(server))
    assert names <= {"a_1"}
    assert seen == sorted(seen)
    assert len(set(seen)) > 2, "it was never in between"
    assert building(server) == []
    assert server.client.app.log.count_documents({"a": 3}) == sum(
        n % 97 == 3 for n in range(DOCUMENTS)
    )
