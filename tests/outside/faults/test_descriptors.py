"""Few descriptors: connections are limited below the process's limit, so that however many clients
connect, the store has the descriptors it needs and writes succeed."""

import contextlib
import socket

import pytest
from lib.server import Server
from pymongo.errors import PyMongoError

from faults.ledger import Writers

IDLE = 80
#: Bytes of a document, and number of writes, during which table files are created and deleted.
LARGE, WRITES = 200_000, 300
#: Number of collections created during the writes.
NEW = 20


class Poor(Server):
    """A server with this limit of open files."""

    def __init__(self, descriptors, **options):
        super().__init__(**options)
        self.descriptors = descriptors

    def command_line(self, ready):
        limited = f'ulimit -n {self.descriptors}; exec "$@"'
        return ["bash", "-c", limited, "bash", *super().command_line(ready)]


@pytest.mark.parametrize("descriptors", [64, 128, 256])
def test_idle_connections_do_not_end_writes(descriptors):
    problems = []
    with Poor(descriptors, data_dir=True, nosql=True) as server:
        writers = Writers(server, LARGE)
        writers.make()
        idle = []
        for door in (server.address, server.items.address):
            for _ in range(IDLE * descriptors // 64):
                with contextlib.suppress(OSError):
                    idle.append(socket.create_connection(door, 2))
        for number in range(WRITES):
            if not all(writers.write()):
                problems.append(f"write {number} was refused: {writers.wrong[-1:]}")
                break
            if number % (WRITES // NEW) == 0 and not problems:
                problems += new(writers, f"new{number}")
        if server.ready() != (200, "ok\n"):
            problems.append(f"/readyz of a server that is full of idle clients: {server.ready()}")
        for one in idle:
            one.close()
        problems += afterwards(server, writers)
    assert not problems, "\n".join(problems)


def new(writers, name):
    """Returns the error of creating a collection, which has files of its own."""
    try:
        writers.client["d"][name].insert_one({"_id": name})
    except PyMongoError as error:
        return [f"{name} was not made: {str(error)[:300]}"]
    return []


def afterwards(server, writers):
    """Returns the errors when descriptors are available again: for old clients, new clients, and
    after a restart."""
    try:
        assert all(writers.write()), f"still refused: {writers.wrong[-1:]}"
        assert writers.compare() == []
        other = Writers(server)
        other.count = writers.count
        assert all(other.write()), f"a new client is refused: {other.wrong}"
        writers.acked |= other.acked
        other.close()
        writers.close()
        server.leave()
        server.sound()
        server.start()
        writers.connect()
        assert writers.compare() == [], "after a restart"
        writers.close()
    except (AssertionError, PyMongoError) as problem:
        return [str(problem)[:500]]
    return []
