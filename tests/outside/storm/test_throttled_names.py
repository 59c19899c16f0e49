"""A server that enforces throughput remembers no names of collections that do not exist: clients
choose how many they are, and how long."""

import contextlib

import pymongo
import pytest
from lib.server import Server

#: Number of names and their length: together far more than the server may keep.
NAMES, LENGTH = 400, 1 << 20
#: Growth of resident memory that is due to messages and connections.
GROWTH = 150 << 20


@pytest.mark.parametrize("command", ["find", "insert", "count", "bulkWrite"])
def test_names_of_no_collection_are_not_kept(command):
    with Server(clock="system", flags=["--enforce-throughput"]) as server:
        database = server.client["admin" if command == "bulkWrite" else "d"]
        before = server.rss()
        for number in range(NAMES):
            name = f"{number}".ljust(LENGTH, "x")
            more = {"documents": [{}]} if command == "insert" else {}
            if command == "bulkWrite":
                operation = {"insert": 0, "document": {}}
                name, more = 1, {"ops": [operation], "nsInfo": [{"ns": f"d.{name}"}]}
            # Reads find nothing, and writes are refused because the names are too long.
            with contextlib.suppress(pymongo.errors.OperationFailure):
                database.command(command, name, **more)
        assert server.client.d.list_collection_names() == []
        assert server.rss() - before < GROWTH
