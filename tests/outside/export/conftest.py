"""One server in memory for all tests of a file, with both APIs and a manual clock."""

import pytest
from lib.server import Server


@pytest.fixture(scope="module")
def server():
    with Server(nosql=True) as server:
        server.items.create_database("i")
        yield server


@pytest.fixture
def database(server):
    """An empty database `d`."""
    server.client.drop_database("d")
    return server.client["d"]
