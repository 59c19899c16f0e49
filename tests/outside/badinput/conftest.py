"""One server a module, with a witness that has to stay served after every case."""

import pytest

from badinput.house import House


@pytest.fixture(scope="module")
def house():
    """The server under attack. At the end it has to be small, whole and willing to stop."""
    with House() as house:
        yield house
        house.leave()


@pytest.fixture(autouse=True)
def healthy(house):
    """After every case the witness is served and the process is the same."""
    yield
    try:
        house.health()
    except AssertionError:
        house.revive()
        raise


@pytest.fixture
def wire(house):
    with house.wire() as wire:
        yield wire
