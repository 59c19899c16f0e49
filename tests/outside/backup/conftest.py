"""Skips the tests that need a file system of their own on machines where none can be mounted."""

import pytest
from faults.conftest import mounts
from lib import needs


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    wanted = [item for item in items if item.path.name == "test_full_target.py"]
    if wanted and not mounts():
        needs.skip(wanted, "no file system can be mounted here")
