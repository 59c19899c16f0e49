"""Stored procedures, triggers and functions as resources."""

import pytest
from conftest import ids, refused

KINDS = {
    "stored_procedure": ({"id": "s", "body": "function () {}"}, "list_stored_procedures"),
    "trigger": (
        {"id": "s", "body": "function () {}", "triggerType": "Pre", "triggerOperation": "All"},
        "list_triggers",
    ),
    "user_defined_function": (
        {"id": "s", "body": "function () { return 1 }"},
        "list_user_defined_functions",
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kept_listed_replaced_deleted(container, kind):
    body, listing = KINDS[kind]
    scripts = container.scripts

    def call(verb, *args):
        return getattr(scripts, f"{verb}_{kind}")(*args)

    made = call("create", body)
    assert {name: made[name] for name in body} == body
    assert ids(getattr(scripts, listing)()) == ["s"]
    with refused(409):
        call("create", body)
    call("replace", "s", {**body, "body": "function () { return 2 }"})
    assert call("get", "s")["body"] == "function () { return 2 }"
    call("delete", "s")
    with refused(404):
        call("get", "s")
    assert list(getattr(scripts, listing)()) == []
