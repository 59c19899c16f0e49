"""The race at the deadline on the real clock. RACE_SECONDS says how long each takes."""

import pytest

from ghosts.race import race
from lib.race import trial

pytestmark = pytest.mark.real_clock

test_nobody_sees_dead_and_then_alive = trial(race, "system", 4)
