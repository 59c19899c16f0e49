"""Order and options shared by all tests: what waits on the real clock runs last."""

import os

import pytest


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.get_closest_marker("real_clock") is not None)


@pytest.fixture(scope="session")
def torture():
    return os.environ.get("TORTURE") == "1"
