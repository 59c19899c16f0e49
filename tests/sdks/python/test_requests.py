"""Each operation of the SDK sends one request: replies contain what the next one needs."""

import os
import re
from collections import Counter

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError
from counting import Relay

TIMES = 50


def missing(container, number):
    try:
        container.read_item("none", "a")
    except CosmosHttpResponseError as error:
        assert error.status_code == 404, error
    else:
        pytest.fail("it is there")


def conflict(container, number):
    try:
        container.create_item({"id": "1", "pk": "a"})
    except CosmosHttpResponseError as error:
        assert error.status_code == 409, error
    else:
        pytest.fail("it was made twice")


OPERATIONS = {
    "read": lambda container, number: container.read_item("1", "a"),
    "read of what is missing": missing,
    "create": lambda container, number: container.create_item({"id": f"new{number}", "pk": "a"}),
    "create of what is there": conflict,
    "upsert": lambda container, number: container.upsert_item({"id": "2", "pk": "a", "n": number}),
    "replace": lambda container, number: container.replace_item(
        "1", {"id": "1", "pk": "a", "n": number}
    ),
    "patch": lambda container, number: container.patch_item(
        "1", "a", [{"op": "set", "path": "/n", "value": number}]
    ),
    "batch": lambda container, number: container.execute_item_batch(
        [("upsert", ({"id": "3", "pk": "a", "n": number},))], "a"
    ),
    "delete": lambda container, number: container.delete_item(f"old{number}", "a"),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_a_request(connect, db, container, name):
    container.create_item({"id": "1", "pk": "a"})
    for number in range(TIMES + 2 if name == "delete" else 0):
        container.create_item({"id": f"old{number}", "pk": "a"})
    with Relay(os.environ["EBB_ENDPOINT"]) as relay:
        client = connect(endpoint=relay.endpoint)
        mine = client.get_database_client(db.id).get_container_client(container.id)
        # Requests that a client sends once: for the account and the container's properties.
        for number in range(TIMES, TIMES + 2):
            OPERATIONS[name](mine, number)
        before = len(relay.requests)
        assert before >= 2, "the client goes another way"
        for number in range(TIMES):
            OPERATIONS[name](mine, number)
        # The SDK refreshes the account at intervals, from a background thread.
        asked = [request for request in relay.requests[before:] if request != "GET /"]
    kinds = Counter(re.sub(r"[0-9]+", "0", request) for request in asked)
    assert len(asked) == TIMES, f"{len(asked)} requests: {kinds}"
