"""Requirements of some tests on the machine and the user. A test whose requirement is missing is
skipped, and the last line of the run counts it."""

import os

import pytest


def root(what):
    """Skips the calling test, or every test of the calling fixture, unless run by root. `what`
    names the reason, such as "a network namespace"."""
    if os.geteuid() != 0:
        pytest.skip(f"{what} needs root")


def skip(items, reason):
    """Marks collected tests as skipped."""
    for item in items:
        item.add_marker(pytest.mark.skip(reason=reason))
