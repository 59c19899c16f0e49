"""One server per module, with a witness that has to be served after every case."""

import pytest
from lib.attacked import fixtures

from badinput_nosql.attacked import AttackedServer

attacked, wire = fixtures(AttackedServer)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call":
        item.failed_here = report.failed
    return report


@pytest.fixture(autouse=True)
def healthy(request, attacked):
    """Checks after every case that the witness is served and process and data are the same."""
    yield
    if getattr(request.node, "failed_here", False):
        attacked.recover()
        return
    try:
        attacked.health()
    except AssertionError:
        attacked.recover()
        raise
