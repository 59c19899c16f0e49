"""One server per module that requires authentication, a connection of its first user, and a new
database per test."""

import pytest

from access.guarded import Guarded, new_name


@pytest.fixture(scope="module")
def server():
    with Guarded() as server:
        yield server


@pytest.fixture(scope="module")
def root(server):
    return server.root()


@pytest.fixture
def database(root):
    """The name of a database with documents in its collections `c` and `d`."""
    name = new_name()
    for collection in ("c", "d"):
        documents = [{"_id": number, "a": number, "of": collection} for number in range(5)]
        root.ok(name, {"insert": collection, "documents": documents})
    return name
