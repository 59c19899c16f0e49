"""Errors of a wall clock: linear, periodic, stepwise, and non-ideal (drift, jitter and sudden
corrections at once). Each is a function from the seconds since its start to the error in
milliseconds."""

import math
import random


def linear(seed):
    """Drifts by up to a tenth of a second per second, either way."""
    rate = random.Random(seed).uniform(-100, 100)
    return lambda seconds: rate * seconds


def periodic(seed):
    """Oscillates by up to 40 seconds, with several periods in a test."""
    choose = random.Random(seed)
    amplitude, period = choose.uniform(200, 40_000), choose.uniform(1, 10)
    return lambda seconds: amplitude * math.sin(2 * math.pi * seconds / period)


def step(seed):
    """Is right, then wrong by an amount from a second to years."""
    choose = random.Random(seed)
    at, size = choose.uniform(0.5, 4), choose.choice([1_000, 30_000, 90_000, 3_600_000, 10**11])
    size *= choose.choice([-1, 1])
    return lambda seconds: size if seconds > at else 0


def non_ideal(seed):
    """Drifts, jitters, and is sometimes set to a right or wrong time."""
    choose = random.Random(seed)
    rate, jitter = choose.uniform(-50, 50), choose.uniform(0, 700)
    steps = sorted(
        (choose.uniform(0, 20), choose.choice([-5_000, 700, 20_000, 7_200_000])) for _ in range(4)
    )

    def offset(seconds):
        stepped = sum(size for at, size in steps if at <= seconds)
        return rate * seconds + choose.uniform(-jitter, jitter) + stepped

    return offset


SKEWS = {"linear": linear, "periodic": periodic, "step": step, "non-ideal": non_ideal}
