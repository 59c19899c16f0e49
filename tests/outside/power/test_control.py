"""Tests of the power cuts: a small program that writes and syncs loses no record that it has
synced, and loses the others. ROUNDS is the number of cuts of each kind (default 2; 30 with
--torture).
"""

import os
import random
import signal
import time

import pytest
from lib.control import Control
from lib.seed import SEED, TORTURE

from power.disk import Disk

ROUNDS = int(os.environ.get("ROUNDS", 30 if TORTURE else 2))
MEGABYTES = 320
#: Synced and unsynced records before a cut.
SYNCED, LEFT = 20, 20


@pytest.mark.parametrize("kind", ["ext4", "xfs"])
def test_of_checks_cuts(kind, report):
    kept = lost = cut = 0
    rng = random.Random(f"{SEED} {kind}")
    with Disk(kind, MEGABYTES, keeps=False) as disk:
        for round in range(ROUNDS):
            path = disk.path / f"steps{round}"
            with Control(path) as control:
                assert all(control.ask("sync")[0] == 0 for _ in range(SYNCED))
                assert all(control.ask("leave")[0] == 0 for _ in range(LEFT))
                disk.cut()
                assert control.ask("sync")[0] != 0, "a sync succeeds after the power has gone"
            disk.renew()
            held = control.held()
            synced, left = set(range(1, SYNCED + 1)), set(range(SYNCED + 1, SYNCED + LEFT + 1))
            assert synced <= held, f"lost though synced: {sorted(synced - held)}"
            assert not left & held, f"there though never synced: {sorted(left & held)}"
            kept, lost = kept + len(synced), lost + len(left)
            # During a loop: stopped before the cut, so that no sync is about to report success.
            path = disk.path / f"loop{round}"
            with Control(path) as control:
                assert control.ask("loop")[0] == 0
                time.sleep(rng.uniform(0.05, 0.3))
                control.process.send_signal(signal.SIGSTOP)
                time.sleep(0.05)
                disk.cut()
                time.sleep(0.05)
                control.process.kill()
                said = control.rest()
            disk.renew()
            missing = set(said) - control.held()
            assert not missing, f"lost though synced: {sorted(missing)}"
            cut += 1
            kept += len(said)
    report(
        "F4",
        2 * ROUNDS,
        f"cuts of the control on {kind}",
        seed=SEED,
        synced_and_kept=kept,
        not_synced_and_gone=lost,
    )
    assert cut == ROUNDS and kept > 20 * ROUNDS
