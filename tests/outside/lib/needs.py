"""What some tests need of the machine and of the user who runs them. A test without it is skipped,
and the closing line of the run counts it."""

import os

import pytest


def root(what):
    """Skips the test that calls it, or every test of the fixture that does, unless root runs it.
    `what` names the reason, such as "a network namespace"."""
    if os.geteuid() != 0:
        pytest.skip(f"{what} needs root")


def skip(items, reason):
    """Marks collected tests as skipped."""
    for item in items:
        item.add_marker(pytest.mark.skip(reason=reason))
