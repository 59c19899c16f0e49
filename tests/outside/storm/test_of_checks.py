"""Tests of the storm's checks: legal states pass, and each kind of error is detected."""

import pytest

from storm.shared import Change, Insert, Shared
from storm.world import World

A, B, C = (("mongo", "d", name) for name in "abc")


def shared(changes=(), **insert):
    told = Shared()
    told.inserts = {"x": Insert(A, 1.0, **{"end": 2.0, "acked": True, **insert})}
    told.changes = list(changes)
    return told


def drop(name, begin, end=float("inf"), **more):
    return Change(gone=lambda other: other == name, begin=begin, end=end, acked=end < 1e9, **more)


def carry(source, target, begin, end=float("inf"), **more):
    return Change(source=source, target=target, begin=begin, end=end, acked=end < 1e9, **more)


@pytest.mark.parametrize(
    ("found", "changes"),
    [
        (A, []),
        (B, [carry(A, B, 3.0, 4.0)]),
        (A, [drop(A, 1.5, 3.0)]),
        (None, [drop(A, 1.5, 3.0)]),
        (None, [drop(A, 3.0)]),
        (A, [drop(A, 3.0)]),
        (None, [drop(A, 3.0, 4.0)]),
        (A, [drop(B, 3.0, 4.0)]),
        (C, [carry(A, B, 3.0, 4.0), carry(B, C, 5.0)]),
        (B, [carry(A, B, 3.0, 4.0), carry(B, C, 5.0)]),
        (None, [carry(A, B, 3.0, 4.0), drop(B, 5.0, 6.0)]),
        (A, [carry(A, B, 3.0)]),
    ],
    ids=str,
)
def test_what_may_be(found, changes):
    assert shared(changes).settle({found: {"x"}} if found else {}) == []


@pytest.mark.parametrize(
    ("found", "changes", "insert"),
    [
        (None, [], {}),
        (B, [], {}),
        (None, [drop(B, 3.0, 4.0)], {}),
        (A, [drop(A, 3.0, 4.0)], {}),
        (None, [drop(A, 0.1, 0.9)], {}),
        (None, [carry(A, B, 3.0, 4.0)], {}),
        (C, [carry(A, B, 3.0, 4.0), carry(B, C, 0.5, 0.9)], {}),
        (None, [drop(A, 3.0, 4.0, refused=True)], {}),
        (B, [carry(A, B, 3.0, 4.0, refused=True)], {}),
        (A, [], {"acked": False, "refused": True}),
    ],
    ids=str,
)
def test_what_may_not_be(found, changes, insert):
    assert shared(changes, **insert).settle({found: {"x"}} if found else {}) != []


def test_twice_nobodys_and_back_again():
    assert shared().settle({A: {"x"}, B: {"x"}}) != []
    assert shared().settle({A: {"x", "y"}}) != []
    told = shared([drop(A, 1.5, 3.0)])
    assert told.settle({}) == []
    assert told.settle({A: {"x"}}) != [], "what was gone is there again"


def test_what_was_never_answered_may_be_or_not():
    for found in ({}, {A: {"x"}}):
        assert shared(acked=False, end=float("inf")).settle(found) == []


def test_worlds():
    world = World()
    world.held = {("coll", "d", "a"): {"rows": {1: 1}}}
    world.intend("drop", world.without(("coll", "d", "a")))
    assert world.settle({}) == []
    assert world.held == {}
    world.intend("make", world.with_(("coll", "d", "a"), {"rows": {}}))
    assert world.settle({("coll", "d", "b"): {"rows": {}}}) != []
    world.held = {("coll", "d", "a"): {"rows": {1: 1}}}
    assert world.settle({("coll", "d", "a"): {"rows": {}}}) != [], "a lost row"
    world.held = {("coll", "d", name): {} for name in "ab"}
    world.intend("drop both", *world.without_some(world.names("coll")))
    assert len(world.perhaps) == 3
    assert world.perhaps[-1] == {}
    world.refuse()
    assert world.settle({}) != [], "a refused drop was done"
