"""The race of items on a manual clock. RACE_SECONDS is its duration."""

from lib.race import trial

from nosql.race import race

test_nobody_sees_dead_and_then_alive = trial(race, "manual", 2)
