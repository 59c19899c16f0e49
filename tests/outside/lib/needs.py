"""Requirements of some tests on the machine and the user. A test whose requirement is missing is
skipped, and the last line of the run counts it."""

import os
import shutil
import subprocess

import pytest


def root(what):
    """Skips the calling test, or every test of the calling fixture, unless run by root. `what`
    names the reason, such as "a network namespace"."""
    if os.geteuid() != 0:
        pytest.skip(f"{what} needs root")


def program(name, package):
    """Returns the path of a program; installs its package with apt-get if it is missing."""
    if not shutil.which(name):
        for command in (["update"], ["install", "-y", package]):
            # Another test may run apt-get at the same time.
            line = ["apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120", *command]
            subprocess.run(line, check=True, capture_output=True)
    found = shutil.which(name)
    assert found, f"{name} is needed (Debian: apt-get install {package})"
    return found


def skip(items, reason):
    """Marks collected tests as skipped."""
    for item in items:
        item.add_marker(pytest.mark.skip(reason=reason))
