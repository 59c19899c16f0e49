"""Partial updates: the six operations, conditions, and refusals."""

import pytest
from conftest import TEXTS, bare, refused

START = {"id": "1", "pk": "a", "n": 1, "name": "x", "list": ["a", "b"], "deep": {"a": {"b": 1}}}


@pytest.fixture
def item(container):
    return container.create_item(START)


def patched(container, *operations, **options):
    result = container.patch_item("1", "a", list(operations), **options)
    assert container.read_item("1", "a") == result
    return bare(result)


CASES = {
    "add": ([{"op": "add", "path": "/new", "value": {"x": [1]}}], {"new": {"x": [1]}}),
    "add replaces": ([{"op": "add", "path": "/n", "value": 5}], {"n": 5}),
    "add into a list": (
        [{"op": "add", "path": "/list/1", "value": "c"}],
        {"list": ["a", "c", "b"]},
    ),
    "add at the end": ([{"op": "add", "path": "/list/-", "value": "c"}], {"list": ["a", "b", "c"]}),
    "set": ([{"op": "set", "path": "/n", "value": None}], {"n": None}),
    "set makes": (
        [{"op": "set", "path": "/deep/a/c", "value": 2}],
        {"deep": {"a": {"b": 1, "c": 2}}},
    ),
    "set in a list": ([{"op": "set", "path": "/list/0", "value": "z"}], {"list": ["z", "b"]}),
    "replace": ([{"op": "replace", "path": "/name", "value": "y"}], {"name": "y"}),
    "replace deep": (
        [{"op": "replace", "path": "/deep/a/b", "value": 9}],
        {"deep": {"a": {"b": 9}}},
    ),
    "incr": ([{"op": "incr", "path": "/n", "value": 2}], {"n": 3}),
    "incr by a fraction": ([{"op": "incr", "path": "/n", "value": 0.5}], {"n": 1.5}),
    "incr down": ([{"op": "incr", "path": "/n", "value": -4}], {"n": -3}),
    "incr makes": ([{"op": "incr", "path": "/hits", "value": 1}], {"hits": 1}),
    "several in order": (
        [{"op": "set", "path": "/n", "value": 10}, {"op": "incr", "path": "/n", "value": 1}],
        {"n": 11},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_operations(container, item, case):
    operations, changed = CASES[case]
    assert patched(container, *operations) == {**START, **changed}


def test_remove(container, item):
    assert "name" not in patched(container, {"op": "remove", "path": "/name"})
    assert patched(container, {"op": "remove", "path": "/list/0"})["list"] == ["b"]


def test_move(container, item):
    found = patched(container, {"op": "move", "from": "/deep/a", "path": "/flat"})
    assert (found["deep"], found["flat"]) == ({}, {"b": 1})


def test_it_moves_etag_and_ts(container, item, clock):
    clock.advance(3)
    container.patch_item("1", "a", [{"op": "set", "path": "/n", "value": 2}])
    found = container.read_item("1", "a")
    assert found["_etag"] != item["_etag"]
    assert found["_ts"] == item["_ts"] + 3
    assert found["_rid"] == item["_rid"]


def test_a_condition(container, item):
    with refused(412, text=TEXTS["precondition"]):
        patched(
            container,
            {"op": "set", "path": "/n", "value": 2},
            filter_predicate="from c where c.n = 7",
        )
    assert container.read_item("1", "a") == item
    found = patched(
        container,
        {"op": "set", "path": "/n", "value": 2},
        filter_predicate="from c where c.n = 1 and c.name = 'x'",
    )
    assert found["n"] == 2


BAD = {
    "incr of text": [{"op": "incr", "path": "/name", "value": 1}],
    "replace of nothing": [{"op": "replace", "path": "/none", "value": 1}],
    "remove of nothing": [{"op": "remove", "path": "/none"}],
    "a parent that is not there": [{"op": "set", "path": "/none/a", "value": 1}],
    "a place outside a list": [{"op": "add", "path": "/list/9", "value": 1}],
    "the id": [{"op": "set", "path": "/id", "value": "2"}],
    "the partition key": [{"op": "set", "path": "/pk", "value": "b"}],
    "a system property": [{"op": "set", "path": "/_ts", "value": 1}],
    "an unknown operation": [{"op": "multiply", "path": "/n", "value": 2}],
    "no operation": [],
    "eleven operations": [{"op": "set", "path": f"/p{n}", "value": n} for n in range(11)],
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused_changes_nothing(container, item, case):
    with refused(400):
        container.patch_item("1", "a", BAD[case])
    with refused(400):
        container.patch_item(
            "1",
            "a",
            [{"op": "set", "path": "/first", "value": 1}]
            + (BAD[case] or [{"op": "remove", "path": "/none"}]),
        )
    assert container.read_item("1", "a") == item


def test_ten_operations_are_allowed(container, item):
    operations = [{"op": "set", "path": f"/p{n}", "value": n} for n in range(10)]
    assert patched(container, *operations)["p9"] == 9


def test_escapes_in_a_path(container, item):
    found = patched(
        container,
        {"op": "set", "path": "/a~1b", "value": 1},
        {"op": "set", "path": "/c~0d", "value": 2},
    )
    assert (found["a/b"], found["c~d"]) == (1, 2)
