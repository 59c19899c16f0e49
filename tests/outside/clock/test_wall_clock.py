"""Steps of the machine's wall clock, which tests simulate by a file whose offset the server adds:
small ones are followed, large ones wait for an operator to accept them, and time never goes back,
over restarts either. Data that a step makes expire stays expired; other data stays visible."""

import time

import pytest
from lib.prefetch import prefetched

from clock.boots import reboot
from clock.walled import FOLLOWED, HOUR, ROUGHLY, SECOND, YEAR, Walled

pytestmark = pytest.mark.real_clock

#: TTLs of documents in seconds; `None`: never expires.
LIVES = {"short": 25, "long": 1_800, "ever": None}


@pytest.fixture
def walled(tmp_path):
    with Walled(tmp_path) as walled:
        walled.fill(LIVES)
        yield walled
        walled.server.end()


def lasting(walled):
    """Returns whether all data that lives longer than any test is visible."""
    return all(names >= {"long", "ever"} for names in walled.names())


def test_a_small_step_forward_is_followed(walled):
    assert walled.shows(LIVES)
    walled.move(30 * SECOND)
    assert walled.reaches(30 * SECOND)
    assert walled.shows({"long", "ever"})
    assert not walled.clock()["unconfirmed"]
    # At most a minute in ten is followed: the next step waits.
    walled.move(80 * SECOND)
    assert walled.waits()
    assert abs(walled.off() - 30 * SECOND) < ROUGHLY


def test_a_large_step_that_is_taken_back_leaves_no_trace(walled):
    walled.move(HOUR)
    assert walled.waits()
    # Accepted too late: the step was reverted, and the next one waits for acceptance again.
    walled.move(0)
    assert walled.comes(lambda: not walled.clock()["unconfirmed"]), "it still waits"
    walled.accept()
    assert abs(walled.off()) < ROUGHLY
    assert lasting(walled)
    walled.move(YEAR)
    assert walled.waits()
    time.sleep(1.5)
    assert walled.clock()["unconfirmed"] and abs(walled.off()) < ROUGHLY
    assert lasting(walled)


def step_back(home, step):
    """Steps back, restarts and reboots: expired data stays expired, the rest expires on time."""
    with Walled(home) as walled:
        walled.fill(LIVES)
        stepped_back(walled, step)
        walled.server.end()


def stepped_back(walled, step):
    walled.written_ts()
    assert walled.items.create({"id": "brief", "pk": "a", "ttl": 1}).status == 201
    assert walled.comes(lambda: walled.items.read("brief", "a").status == 404)
    before = walled.now()
    walled.move(step)
    until = time.monotonic() + 2
    while time.monotonic() < until:
        walled.now()
        walled.written_ts()
        time.sleep(0.02)
    assert before + SECOND <= walled.now(), "time stands still"
    for restart in (None, lambda: None, lambda: reboot(walled.server.data_dir)):
        if restart is not None:
            walled.server.kill()
            restart()
            walled.server.start()
        walled.now()
        walled.written_ts()
        assert abs(walled.off()) < ROUGHLY
        assert walled.items.read("brief", "a").status == 404
        assert lasting(walled)
        began = time.monotonic()
        assert walled.items.create({"id": "next", "pk": "a", "ttl": 2}).status == 201
        assert walled.comes(lambda: walled.items.read("next", "a").status == 404)
        took = time.monotonic() - began
        assert 0.9 < took < 10, f"a life of 2 seconds took {took:.2f} s"


@pytest.fixture(scope="module")
def results(request, tmp_path_factory):
    run = lambda step: step_back(tmp_path_factory.mktemp("back"), step)  # noqa: E731
    with prefetched(request, run, "step") as result:
        yield result


@pytest.mark.parametrize("step", [-30 * SECOND, -HOUR, -YEAR])
def test_time_does_not_go_back(results, step):
    results(step)


def test_a_step_while_the_server_is_away_waits_too(walled):
    walled.server.leave()
    walled.move(HOUR)
    walled.server.start()
    assert walled.waits()
    assert abs(walled.off()) < ROUGHLY
    assert lasting(walled)
    walled.server.kill()
    walled.server.start()
    assert walled.waits()
    walled.accept()
    assert walled.reaches(HOUR, FOLLOWED)
    assert walled.shows({"ever"})
    # Data that a step made expire stays expired when the clock is corrected.
    walled.move(0)
    walled.server.restart()
    assert abs(walled.off() - HOUR) < ROUGHLY
    assert walled.shows({"ever"})
