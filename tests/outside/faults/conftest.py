"""Where a machine lets nobody mount file systems or trace processes, as some containers do, what
needs that is left out, and the run says so."""

import os
import subprocess

import pytest
from lib.inject import strace

from faults.disk import Disk

#: What each file needs.
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
def pytest_collection_modifyitems(config, items):
    wanted = {NEEDS[item.path.name] for item in items if item.path.name in NEEDS}
    able = {"mounts": mounts, "strace": traces}
    missing = {need for need in wanted if not able[need]()}
    out = [item for item in items if NEEDS.get(item.path.name) in missing]
    if out:
        print(
            f"\nthis machine has no {' and no '.join(sorted(missing))}: {len(out)} tests do not run"
        )
        config.hook.pytest_deselected(items=out)
        items[:] = [item for item in items if item not in out]
