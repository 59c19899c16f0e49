"""Transactional batches: all or nothing."""

import copy

import pytest
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError
from conftest import bare, ids


def failed(container, operations, index, status):
    """Runs a batch that fails at that operation; the others get 424."""
    with pytest.raises(CosmosBatchOperationError) as caught:
        container.execute_item_batch(operations, partition_key="a")
    error = caught.value
    assert (error.error_index, error.status_code) == (index, status), str(error)
    codes = [answer["statusCode"] for answer in error.operation_responses]
    assert codes == [status if n == index else 424 for n in range(len(operations))]


def test_every_operation(container):
    for name in ("read", "replaced", "patched", "deleted"):
        container.create_item({"id": name, "pk": "a", "n": 1})
    answers = container.execute_item_batch(
        [
            ("create", ({"id": "created", "pk": "a"},)),
            ("upsert", ({"id": "upserted", "pk": "a"},)),
            ("read", ("read",)),
            ("replace", ("replaced", {"id": "replaced", "pk": "a", "n": 2})),
            (
                "patch",
                ("patched", [{"op": "incr", "path": "/n", "value": 5}]),
                {"filter_predicate": "from c where c.n = 1"},
            ),
            ("delete", ("deleted",)),
        ],
        partition_key="a",
    )
    assert [answer["statusCode"] for answer in answers] == [201, 201, 200, 200, 200, 204]
    assert all(float(answer["requestCharge"]) > 0 for answer in answers)
    assert bare(answers[2]["resourceBody"]) == {"id": "read", "pk": "a", "n": 1}
    assert answers[3]["eTag"] == container.read_item("replaced", "a")["_etag"]
    assert container.read_item("patched", "a")["n"] == 6
    assert ids(container.read_all_items()) == ["created", "patched", "read", "replaced", "upserted"]


def test_later_operations_see_earlier_ones(container):
    answers = container.execute_item_batch(
        [
            ("create", ({"id": "1", "pk": "a", "n": 1},)),
            ("patch", ("1", [{"op": "incr", "path": "/n", "value": 1}])),
            ("read", ("1",)),
        ],
        partition_key="a",
    )
    assert answers[2]["resourceBody"]["n"] == 2


FAILURES = {
    "a conflict": (("create", ({"id": "old", "pk": "a"},)), 409),
    "a missing item": (("read", ("none",)), 404),
    "nothing to replace": (("replace", ("none", {"id": "none", "pk": "a"})), 404),
    "nothing to delete": (("delete", ("none",)), 404),
    "an old etag": (
        (
            "replace",
            ("old", {"id": "old", "pk": "a"}),
            {"if_match_etag": '"00000000-0000-0000-0000-000000000000"'},
        ),
        412,
    ),
    "a condition": (
        (
            "patch",
            ("old", [{"op": "set", "path": "/n", "value": 1}]),
            {"filter_predicate": "from c where c.n = 9"},
        ),
        412,
    ),
    "a bad ttl": (("create", ({"id": "2", "pk": "a", "ttl": 0},)), 400),
}


@pytest.mark.parametrize("case", FAILURES)
def test_one_failure_undoes_all(make, case):
    container = make(default_ttl=-1)
    before = container.create_item({"id": "old", "pk": "a", "n": 0})
    operation, status = copy.deepcopy(FAILURES[case])  # The SDK takes such options apart.

    def create(name):
        return ("create", ({"id": name, "pk": "a"},))

    failed(container, [create("first"), operation, create("last")], 1, status)
    assert list(container.read_all_items()) == [before]


def test_a_failing_first_operation(container):
    failed(container, [("read", ("none",)), ("create", ({"id": "1", "pk": "a"},))], 0, 404)
    assert list(container.read_all_items()) == []


def test_an_item_of_another_partition_is_refused(container):
    with pytest.raises((CosmosBatchOperationError, CosmosHttpResponseError)) as caught:
        container.execute_item_batch(
            [
                ("create", ({"id": "1", "pk": "a"},)),
                ("create", ({"id": "2", "pk": "b"},)),
            ],
            partition_key="a",
        )
    assert caught.value.status_code == 400
    assert list(container.read_all_items()) == []


def test_a_hundred_operations_and_no_more(container):
    create = [("create", ({"id": str(n), "pk": "a"},)) for n in range(101)]
    with pytest.raises((CosmosBatchOperationError, CosmosHttpResponseError)) as caught:
        container.execute_item_batch(create, partition_key="a")
    assert caught.value.status_code == 400
    assert list(container.read_all_items()) == []
    assert len(container.execute_item_batch(create[:100], partition_key="a")) == 100
    assert len(list(container.read_all_items())) == 100


def test_a_dead_item_is_not_there(make, clock):
    container = make(default_ttl=10)
    container.create_item({"id": "1", "pk": "a", "old": True})
    clock.advance(10)
    failed(container, [("create", ({"id": "2", "pk": "a"},)), ("read", ("1",))], 1, 404)
    failed(container, [("replace", ("1", {"id": "1", "pk": "a"}))], 0, 404)
    failed(container, [("delete", ("1",))], 0, 404)
    answers = container.execute_item_batch(
        [("create", ({"id": "1", "pk": "a"},))], partition_key="a"
    )
    assert answers[0]["statusCode"] == 201
    assert ids(container.read_all_items()) == ["1"]


def test_in_a_hierarchical_partition(make):
    container = make(["/tenant", "/user"])
    item = {"id": "1", "tenant": "t", "user": 5}
    container.execute_item_batch([("create", (item,)), ("read", ("1",))], partition_key=["t", 5])
    assert bare(container.read_item("1", ["t", 5])) == item
