"""Databases: created, read, listed, queried and deleted."""

import pytest
from azure.cosmos.exceptions import CosmosHttpResponseError
from conftest import TEXTS, numbers, refused


@pytest.fixture
def name(client, flavor):
    name = f"database {flavor} {next(numbers)}"
    yield name
    if name in [found["id"] for found in client.list_databases()]:
        client.delete_database(name)


def test_create_read_list_query_delete(client, name):
    made = client.create_database(name)
    assert made.id == name
    found = made.read()
    assert found["id"] == name
    assert {"_rid", "_self", "_etag", "_ts", "_colls", "_users"} <= found.keys()
    assert found["_self"] == f"dbs/{found['_rid']}/"
    assert name in [database["id"] for database in client.list_databases()]
    named = [{"name": "@id", "value": name}]
    hits = list(client.query_databases("SELECT * FROM r WHERE r.id = @id", parameters=named))
    assert [(hit["id"], hit["_rid"]) for hit in hits] == [(name, found["_rid"])]

    client.delete_database(name)
    assert name not in [database["id"] for database in client.list_databases()]
    with refused(404, text="Resource Not Found"):
        made.read()


def test_twice_is_a_conflict(client, name):
    client.create_database(name)
    with refused(409, text=TEXTS["conflict"].split(" the ")[0]):
        client.create_database(name)


def test_create_if_not_exists(client, name):
    first = client.create_database_if_not_exists(name).read()
    again = client.create_database_if_not_exists(name).read()
    assert first == again


def test_deleting_what_is_not_there_is_404(client, name):
    with refused(404):
        client.delete_database(name)


def test_a_database_made_again_is_another_one(client, name):
    before = client.create_database(name).read()
    client.delete_database(name)
    after = client.create_database(name).read()
    assert before["_rid"] != after["_rid"]
    assert list(client.get_database_client(name).list_containers()) == []


@pytest.mark.parametrize("bad", ["a/b", "a\\b", "a?b", "a#b", "x" * 256])
def test_bad_names_are_refused(client, bad):
    with pytest.raises((ValueError, CosmosHttpResponseError)) as caught:
        client.create_database(bad)
    # The SDK refuses some of them itself.
    assert isinstance(caught.value, ValueError) or caught.value.status_code == 400


def test_names_outside_ascii(client, flavor):
    name = f"daten-é漢字 {flavor}"
    try:
        assert client.create_database(name).read()["id"] == name
    finally:
        client.delete_database(name)


def test_listing_in_pages(client, flavor):
    names = [f"paged-{flavor}-{n}" for n in range(5)]
    for name in names:
        client.create_database(name)
    try:
        pages = [list(page) for page in client.list_databases(max_item_count=2).by_page()]
        assert all(len(page) <= 2 for page in pages)
        assert set(names) <= {found["id"] for page in pages for found in page}
    finally:
        for name in names:
            client.delete_database(name)
