"""The boot clock that drives database time stops or runs slowly: `/readyz` fails, and recovers when
the clock runs again."""

import time

import pytest

from clock.walled import Walled

pytestmark = pytest.mark.real_clock

#: Seconds within which this has to be noticed.
NOTICED = 5.0


def test_a_frozen_clock_turns_readiness_red(tmp_path):
    with Walled(tmp_path) as walled:
        assert walled.server.ready()[0] == 200
        walled.server.client.db.c.insert_one({"_id": 1})
        walled.pace("0")
        assert walled.comes(lambda: walled.server.ready()[0] == 503, NOTICED), "it is not noticed"
        assert "does not keep pace" in walled.server.ready()[1]
        assert not walled.clock()["keeps_pace"]
        assert "does not keep pace" in walled.server.log.read_text()
        # It stays so, even while the wall clock is followed, and data is served.
        until = time.monotonic() + 3
        while time.monotonic() < until:
            assert walled.server.ready()[0] == 503
            assert walled.server.client.db.c.count_documents({}) == 1
            time.sleep(0.05)
        last = walled.server.now_ms()
        walled.pace("1")
        assert walled.comes(lambda: walled.server.ready()[0] == 200, NOTICED)
        assert last <= walled.server.now_ms()
        walled.server.end()


@pytest.mark.parametrize(("pace", "red"), [("0.4", True), ("0.6", False)])
def test_a_slow_clock_is_noticed_below_half_its_pace(tmp_path, pace, red):
    with Walled(tmp_path) as walled:
        walled.pace(pace)
        turned = walled.comes(lambda: walled.server.ready()[0] == 503, NOTICED)
        assert turned == red, walled.status()
        walled.server.end()
