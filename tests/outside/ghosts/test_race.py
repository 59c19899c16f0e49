"""The race at the deadline on a clock that is moved beside it. RACE_SECONDS says how long."""

import os

import pytest

from ghosts.race import judge, race
from lib.seed import TORTURE

SECONDS = float(os.environ.get("RACE_SECONDS", 60 if TORTURE else 3))


@pytest.mark.parametrize("shifting", [False, True], ids=["settled", "shifting"])
@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
def test_nobody_sees_dead_and_then_alive(disk, shifting):
    race(disk, "manual", shifting, SECONDS)


def test_a_race_judges():
    """A test of the test: who is seen dead and then alive is noticed."""
    fine = [(f"{n}", True, n, n + 1) for n in range(30)]
    fine += [(f"{n}", False, n + 2, n + 3) for n in range(30)]
    judge(fine)
    with pytest.raises(AssertionError, match="1 sightings after death"):
        judge([*fine, ("7", True, 10.5, 10.6)])
    judge([*fine, ("7", True, 9.5, 99)])
    with pytest.raises(AssertionError, match="no race"):
        judge(fine[:10])
