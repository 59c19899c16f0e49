"""The race at the deadline on a manual clock. RACE_SECONDS is its duration."""

import pytest
from lib.race import judge, trial

from ghosts.race import race

test_nobody_sees_dead_and_then_alive = trial(race, "manual", 3)


def test_a_race_judges():
    """A test of the check: a life seen expired and then live is detected."""
    fine = [(f"{n}", True, n, n + 1) for n in range(30)]
    fine += [(f"{n}", False, n + 2, n + 3) for n in range(30)]
    judge(fine)
    with pytest.raises(AssertionError, match=r"(?s)dead and then alive.*life 7\n.* dead"):
        judge([*fine, ("7", True, 10.5, 10.6)])
    judge([*fine, ("7", True, 9.5, 99)])
    with pytest.raises(AssertionError, match="no race"):
        judge(fine[:10])
