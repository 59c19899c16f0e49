"""One server a module, with a witness that has to stay served after every case."""

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
    """After every case the witness is served, the process is the same, and all is as it was."""
    yield
    if getattr(request.node, "failed_here", False):
        attacked.recover()
        return
    try:
        attacked.health()
    except AssertionError:
        attacked.recover()
        raise
