"""One server a module, with a witness that has to stay served after every case."""

import pytest
from lib.house import fixtures

from badinput.house import House

house, wire = fixtures(House)


@pytest.fixture(autouse=True)
def healthy(house):
    """After every case the witness is served and the process is the same."""
    yield
    try:
        house.health()
    except AssertionError:
        house.revive()
        raise
