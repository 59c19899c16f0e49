"""Containers for tests of values: all on one server, whose clock the tests move forward."""

import itertools

import pytest
from lib.server import Server

#: Containers per database, of which 500 are allowed.
IN_A_DATABASE = 200
NUMBERS = itertools.count()


@pytest.fixture(scope="package")
def server():
    with Server(nosql=True) as server:
        yield server


@pytest.fixture
def container(server):
    """A container that does not exist yet."""
    number = next(NUMBERS)
    database = f"d{number // IN_A_DATABASE}"
    if number % IN_A_DATABASE == 0:
        assert server.items.create_database(database).status == 201
    return server.items.container(database, f"c{number}")
