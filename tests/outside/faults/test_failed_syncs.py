"""Syncs fail at the Nth call, once or until the fault is removed: from the first failure on nothing
is acknowledged until the store has reopened itself, reads continue, `/readyz` fails within a second
if the fault lasts, and everything that was acknowledged stays.

ROUNDS is the number of rounds (default 2; 500 with --torture), all on one server, SEED seeds them.
"""

import os
import random
import time

from lib.inject import Injection
from lib.seed import SEED, TORTURE
from lib.server import Server

from faults.ledger import Writers

ROUNDS = int(os.environ.get("ROUNDS", 500 if TORTURE else 2))
#: Maximum of N; number of writes before the fault.
MOST, BEFORE = 30, 20
#: Seconds within which a failure occurs, is reported, and writes are accepted again.
MET, KNOWN, HEALED = 20.0, 1.0, 5.0
#: Seconds for which syncs keep failing.
LASTING = 0.5


def until_refused(writers):
    """Writes until the first that is not acknowledged; returns its time."""
    until = time.monotonic() + MET
    while all(writers.write()):
        assert time.monotonic() < until, "no write meets a sync that fails"
    return time.monotonic()


def lasts(server, writers):
    """Returns the errors while syncs keep failing."""
    problems, began, red = [], time.monotonic(), None
    while time.monotonic() - began < LASTING or (
        red is None and time.monotonic() - began < KNOWN + 1
    ):
        if any(writers.write()):
            problems.append("a write was acknowledged though no sync succeeds")
        if red is None and server.ready()[0] == 503:
            red = time.monotonic() - began
    if red is None or red > KNOWN:
        problems.append(f"/readyz was red after {red} s")
    return problems


def test_failed_syncs(report):
    rng, injected, slowest = random.Random(SEED), 0, 0.0
    with Server(data_dir=True, nosql=True) as server:
        writers = Writers(server, size=200)
        writers.make()
        for _ in range(BEFORE):
            assert all(writers.write()), writers.wrong
        for round in range(ROUNDS):
            number, forever = rng.randint(1, MOST), round % 2 == 1
            error = rng.choice(["EIO", "ENOSPC"])
            told = f"SEED={SEED}, round {round}, {error} at {number}{'+' * forever}"
            # A thread created after the failure would count from 1 again.
            when = "1+" if forever else str(number)
            for _ in range(number if forever else 0):
                assert all(writers.write()), writers.wrong
            with Injection(server, "fdatasync", error, when) as injection:
                until_refused(writers)
                problems = writers.compare() + (lasts(server, writers) if forever else [])
                injected += injection.count()
                assert injection.count() > 0, f"{told}: refused, though nothing had failed"
            slowest = max(slowest, writers.heal(HEALED))
            problems += writers.compare() + writers.wrong
            assert problems == [], f"{told}: " + "\n".join(problems[:5])
        writers.close()
        server.end()
        server.start()
        writers.connect()
        assert writers.compare() == []
        writers.close()
    report(
        "F7",
        ROUNDS,
        "times failing syncs, once or for a while",
        seed=SEED,
        errors=injected,
        acknowledged=len(writers.acked),
        refused=len(writers.refused),
        slowest_to_heal=f"{slowest:.1f} s",
    )
