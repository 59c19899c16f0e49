"""One server per module, with a witness that has to be served after every case."""

import pytest
from lib.attacked import fixtures

from badinput.attacked import AttackedServer

attacked, wire = fixtures(AttackedServer)


@pytest.fixture(autouse=True)
def healthy(attacked):
    """Checks after every case that the witness is served and the process is the same."""
    yield
    try:
        attacked.health()
    except AssertionError:
        attacked.revive()
        raise
