"""The wall clock steps forward by an hour, a year and a hundred years (past 2038-01-19 and
2106-02-07) while the server runs. Until an operator accepts the step, it does not affect expiry,
stamps or reaping; afterwards all follow. Also after a reboot, when it is unknown whether the wall
clock is right."""

import re
import subprocess
import time

import pytest
from lib.prefetch import prefetched
from lib.server import EBB_BIN

from clock.boots import reboot
from clock.walled import DAY, HOUR, REAPS, ROUGHLY, YEAR, Walled

pytestmark = pytest.mark.real_clock

#: TTLs in seconds; of each there are `COPIES`, so that expired data is worth reaping.
LIVES = {"quarter": 900, "half-day": 43_200, "month": 2_592_000, "ever": None}
COPIES, TEXT = 60, "x" * 2_000
STEPS = {"an hour": HOUR, "a year": YEAR, "a hundred years": 100 * YEAR}


def left(step):
    """Returns the TTLs that are longer than a step."""
    return {name for name, life in LIVES.items() if life is None or step < life * 1000}


def follow(home, ms):
    """Steps a server's wall clock and accepts the step."""
    with Walled(home, REAPS) as walled:
        walled.fill(LIVES, COPIES, TEXT)
        # A document that expires while the step waits: expiry is not delayed.
        walled.items.create({"id": "ten 0", "pk": "a", "ttl": 10})
        began = time.monotonic()
        walled.move(ms)
        assert walled.waits(within=10.0), "no alarm within 10 seconds"
        assert walled.server.metric("ebb_clock_unconfirmed") == 1
        stepped = "the wall clock stepped"
        assert walled.comes(lambda: stepped in walled.server.log.read_text(), 10.0)
        walled.server.wait_for_passes(3)
        for name, seconds in walled.times().items():
            assert abs(seconds - time.time()) < ROUGHLY / 1000, f"{name} took the step"
        assert walled.reaped() == 0
        assert walled.clock()["unconfirmed"]
        assert walled.comes(lambda: walled.shows(LIVES), 15.0), walled.names()
        assert time.monotonic() - began > 8.0, "the life of 10 seconds was shorter"
        walled.accept()
        assert walled.reaches(ms)
        gone = len(LIVES) - len(left(ms))
        assert walled.shows(left(ms))
        assert not walled.clock()["unconfirmed"]
        assert walled.clock()["reap_until_ms"] is None
        for name, seconds in walled.times().items():
            off = seconds - time.time() - ms / 1000
            assert abs(off) < ROUGHLY / 1000, f"{name} did not follow"
        if ms != HOUR:
            # After an hour less than half of the data has expired, too little to be reaped.
            assert walled.comes(lambda: walled.reaped() >= 2 * gone * COPIES, 30.0)
        walled.server.kill()
        walled.server.start()
        assert abs(walled.off() - ms) < ROUGHLY
        assert walled.shows(left(ms))
        walled.server.end()


@pytest.fixture(scope="module")
def followed(request, tmp_path_factory):
    run = lambda step: follow(tmp_path_factory.mktemp("step"), STEPS[step])  # noqa: E731
    with prefetched(request, run, "step") as result:
        yield result


@pytest.mark.parametrize("step", STEPS)
def test_nothing_follows_a_step_before_it_is_accepted(followed, step):
    followed(step)


def test_what_a_reboot_makes_expire_is_kept_until_it_is_accepted(tmp_path):
    """A long downtime and a wrong clock cannot be distinguished. Expired data is invisible but
    stays on disk until the time is accepted, which the log states."""
    with Walled(tmp_path, REAPS) as walled:
        walled.fill(LIVES, COPIES, TEXT)
        walled.server.leave()
        reboot(walled.server.data_dir)
        walled.move(40 * DAY)
        clock = walled.server.data_dir / "clock"
        before = clock.read_bytes()
        refused = subprocess.run(
            [*walled.server.command_line("/nowhere/ready"), "--max-forward-jump", "30d"],
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert refused.returncode == 3, refused
        assert "--max-forward-jump" in refused.stderr and "960h" in refused.stderr, refused
        assert clock.read_bytes() == before, "a start that was refused has moved time"
        walled.server.start()
        assert abs(walled.off() - 40 * DAY) < ROUGHLY
        assert walled.shows({"ever"})
        told = re.compile(r"off for 960h.*kept from reaping until 'ebb admin clock accept'")
        assert walled.comes(lambda: told.search(walled.server.log.read_text()))
        assert f"{9 * COPIES} documents have expired since then" in walled.server.log.read_text()
        shown = subprocess.run(
            [EBB_BIN, "admin", "ttl", "--admin-addr", walled.server.admin_url[7:]],
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert "until 'ebb admin clock accept'" in shown.stdout, shown
        walled.server.wait_for_passes(3)
        assert walled.reaped() == 0
        # Also after another start, which does not count as a reboot; nothing has been accepted.
        walled.server.kill()
        walled.server.start()
        walled.server.wait_for_passes(3)
        assert walled.reaped() == 0
        assert walled.clock()["reap_until_ms"] is not None
        walled.accept()
        assert walled.comes(lambda: walled.reaped() >= 9 * COPIES, 30.0)
        assert walled.shows({"ever"})
        walled.server.end()
