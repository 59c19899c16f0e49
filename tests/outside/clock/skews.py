"""How a wall clock goes wrong: linear, periodic, in steps, and not in any ideal way (with drift,
jitter and sudden corrections at once). Each is a function of the time since its beginning,
milliseconds of both."""

import math
import random


def linear(seed):
    """Drifts by up to a tenth of a second in each, either way."""
    rate = random.Random(seed).uniform(-100, 100)
    return lambda seconds: rate * seconds


def periodic(seed):
    """Swings by up to 40 seconds, several times in a test."""
    choose = random.Random(seed)
    amplitude, period = choose.uniform(200, 40_000), choose.uniform(1, 10)
    return lambda seconds: amplitude * math.sin(2 * math.pi * seconds / period)


def step(seed):
    """Is right, and then wrong by anything from a second to years."""
    choose = random.Random(seed)
    at, size = choose.uniform(0.5, 4), choose.choice([1_000, 30_000, 90_000, 3_600_000, 10**11])
    size *= choose.choice([-1, 1])
    return lambda seconds: size if seconds > at else 0


def non_ideal(seed):
    """Drifts and jitters and is set right now and then, or wrong."""
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
