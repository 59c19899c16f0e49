"""Skips the tests that need a file system of their own or strace, on machines that do not permit
these, such as some containers, or without root."""

import os
import subprocess

import pytest
from lib import needs
from lib.inject import strace

from faults.disk import Disk

#: The requirement of each file.
NEEDS = {
    "test_full_disk.py": "mounts",
    "test_control.py": "strace",
    "test_errors.py": "strace",
    "test_failed_syncs.py": "strace",
    "test_slow_disk.py": "strace",
}


def mounts():
    try:
        with Disk(16):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


def traces():
    try:
        command = [strace(), "-qq", "-o", os.devnull, "true"]
        return subprocess.run(command, capture_output=True).returncode == 0
    except (AssertionError, OSError, subprocess.CalledProcessError):
        return False


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for need, works in (("mounts", mounts), ("strace", traces)):
        wanted = [item for item in items if NEEDS.get(item.path.name) == need]
        if wanted and not works():
            needs.skip(wanted, f"{need} cannot be used here")
