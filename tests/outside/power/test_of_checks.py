"""Tests of the checks: a mover or a loader must detect a loss."""

import pytest
from crash.times import SystemTimes
from pymongo.errors import AutoReconnect, OperationFailure

from power.answers import Refused, Uncertain, told
from power.workers import DocumentMover, Loader

ONE, TWO = {"m0-1": {"a": "t"}}, {"m0-1": {"a": "t", "b": "u"}}
RENAMED = {"m0-2": {"a": "t"}}


@pytest.mark.parametrize(
    ("states", "found", "fine"),
    [
        ([ONE], ONE, True),
        ([ONE], {}, False),
        ([ONE], {"m0-1": {}}, False),
        ([ONE], TWO, False),
        ([ONE], RENAMED, False),
        ([ONE, TWO], TWO, True),
        ([ONE, RENAMED], RENAMED, True),
        ([ONE, RENAMED], {**ONE, **RENAMED}, False),
        ([ONE, RENAMED], {}, False),
    ],
)
def test_what_a_mover_notices(states, found, fine):
    mover = DocumentMover(0, 1, SystemTimes())
    mover.states, mover.find = states, lambda: found
    assert (mover.settle() == []) == fine
    assert mover.states == [found]


class Held:
    """Replaces a server that has these documents in one collection."""

    def __init__(self, rows):
        self.client = {"loads": {"rows": self}}
        self.rows = rows

    def find(self, **_):
        return self.rows


@pytest.mark.parametrize(
    ("pending", "whole", "found", "fine"),
    [
        ({}, False, {1: 0, 2: 0}, True),
        ({}, False, {1: 0}, False),
        ({}, False, {1: 0, 2: 1}, False),
        ({}, False, {1: 0, 2: 0, 3: 0}, False),
        ({2: 1}, False, {1: 0, 2: 1}, True),
        ({2: 1}, False, {1: 0, 2: 0}, True),
        ({2: 1}, False, {1: 0}, False),
        ({3: 0}, False, {1: 0, 2: 0, 3: 0}, True),
        ({1: None, 2: None}, True, {}, True),
        ({1: None, 2: None}, True, {1: 0}, False),
        ({1: None, 2: None}, False, {1: 0}, True),
    ],
)
def test_what_a_loader_notices(pending, whole, found, fine):
    loader = Loader(1, SystemTimes())
    loader.rows, loader.pending, loader.whole = {1: 0, 2: 0}, pending, whole
    rows = [loader.row(id, version) for id, version in found.items()]
    assert (loader.check(Held(rows)) == []) == fine
    assert loader.rows == found


def test_a_loader_notices_other_bytes():
    loader = Loader(1, SystemTimes())
    loader.rows = {1: 0}
    row = loader.row(1, 0)
    row["pad"] = row["pad"][:-1] + bytes([row["pad"][-1] ^ 1])
    assert loader.check(Held([row]))


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ConnectionResetError("reset"), Uncertain),
        (AutoReconnect("closed"), Uncertain),
        (OperationFailure("its outcome is not known: input/output error", 14031), Uncertain),
        (OperationFailure("the disk is full", 14031), Refused),
        (OperationFailure("no such index", 2), OperationFailure),
        (AssertionError("other"), AssertionError),
    ],
)
def test_what_an_error_says(error, kind):
    assert type(told(error)) is kind
