"""Tests of the checks: they must detect ghosts, losses and wrong order."""

import pytest
from crash.check_items import Follower
from lib.nosql import Reply, fits
from lib.texts import NO_ENTITY

from nosql.model import Event, Items, settled
from nosql.paths.table import Cell, Strange, less


def body(id, commit, **more):
    return {"id": id, "write": commit, "commit": commit, **more}


A, B, C = body("a", 1), body("b", 2), body("c", 3)
MADE = [Event("create", "a", A, None, 5), Event("create", "b", B, None, 5)]
DEAD = [Event("expired", "a", None, A, 9), Event("expired", "b", None, B, 9)]
LATE = Event("create", "c", C, None, 12)
AGAIN = Event("create", "a", body("a", 4), None, 12)


@pytest.mark.parametrize(
    ("told", "fine"),
    [
        ([*MADE, *DEAD, LATE, AGAIN], True),
        # Expirations of the same second are unordered, also relative to writes of other items.
        ([*MADE, *DEAD[::-1], LATE, AGAIN], True),
        ([*MADE, DEAD[0], LATE, AGAIN, DEAD[1]], True),
        ([*MADE, LATE, AGAIN, *DEAD], False),
        ([*MADE[::-1], *DEAD, LATE, AGAIN], False),
        ([*MADE, *DEAD, AGAIN, LATE], False),
        ([*MADE, *DEAD, DEAD[0], LATE, AGAIN], False),
        ([*MADE, DEAD[1], LATE, AGAIN], False),
        ([*MADE, *DEAD, LATE], False),
        ([*MADE, DEAD[0], Event("expired", "b", None, B, 10), LATE, AGAIN], False),
        ([*MADE, DEAD[0], Event("expired", "b", None, A, 9), LATE, AGAIN], False),
        ([*MADE, DEAD[0], Event("delete", "b", None, B, 9), LATE, AGAIN], False),
    ],
)
def test_what_a_feed_has_to_keep_to(told, fine):
    assert (settled(told) == settled([*MADE, *DEAD, LATE, AGAIN])) == fine


def test_one_commit_is_in_no_order():
    pair = [Event("create", id, body(id, 7), None, 5) for id in "ab"]
    assert settled(pair) == settled(pair[::-1])


def test_the_model_sweeps_in_the_order_of_death():
    model = Items(0)
    model.set_default(10)
    model.put("a", body("a", 1))
    model.put("b", body("b", 2, ttl=4))
    model.put("c", body("c", 3, ttl=-1))
    model.move(12_000)
    assert [(e.id, e.second) for e in model.events if e.kind == "expired"] == [("b", 4), ("a", 10)]
    model.set_default("off")
    model.put("d", body("d", 4))
    model.move(90_000)
    assert [one["id"] for one in model.latest(0)] == ["c", "d"]
    model.set_default(30)
    assert [(e.id, e.second) for e in model.events[-1:]] == [("d", 102)]
    assert list(model.live) == ["c"]
    assert model.latest(3) == []


@pytest.mark.parametrize(
    ("stamps", "size", "fine"),
    [
        ([], 1, True),
        ([1, 2], 2, True),
        ([1, 2, 3], 2, False),
        ([1, 2, 2], 2, True),
        ([1, 1, 2], 1, False),
        ([1, 2, 3], None, True),
    ],
)
def test_the_size_of_a_page(stamps, size, fine):
    assert fits([{"_lsn": stamp} for stamp in stamps], size) == fine


class Told:
    """A container whose feed returns these events."""

    def __init__(self, *events):
        self.events = [
            {
                "current": current,
                "previous": previous,
                "metadata": {"operationType": kind, "id": "a", "partitionKey": {"pk": "p"}},
            }
            for kind, current, previous in events
        ]

    def changes(self, *_):
        return self.events, "etag"


ONE, TWO = {"id": "a", "pk": "p", "n": 1}, {"id": "a", "pk": "p", "n": 2}


@pytest.mark.parametrize(
    ("events", "faults"),
    [
        (
            [
                ("create", ONE, None),
                ("replace", TWO, ONE),
                ("delete", {}, TWO),
                ("create", ONE, None),
            ],
            0,
        ),
        ([("create", ONE, None), ("create", TWO, None)], 1),
        ([("delete", {}, ONE)], 1),
        ([("create", ONE, None), ("delete", {}, ONE), ("delete", {}, ONE)], 1),
        ([("create", ONE, None), ("delete", {}, TWO)], 1),
        ([("replace", TWO, ONE)], 1),
    ],
)
def test_what_a_follower_notices(events, faults):
    follower = Follower.__new__(Follower)
    follower.live, follower.etag, follower.deaths = {}, "*", 0
    assert len(follower.follow(Told(*events))) == faults


def items():
    kinds = {"c": "c", "m": "m", "t": "m"}
    return [{"id": id, "pk": "a", "kind": kind} for id, kind in kinds.items()]


def test_what_a_cell_notices():
    cell = Cell(None, None, items(), None, {})
    control, *mortals = items()
    assert cell.all([control, *mortals]) is True
    assert cell.all([{**control, "_rid": "x"}]) is False
    for rows in ([control, mortals[0]], mortals, [], [control, control], [{**control, "n": 1}]):
        with pytest.raises(Strange):
            cell.all(rows)
    with pytest.raises(Strange):
        cell.judge(1, 1, 1)
    with pytest.raises(Strange):
        cell.agreed([True, False])
    assert less(items(), [control]) == less(mortals, [])


@pytest.mark.parametrize(
    ("status", "message", "expected"),
    [
        (200, "", True),
        (404, NO_ENTITY, False),
        (404, "Resource Not Found.", Strange),
        (500, "", Strange),
        (409, "", Strange),
    ],
)
def test_what_is_there(status, message, expected):
    text = f'Message: {{"Errors":["{message}"]}}\\r\\nActivityId: x'
    reply = Reply(status, {}, b'{"message":"%s"}' % text.replace('"', '\\"').encode())
    cell = Cell(None, None, items(), None, {})
    if expected is Strange:
        with pytest.raises(Strange):
            cell.there(reply)
    else:
        assert cell.there(reply) is expected
