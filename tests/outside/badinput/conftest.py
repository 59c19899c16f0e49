"""One server a module, with a witness that has to stay served after every case."""

import pytest
from lib.attacked import fixtures

from badinput.attacked import AttackedServer

attacked, wire = fixtures(AttackedServer)


@pytest.fixture(autouse=True)
def healthy(attacked):
    """After every case the witness is served and the process is the same."""
    yield
    try:
        attacked.health()
    except AssertionError:
        attacked.revive()
        raise
