"""The race of items on a clock that is moved beside it. RACE_SECONDS says how long."""

import os

import pytest

from lib.seed import TORTURE
from nosql.race import race

SECONDS = float(os.environ.get("RACE_SECONDS", 60 if TORTURE else 2))


@pytest.mark.parametrize("shifting", [False, True], ids=["settled", "shifting"])
@pytest.mark.parametrize("disk", [False, True], ids=["memory", "disk"])
def test_nobody_sees_dead_and_then_alive(disk, shifting):
    race(disk, "manual", shifting, SECONDS)
