"""Tests that the checks of the crash tests detect the errors that they are meant to detect."""

import pytest
from lib.registers import FOREVER, UNKNOWN, Operation, is_linearizable

from crash.counters import Counter
from crash.ttl_oracle import OPEN, UNANSWERED, Oracle


def op(kind, begin, end, answer, value=None, old=None):
    return Operation(kind, begin, end, answer, value, old)


INSERT = op("insert", 0, 1, True, "a")
LOST = op("insert", 0, FOREVER, UNKNOWN, "a")

LEGAL = {
    "nothing": [],
    "a read of what was inserted": [INSERT, op("read", 2, 3, "a")],
    "a read beside an insertion": [op("insert", 0, 3, True, "a"), op("read", 1, 2, None)],
    "one of two swaps": [
        INSERT,
        op("swap", 2, 5, True, "b", "a"),
        op("swap", 2, 5, False, "c", "a"),
        op("read", 6, 7, "b"),
    ],
    "an unanswered insertion that was done": [LOST, op("read", 5, 6, "a")],
    "an unanswered insertion that was not": [LOST, op("read", 5, 6, None)],
    "an unanswered insertion that was done before its server ended": [
        op("insert", 0, 2, UNKNOWN, "a"),
        op("read", 3, 4, "a"),
    ],
    "an unanswered insertion that was done late": [
        LOST,
        op("read", 5, 6, None),
        op("read", 7, 8, "a"),
    ],
}
ILLEGAL = {
    "a lost insertion": [INSERT, op("read", 2, 3, None)],
    "a stale read": [INSERT, op("swap", 2, 3, True, "b", "a"), op("read", 4, 5, "a")],
    "two winners": [
        INSERT,
        op("swap", 2, 5, True, "b", "a"),
        op("swap", 2, 5, True, "c", "a"),
    ],
    "a resurrection": [INSERT, op("delete", 2, 3, True), op("read", 4, 5, "a")],
    "an unanswered insertion done and undone": [
        LOST,
        op("read", 5, 6, "a"),
        op("read", 7, 8, None),
    ],
    "an unanswered insertion that came after the end of its server": [
        op("insert", 0, 2, UNKNOWN, "a"),
        op("read", 3, 4, None),
        op("read", 5, 6, "a"),
    ],
    "a lost update": [
        INSERT,
        op("swap", 2, 3, True, "b", "a"),
        op("swap", 4, 5, True, "c", "a"),
    ],
    "an insertion done twice": [LOST, op("delete", 2, 3, True), op("delete", 4, 5, True)],
}


@pytest.mark.parametrize("name", LEGAL)
def test_of_checks_registers_legal(name):
    assert is_linearizable(LEGAL[name])


@pytest.mark.parametrize("name", ILLEGAL)
def test_of_checks_registers_illegal(name):
    assert not is_linearizable(ILLEGAL[name])


@pytest.mark.parametrize(
    ("answers", "sent", "found", "told"),
    [
        ([11, 12, 13], 3, 13, None),
        ([11, 12, 13], 4, 14, None),
        ([11, 12], 4, 13, None),
        ([], 2, 10, None),
        ([11, 12, 13], 3, 12, "lost"),
        ([11, 12, 13], 3, 10, "lost"),
        ([], 0, 9, "lost"),
        ([11, 13], 3, 14, "were sent"),
        ([11, 11], 3, 13, "same answer"),
        ([10], 1, 11, "once more"),
    ],
)
def test_of_checks_counters(answers, sent, found, told):
    """The previous value is 10."""
    counter = Counter("c", 10)
    counter.answers, counter.sent = list(answers), sent
    wrong = counter.settle(found)
    assert (told is None) == (wrong == []), wrong
    assert told is None or any(told in text for text in wrong), wrong
    assert (counter.value, counter.sent, counter.answers) == (found, 0, [])


def judged(now, rows, known):
    """Returns the oracle's errors for one reply; single numbers are exact deadlines."""
    oracle = Oracle("c")
    for id, deadline in known.items():
        oracle.learn(id, exact(deadline))
    oracle.end(oracle.begin(), now, {id: exact(deadline) for id, deadline in rows.items()})
    return oracle.wrong


def exact(deadline):
    return (deadline, deadline) if isinstance(deadline, int) else deadline


@pytest.mark.parametrize(
    ("now", "rows", "known", "told"),
    [
        (999, {"a": 1000}, {"a": 1000}, None),
        (1000, {}, {"a": 1000}, None),
        (1000, {"a": 1000}, {"a": 1000}, "expired at"),
        (1000, {"a": 1000}, {}, "expired at"),
        (999, {}, {"a": 1000}, "missing"),
        (999, {"a": 2000}, {"a": 1000}, "was told"),
        (1999, {"a": (1000, 2000)}, {"a": (1000, 2000)}, None),
        (1999, {}, {"a": (1000, 2000)}, None),
        (999, {}, {"a": (1000, 2000)}, "missing"),
        (2000, {"a": (1000, 3000)}, {"a": (1000, 2000)}, "came back"),
        (5, {"a": 1000}, {"a": None}, "removed"),
        (5, {"a": 1000}, {"a": OPEN}, None),
        (5, {}, {"a": OPEN}, None),
        (5, {}, {"a": UNANSWERED}, None),
    ],
)
def test_of_checks_expiry(now, rows, known, told):
    wrong = judged(now, rows, known)
    assert (told is None) == (wrong == []), wrong
    assert told is None or told in wrong[0]


def test_of_checks_expiry_of_a_read_without_its_instant():
    """Expiry in the read was decided at an instant between two known times."""
    for rows in ({}, {"a": exact(1000)}):
        oracle = Oracle("c")
        oracle.learn("a", exact(1000))
        oracle.end(oracle.begin(), 998, rows, 1001)
        assert oracle.wrong == []
        oracle.end(oracle.begin(), 998, rows, 999)
        assert (oracle.wrong == []) == bool(rows)


def test_of_checks_expiry_beside_a_write():
    """A document written during a read may be in its reply or not; one whose write had no reply is
    known once it was seen; and time does not go back."""
    oracle = Oracle("c")
    begun = oracle.begin()
    oracle.intend("a")
    oracle.learn("a", exact(1000))
    oracle.end(begun, 10, {})
    assert oracle.wrong == []
    oracle.intend("a")
    oracle.died(60_000)
    oracle.end(oracle.begin(), 20, {"a": exact(2000)})
    oracle.end(oracle.begin(), 30, {})
    assert "a is missing" in oracle.wrong[0]
    oracle.end(oracle.begin(), 29, {"a": exact(2000)})
    assert "went back" in oracle.wrong[1]
