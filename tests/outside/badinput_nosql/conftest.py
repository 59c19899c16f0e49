"""One server a module, with a witness that has to stay served after every case."""

import pytest
from lib.house import fixtures

from badinput_nosql.house import House

house, wire = fixtures(House)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call":
        item.failed_here = report.failed
    return report


@pytest.fixture(autouse=True)
def healthy(request, house):
    """After every case the witness is served, the process is the same, and all is as it was."""
    yield
    if getattr(request.node, "failed_here", False):
        house.recover()
        return
    try:
        house.health()
    except AssertionError:
        house.recover()
        raise
