"""SIGKILL under load through both APIs at once: every acknowledged write is present or has legally
expired, and no atomic write is done in part. ROUNDS is the number of kills (default 12; 300 with
--torture), SEED seeds them. After each of them `ebb verify` checks the directory as the crash left
it.
"""

import os
import time

import pytest
from lib.seed import SEED, TORTURE
from lib.server import Server

from crash.load import Load

#: Clock and reap delay; the rounds are divided among them.
MODES = [("system", "0"), ("manual", "0"), ("system", "60")]
ROUNDS = -(-int(os.environ.get("ROUNDS", 300 if TORTURE else 12)) // len(MODES))


@pytest.mark.parametrize(("clock", "reap_delay"), MODES)
def test_kill_under_load(clock, reap_delay, report):
    slowest = 0.0
    flags = ["--reap-delay", reap_delay]
    with Server(data_dir=True, clock=clock, flags=flags, nosql=True) as server:
        load = Load(server)
        for round in range(ROUNDS):
            try:
                load.round(server.kill)
            except AssertionError as error:
                raise AssertionError(f"SEED={SEED}, round {round}: {error}") from error
            began = time.monotonic()
            server.start()
            slowest = max(slowest, time.monotonic() - began)
            wrong = load.compare()
            assert wrong == [], f"SEED={SEED}, round {round}: " + "\n".join(wrong[:10])
        server.end()
    report(
        "F1",
        ROUNDS,
        f"kills, {clock} clock, reap delay {reap_delay}",
        seed=SEED,
        documents_acknowledged=load.acks(),
        items_acknowledged=load.item_acks(),
        changes_of_rules_and_indexes=load.changer.changes + load.item_changer.changes,
        deaths_told=load.follower.deaths,
        slowest_start=f"{slowest:.2f} s",
    )
    assert load.acks() > 5 * ROUNDS and load.item_acks() > 5 * ROUNDS, "hardly any load"
    assert load.changer.changes > 0, "no change of rules or indexes"
    assert load.item_changer.changes > 0, "no change of containers"
