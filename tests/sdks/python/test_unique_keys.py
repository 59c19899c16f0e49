"""Unique keys: per logical partition, and missing values."""

import pytest
from conftest import TEXTS, refused


def unique(*paths):
    return {"uniqueKeys": [{"paths": list(paths)}]}


@pytest.fixture
def people(make):
    container = make(unique_key_policy=unique("/mail"))
    container.create_item({"id": "1", "pk": "a", "mail": "x@example.org"})
    return container


def test_the_policy_comes_back(people):
    assert people.read()["uniqueKeyPolicy"]["uniqueKeys"] == [{"paths": ["/mail"]}]


def test_the_same_value_is_409(people):
    again = {"id": "2", "pk": "a", "mail": "x@example.org"}
    with refused(409, text=TEXTS["uniqueViolation"]):
        people.create_item(again)
    with refused(409, text=TEXTS["uniqueViolation"]):
        people.upsert_item(again)
    people.create_item({"id": "2", "pk": "a", "mail": "y@example.org"})
    with refused(409, text=TEXTS["uniqueViolation"]):
        people.replace_item("2", again)
    with refused(409, text=TEXTS["uniqueViolation"]):
        people.patch_item("2", "a", [{"op": "set", "path": "/mail", "value": "x@example.org"}])
    assert people.read_item("2", "a")["mail"] == "y@example.org"


def test_another_partition_is_another_scope(people):
    people.create_item({"id": "2", "pk": "b", "mail": "x@example.org"})


def test_an_item_does_not_collide_with_itself(people):
    people.replace_item("1", {"id": "1", "pk": "a", "mail": "x@example.org", "n": 1})
    people.upsert_item({"id": "1", "pk": "a", "mail": "x@example.org", "n": 2})


def test_delete_and_change_give_the_value_free(people):
    people.upsert_item({"id": "1", "pk": "a", "mail": "new@example.org"})
    people.create_item({"id": "2", "pk": "a", "mail": "x@example.org"})
    people.delete_item("2", "a")
    people.create_item({"id": "3", "pk": "a", "mail": "x@example.org"})


def test_only_one_item_may_lack_the_value(people):
    people.create_item({"id": "2", "pk": "a"})
    with refused(409, text=TEXTS["uniqueViolation"]):
        people.create_item({"id": "3", "pk": "a"})
    with refused(409, text=TEXTS["uniqueViolation"]):
        people.create_item({"id": "3", "pk": "a", "mail": None})


def test_several_paths_together(make):
    container = make(unique_key_policy=unique("/first", "/name/last"))
    container.create_item({"id": "1", "pk": "a", "first": "A", "name": {"last": "B"}})
    container.create_item({"id": "2", "pk": "a", "first": "A", "name": {"last": "C"}})
    with refused(409, text=TEXTS["uniqueViolation"]):
        container.create_item({"id": "3", "pk": "a", "first": "A", "name": {"last": "B"}})


def test_too_many_constraints_are_refused(make):
    make(unique_key_policy={"uniqueKeys": [{"paths": [f"/p{n}"]} for n in range(10)]})
    with refused(400):
        make(unique_key_policy={"uniqueKeys": [{"paths": [f"/p{n}"]} for n in range(11)]})
