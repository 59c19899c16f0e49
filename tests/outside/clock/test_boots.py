"""Restarts after which the machine's boot clock differs, as in a container that was migrated: time
namespaces shift it by an hour and a year, forward and back. Requires root."""

import pytest

from clock.boots import shifted
from clock.walled import ROUGHLY, YEAR, Walled

pytestmark = pytest.mark.real_clock

LIVES = {"month": 2_592_000, "ever": None}


@pytest.mark.parametrize("seconds", [3_600, YEAR // 1000])
def test_time_goes_on_where_the_boot_clock_is_another_one(tmp_path, seconds):
    with Walled(tmp_path) as walled:
        walled.boot.unlink()
        walled.fill(LIVES)
        # Ahead; back to the original, which is behind the last run; unchanged.
        for prefix in (shifted(seconds), [], []):
            walled.now()
            walled.written_ts()
            said = walled.server.prefix != prefix
            walled.server.kill()
            walled.server.prefix = prefix
            walled.server.start()
            walled.now()
            walled.written_ts()
            assert abs(walled.off()) < ROUGHLY
            assert walled.shows(LIVES)
            log = walled.server.log.read_text()
            assert ("boot clock differs from the last run" in log) == said
            assert not walled.clock()["unconfirmed"]
            assert walled.server.ready()[0] == 200
        walled.server.end()
