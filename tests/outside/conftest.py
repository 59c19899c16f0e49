"""Order, options and the seed of all tests: tests on the real clock run last."""

import pytest

pytest.register_assert_rewrite("lib")

from lib.report import Report  # noqa: E402
from lib.seed import SEED, TORTURE  # noqa: E402
from lib.skips import Skips  # noqa: E402
from lib.timings import Timings  # noqa: E402


def pytest_configure(config):
    config.pluginmanager.register(Skips(), "skips")
    config.pluginmanager.register(Timings(), "timings")


def pytest_report_header():
    return f"SEED={SEED}" + (" TORTURE=1" if TORTURE else "")


def pytest_terminal_summary(terminalreporter):
    # Repeated at the end, so that it is visible beside failures also in a quiet run.
    terminalreporter.write_line(f"SEED={SEED}" + (" TORTURE=1" if TORTURE else ""))


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("real_clock") is not None)


@pytest.fixture(scope="session")
def torture():
    return TORTURE


@pytest.fixture
def report(request, capsys):
    """Reports what a test of a fault did."""

    def show(text):
        with capsys.disabled():
            print(f"\n{text}")

    return Report(request.node.nodeid, show)
