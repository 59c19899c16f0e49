"""The race of items on a clock that is moved beside it. RACE_SECONDS says how long."""

from lib.race import trial

from nosql.race import race

test_nobody_sees_dead_and_then_alive = trial(race, "manual", 2)
