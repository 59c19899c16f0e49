"""The race of items at the deadline on the real clock. RACE_SECONDS is the duration of each."""

import pytest
from lib.race import trial

from nosql.race import race

pytestmark = pytest.mark.real_clock

test_nobody_sees_dead_and_then_alive = trial(race, "system", 3)
