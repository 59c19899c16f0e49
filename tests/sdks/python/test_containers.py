"""Containers: created, read, listed, queried, replaced and deleted, with their policies."""

import json

import pytest
from azure.cosmos import PartitionKey
from conftest import EXPECTED, TEXTS, ids, numbers, refused

DEFAULT_POLICY = {
    "indexingMode": "consistent",
    "automatic": True,
    "includedPaths": [{"path": "/*"}],
    "excludedPaths": [{"path": '/"_etag"/?'}],
}


def replace(db, container, **options):
    db.replace_container(container.id, PartitionKey("/pk"), **options)
    return container.read()


def test_create_and_read(make):
    container = make()
    found = container.read()
    assert found["id"] == container.id
    assert found["partitionKey"] == {"paths": ["/pk"], "kind": "Hash", "version": 2}
    assert "defaultTtl" not in found
    assert {
        "_rid",
        "_self",
        "_etag",
        "_ts",
        "_docs",
        "_sprocs",
        "_triggers",
        "_udfs",
        "_conflicts",
    } <= found.keys()
    policy = found["indexingPolicy"]
    assert {name: policy[name] for name in DEFAULT_POLICY} == DEFAULT_POLICY


def test_list_and_query(db, make):
    first, second = make(), make()
    assert {first.id, second.id} <= set(ids(db.list_containers()))
    named = [{"name": "@id", "value": second.id}]
    assert ids(db.query_containers("SELECT * FROM c WHERE c.id = @id", parameters=named)) == [
        second.id
    ]


def test_twice_is_a_conflict(db, container):
    with refused(409):
        db.create_container(container.id, PartitionKey("/pk"))


def test_create_if_not_exists(db):
    name = f"c{next(numbers)}"
    first = db.create_container_if_not_exists(name, PartitionKey("/pk"), default_ttl=5).read()
    again = db.create_container_if_not_exists(name, PartitionKey("/pk")).read()
    assert first == again
    assert again["defaultTtl"] == 5


def test_delete(db, container):
    container.create_item({"id": "1", "pk": "a"})
    db.delete_container(container.id)
    assert container.id not in ids(db.list_containers())
    with refused(404, text="Resource Not Found"):
        container.read()
    with refused(404):
        db.delete_container(container.id)


def test_a_container_made_again_is_empty(db, container, query, connect):
    container.create_item({"id": "1", "pk": "a"})
    before = container.read()["_rid"]
    db.delete_container(container.id)
    db.create_container(container.id, PartitionKey("/pk"))
    # A client that knew the old container finds the new one without a restart.
    assert list(query(container, "SELECT * FROM c")) == []
    container.create_item({"id": "1", "pk": "a"})
    assert container.read()["_rid"] != before


def test_missing_parents_are_404(client, db):
    with refused(404, 1003, "Resource Not Found"):
        client.get_database_client("no such database").create_container("c", PartitionKey("/pk"))
    with refused(404, text="Resource Not Found"):
        db.get_container_client("no such container").read()
    with refused(404):
        db.get_container_client("no such container").create_item({"id": "1", "pk": "a"})


def test_ttl_is_turned_on_changed_and_off(db, make):
    container = make(default_ttl=10)
    assert container.read()["defaultTtl"] == 10
    assert replace(db, container, default_ttl=20)["defaultTtl"] == 20
    assert replace(db, container, default_ttl=-1)["defaultTtl"] == -1
    assert "defaultTtl" not in replace(db, container)
    assert replace(db, container, default_ttl=5)["defaultTtl"] == 5


def test_a_replace_keeps_rid_and_moves_the_etag(db, container):
    before = container.read()
    after = replace(db, container, default_ttl=7)
    assert after["_rid"] == before["_rid"]
    assert after["_etag"] != before["_etag"]


@pytest.mark.parametrize("value", EXPECTED["acceptedDefaultTtl"])
def test_accepted_defaults(db, make, value):
    container = make(default_ttl=value)
    assert container.read()["defaultTtl"] == value
    assert replace(db, container, default_ttl=value)["defaultTtl"] == value


def test_a_whole_default_with_a_point_is_whole(make):
    assert make(default_ttl=5.0).read()["defaultTtl"] == 5


@pytest.mark.parametrize("value", EXPECTED["refusedDefaultTtl"], ids=json.dumps)
def test_refused_defaults(db, make, value):
    name = f"c{next(numbers)}"
    with refused(400, text="defaultTtl"):
        db.create_container(name, PartitionKey("/pk"), default_ttl=value)
    assert name not in ids(db.list_containers())
    container = make(default_ttl=30)
    with refused(400, text="defaultTtl"):
        replace(db, container, default_ttl=value)
    assert container.read()["defaultTtl"] == 30


NONE = {"indexingMode": "none", "automatic": False}


def test_indexing_none_and_a_default_exclude_each_other(db, make):
    text = TEXTS["indexingNoneWithTtl"]
    for ttl in (-1, 10):
        with refused(400, text=text):
            make(default_ttl=ttl, indexing_policy=NONE)
    with_ttl = make(default_ttl=10)
    with refused(400, text=text):
        replace(db, with_ttl, default_ttl=10, indexing_policy=NONE)
    assert with_ttl.read()["indexingPolicy"]["indexingMode"] == "consistent"
    without = make(indexing_policy=NONE)
    assert without.read()["indexingPolicy"]["indexingMode"] == "none"
    with refused(400, text=text):
        replace(db, without, default_ttl=10, indexing_policy=NONE)
    assert "defaultTtl" not in without.read()
    assert replace(db, without, default_ttl=10, indexing_policy=DEFAULT_POLICY)["defaultTtl"] == 10


@pytest.mark.filterwarnings("ignore:Lazy")
def test_lazy_indexing_goes_with_a_default(make):
    container = make(default_ttl=10, indexing_policy={"indexingMode": "lazy", "automatic": True})
    assert container.read()["defaultTtl"] == 10


def test_an_indexing_policy_comes_back(db, container, query):
    policy = {
        "indexingMode": "consistent",
        "automatic": True,
        "includedPaths": [{"path": "/name/?"}, {"path": "/tags/[]/?"}],
        "excludedPaths": [{"path": "/*"}, {"path": '/"_etag"/?'}],
        "compositeIndexes": [
            [{"path": "/name", "order": "ascending"}, {"path": "/age", "order": "descending"}]
        ],
    }
    container.create_item({"id": "1", "pk": "a", "name": "x", "age": 3})
    found = replace(db, container, indexing_policy=policy)["indexingPolicy"]
    assert found["includedPaths"] == policy["includedPaths"]
    assert {"path": "/*"} in found["excludedPaths"]
    assert found["compositeIndexes"] == policy["compositeIndexes"]
    assert ids(query(container, "SELECT * FROM c WHERE c.name = 'x'")) == ["1"]
    assert ids(query(container, "SELECT * FROM c WHERE c.age = 3")) == ["1"], (
        "a path without an index"
    )


def test_the_partition_key_cannot_be_changed(db, container):
    with refused(400):
        db.replace_container(container.id, PartitionKey("/other"))
    assert container.read()["partitionKey"]["paths"] == ["/pk"]


def test_a_partition_key_of_version_1(make):
    container = make()
    assert container.read()["partitionKey"]["version"] == 2


def test_replacing_what_is_not_there_is_404(db):
    with refused(404):
        db.replace_container("no such container", PartitionKey("/pk"))


def test_a_policy_for_conflicts_comes_back(make):
    policy = {"mode": "LastWriterWins", "conflictResolutionPath": "/_ts"}
    container = make(conflict_resolution_policy=policy)
    found = container.read()["conflictResolutionPolicy"]
    assert {name: found[name] for name in policy} == policy
    assert list(container.list_conflicts()) == []
