"""Tests that the checks of this folder detect the errors that they are meant to detect."""

from types import SimpleNamespace

import pytest

from cluster import test_shards
from cluster.prefix import Numbers
from cluster.probe import Probe, backwards
from cluster.questions import PATIENT, Answer, wrong
from cluster.walls import shifted


class Nowhere:
    name = "node1"


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ([1, 2, 3], None),
        ([1, 3, 2], None),
        ([1, 3], None),
        ([1, 1, 3], "twice"),
        ([1], "lost"),
        ([3, 1], "another order"),
        ([1, 3, 4], "never sent"),
    ],
)
def test_of_checks_lists(numbers, told):
    """1 and 3 were acknowledged, 2 had no reply."""
    probe = Probe(Nowhere)
    probe.sent["l"] = [1, 2, 3]
    probe.judge("l", numbers, [1, 3])
    assert (told is None) == (probe.wrong == [])
    assert told is None or told in probe.wrong[0]


def test_of_checks_instants():
    """Only a request that starts after a reply must not get an earlier instant."""
    assert backwards([(0, 1, 10), (2, 3, 10), (2, 5, 11)]) == []
    assert backwards([(0, 5, 11), (1, 4, 10)]) == []
    assert backwards([(0, 1, 11), (2, 3, 10)]) != []


AGAIN = {"ok": 0, "code": 91, "errorLabels": ["RetryableWriteError"]}


@pytest.mark.parametrize(
    ("kind", "outcome", "told", "took", "is_wrong"),
    [
        ("write", "done", {"ok": 1}, 1, False),
        ("write", "closed", None, 1, False),
        ("write", "refused", AGAIN, 1, False),
        ("read", "refused", {"ok": 0, "code": 91}, 1, False),
        ("write", "refused", {"ok": 0, "code": 91}, 1, True),
        ("write", "refused", {"ok": 0, "code": 1}, 1, True),
        ("write", "silent", None, PATIENT, True),
        ("write", "done", {"ok": 1}, PATIENT + 1, True),
    ],
)
def test_of_checks_answers(kind, outcome, told, took, is_wrong):
    found = wrong([Answer("mongo", "node1", kind, "1", outcome, told, took)])
    assert bool(found) == is_wrong


@pytest.mark.parametrize(
    ("found", "least", "from_", "told"),
    [
        ([0, 1, 2], 2, 0, None),
        ([0, 1, 2, 3], 2, 0, None),
        ([2, 3], 2, 2, None),
        ([], 2, 2, None),
        ([0, 2], 2, 0, "missing"),
        ([0, 1, 1], 2, 0, "no prefix"),
        ([1, 0, 2], 2, 0, "no prefix"),
        ([0, 1], 3, 0, "were before"),
        ([0, 1, 2, 3, 4], 2, 0, "were sent"),
    ],
)
def test_of_checks_prefixes(found, least, from_, told):
    """Three are acknowledged, four were sent."""
    numbers = Numbers()
    numbers.sent, numbers.acked = 4, 3
    wrong = numbers.wrong(found, least, from_)
    assert (told is None) == (wrong is None)
    assert told is None or told in wrong


def test_of_checks_prefixes_that_were_seen():
    """Numbers that a read has shown must be in every read that starts later."""
    numbers = Numbers()
    numbers.sent, numbers.acked = 4, 3
    assert numbers.wrong([0, 1, 2, 3], 3) is None
    assert numbers.least() == 4
    assert "were before" in numbers.wrong_count(3, numbers.least())


@pytest.mark.parametrize(
    ("now", "told"), [(11_000, None), (12_900, None), (8_000, "ms in"), (3_611_000, "ms in")]
)
def test_of_checks_steps(now, told):
    """A second passes between two replies; a difference of up to two seconds is not a step."""
    wrong = shifted([(0, 0.1, 10_000), (1, 1.1, now)], 2_000)
    assert (told is None) == (wrong == [])
    assert told is None or told in wrong[0]


def test_of_checks_a_database_without_its_container(monkeypatch):
    """Its creation, whose reply was lost, created only the database: it is empty."""

    class Absent:
        def __init__(self, address):
            pass

        def call(self, method, path):
            return SimpleNamespace(status=404)

        def close(self):
            pass

    monkeypatch.setattr(test_shards, "Client", Absent)
    node = SimpleNamespace(name="node1", items=SimpleNamespace(address="nowhere"))
    worker = test_shards.ItemsOf(None, node, 0)
    worker.databases = {"made": set(), "filled": {1}}
    worker.unknown = {"made": {0}, "filled": set()}
    worker.check("made", test_shards.read_items(node, "made"))
    with pytest.raises(AssertionError, match="filled lost"):
        worker.check("filled", test_shards.read_items(node, "filled"))
