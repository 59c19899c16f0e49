"""Tests of the ledger: it must detect a loss, a ghost and a partial write."""

import pytest

from crash.ledger import ABSENT, Ledger, Life, State


class Times:
    """A clock for ledgers that stands at 100 s."""

    def low(self):
        return 100.0

    high = low


KEY = ("plain", "a")
BODY = {"_id": "a", "n": 1}
NEXT = {"_id": "a", "n": 2}


HELD = State(BODY)


def ledger(pending=None, state=HELD):
    made = Ledger(Times())
    made.acked[KEY] = state
    if pending:
        made.intend({KEY: lambda begin, end: pending})
    return made


@pytest.mark.parametrize(
    ("made", "found", "fine"),
    [
        (ledger(), BODY, True),
        (ledger(), None, False),
        (ledger(), NEXT, False),
        (ledger(State(NEXT)), BODY, True),
        (ledger(State(NEXT)), NEXT, True),
        (ledger(State(NEXT)), None, False),
        (ledger(State(NEXT)), {"_id": "a", "n": 1, "half": True}, False),
        (ledger(ABSENT), None, True),
        (ledger(ABSENT), BODY, True),
        (ledger(state=ABSENT), BODY, False),
        (ledger(state=State(BODY, 90, 91)), BODY, False),
        (ledger(state=State(BODY, 90, 91)), None, True),
        (ledger(state=State(BODY, 109, 110)), BODY, True),
        (ledger(state=State(BODY, 109, 110)), None, False),
        (ledger(state=State(BODY, 99, 110)), BODY, True),
        (ledger(state=State(BODY, 99, 110)), None, True),
    ],
)
def test_what_a_ledger_notices(made, found, fine):
    wrong = made.settle({KEY: found} if found else {}, begin=100.0, end=101.0, crashed=99.0)
    assert (wrong == []) == fine, wrong


@pytest.mark.parametrize(
    ("there", "fine"),
    [((), True), ((0,), True), ((0, 1), True), ((0, 1, 2), True), ((1,), False), ((0, 2), False)],
)
def test_a_batch_is_there_up_to_a_point(there, fine):
    made = Ledger(Times())
    keys = [("plain", str(number)) for number in range(3)]
    bodies = {key: {"_id": key[1]} for key in keys}
    made.intend({key: (lambda k: lambda *_: State(bodies[k]))(key) for key in keys}, keys)
    found = {keys[number]: bodies[keys[number]] for number in there}
    wrong = made.settle(found, begin=100.0, end=101.0, crashed=99.0)
    assert (wrong == []) == fine, wrong


@pytest.mark.parametrize(
    ("there", "fine"), [((), True), ((0, 1, 2), True), ((0,), False), ((1, 2), False)]
)
def test_an_atomic_batch_is_there_or_not(there, fine):
    made = Ledger(Times())
    keys = [("plain", str(number)) for number in range(3)]
    bodies = {key: {"id": key[1]} for key in keys}
    changes = {key: (lambda k: lambda *_: State(bodies[k]))(key) for key in keys}
    made.intend(changes, atomic=True)
    found = {keys[number]: bodies[keys[number]] for number in there}
    wrong = made.settle(found, begin=100.0, end=101.0, crashed=99.0)
    assert (wrong == []) == fine, wrong


def test_lives_are_whole_seconds_or_dates():
    assert Life(2).state({}, 10.9, 11.1) == State({}, 12, 13)
    assert Life(until=12.5).state({}, 10.9, 11.1) == State({}, 12.5, 12.5)
    assert Life(2, perhaps=True).state({}, 10.9, 11.1) == State({}, 12, float("inf"))
    assert Life().state({}, 10.9, 11.1) == State({})


def test_what_was_found_dead_stays_dead():
    made = ledger(state=State(BODY, 99, float("inf")))
    assert made.settle({}, begin=100.0, end=101.0, crashed=99.0) == []
    assert made.settle({KEY: BODY}, begin=100.0, end=101.0, crashed=99.0) != []
