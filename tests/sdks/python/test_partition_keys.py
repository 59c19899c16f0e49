"""Partition keys of every kind: one value, none, nested, hierarchical, and mismatches."""

import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError
from azure.cosmos.partition_key import NonePartitionKeyValue, NullPartitionKeyValue
from conftest import TEXTS, bare, ids, in_partition, numbers, refused

VALUES = {
    "text": "a",
    "empty": "",
    "unicode": "é漢\U0001f600",
    "long": "x" * 1000,
    "one": 1,
    "zero": 0,
    "negative": -5,
    "fraction": 1.5,
    "large": 1e20,
    "true": True,
    "false": False,
}


@pytest.mark.parametrize("name", VALUES)
def test_one_value(container, query, name):
    value = VALUES[name]
    container.create_item({"id": "1", "pk": value})
    container.create_item({"id": "2", "pk": "other"})
    assert container.read_item("1", value)["pk"] == value
    assert ids(query(container, "SELECT * FROM c", partition_key=value)) == ["1"]
    assert ids(query(container, "SELECT * FROM c WHERE c.pk = @pk", {"@pk": value})) == ["1"]
    with refused(404, text=TEXTS["itemNotFound"]):
        container.read_item("1", "other")
    container.replace_item("1", {"id": "1", "pk": value, "n": 1})
    container.delete_item("1", value)


def test_null_and_missing_are_two_partitions(container, query):
    container.create_item({"id": "1", "pk": None, "is": "null"})
    container.create_item({"id": "1", "is": "missing"})
    assert container.read_item("1", NullPartitionKeyValue)["is"] == "null"
    assert container.read_item("1", NonePartitionKeyValue)["is"] == "missing"
    assert [
        i["is"] for i in query(container, "SELECT * FROM c", partition_key=NullPartitionKeyValue)
    ] == ["null"]
    assert [
        i["is"] for i in query(container, "SELECT * FROM c", partition_key=NonePartitionKeyValue)
    ] == ["missing"]
    container.delete_item("1", NonePartitionKeyValue)
    assert [i["is"] for i in query(container, "SELECT * FROM c")] == ["null"]


def test_one_and_the_text_one_differ(container):
    for value in (1, "1", True):
        container.create_item({"id": "1", "pk": value})
    for value in (1, "1", True):
        found = container.read_item("1", value)["pk"]
        assert (type(found), found) == (type(value), value)


def test_a_nested_path(make, query):
    container = make("/address/city")
    container.create_item({"id": "1", "address": {"city": "Paris"}})
    container.create_item({"id": "2", "address": {}})
    assert container.read_item("1", "Paris")["id"] == "1"
    assert container.read_item("2", NonePartitionKeyValue)["id"] == "2"
    assert ids(query(container, "SELECT * FROM c", partition_key="Paris")) == ["1"]


def test_a_quoted_path(make):
    container = make('/"odd name"')
    container.create_item({"id": "1", "odd name": "a"})
    assert container.read_item("1", "a")["id"] == "1"


def test_the_id_as_partition_key(make, query):
    container = make("/id")
    container.create_item({"id": "1"})
    assert container.read_item("1", "1")["id"] == "1"
    assert ids(query(container, "SELECT * FROM c", partition_key="1")) == ["1"]


def test_replacing_with_another_partition_key_is_refused(container):
    container.create_item({"id": "1", "pk": "a"})
    with refused(404):
        container.replace_item("1", {"id": "1", "pk": "b"})
    assert container.read_item("1", "a")["pk"] == "a"


def test_a_header_that_does_not_match_is_1001(container):
    with refused(400, 1001, TEXTS["partitionKeyMismatch"]):
        container.create_item({"id": "1", "pk": "b"}, raw_request_hook=in_partition("a"))
    with refused(404):
        container.read_item("1", "b")


def test_a_value_above_2048_bytes_is_refused(container):
    container.create_item({"id": "1", "pk": "x" * 2048})
    with refused(400):
        container.create_item({"id": "1", "pk": "x" * 2049})


@pytest.fixture
def tree(make):
    container = make(["/tenant", "/user", "/session"])
    for tenant in ("t1", "t2"):
        for user in (1, 2):
            for session in ("x", "y"):
                container.create_item(
                    {
                        "id": f"{tenant}-{user}-{session}",
                        "tenant": tenant,
                        "user": user,
                        "session": session,
                    }
                )
    return container


def test_hierarchical_keys(tree):
    assert tree.read()["partitionKey"] == {
        "paths": ["/tenant", "/user", "/session"],
        "kind": "MultiHash",
        "version": 2,
    }
    assert tree.read_item("t1-1-x", ["t1", 1, "x"])["session"] == "x"
    with refused(404):
        tree.read_item("t1-1-x", ["t1", 2, "x"])
    tree.upsert_item({"id": "t1-1-x", "tenant": "t1", "user": 1, "session": "x", "n": 1})
    tree.patch_item("t1-1-x", ["t1", 1, "x"], [{"op": "incr", "path": "/n", "value": 1}])
    assert tree.read_item("t1-1-x", ["t1", 1, "x"])["n"] == 2
    tree.delete_item("t1-1-x", ["t1", 1, "x"])


def test_prefixes_of_hierarchical_keys(tree, query):
    every = "SELECT * FROM c"
    assert ids(query(tree, every, partition_key=["t1"])) == ["t1-1-x", "t1-1-y", "t1-2-x", "t1-2-y"]
    assert ids(query(tree, every, partition_key=["t2", 2])) == ["t2-2-x", "t2-2-y"]
    assert ids(query(tree, every, partition_key=["t2", 2, "y"])) == ["t2-2-y"]
    assert ids(query(tree, every, partition_key=["none"])) == []
    assert len(ids(query(tree, every))) == 8
    counted = list(query(tree, "SELECT VALUE COUNT(1) FROM c", partition_key=["t1"]))
    assert counted == [4]


def test_a_prefix_is_not_enough_for_a_point_operation(tree):
    with pytest.raises((ValueError, CosmosHttpResponseError)) as caught:
        tree.read_item("t1-1-x", ["t1", 1])
    assert isinstance(caught.value, ValueError) or caught.value.status_code == 400


def test_null_and_missing_parts_of_a_hierarchical_key(make, query):
    container = make(["/tenant", "/user"])
    container.create_item({"id": "1", "tenant": "t", "user": None})
    # The SDK sends null for a missing part, which is another partition.
    with refused(400, 1001, TEXTS["partitionKeyMismatch"]):
        container.create_item({"id": "2", "tenant": "t"})
    assert container.read_item("1", ["t", None])["id"] == "1"
    assert ids(query(container, "SELECT * FROM c", partition_key=["t"])) == ["1"]


def test_read_many_with_hierarchical_keys(tree):
    wanted = [("t1-1-x", ["t1", 1, "x"]), ("t2-2-y", ["t2", 2, "y"]), ("t1-1-x", ["t1", 1, "y"])]
    assert ids(tree.read_items(wanted)) == ["t1-1-x", "t2-2-y"]


def test_a_key_of_version_1(db, query):
    container = db.create_container(f"c{next(numbers)}", PartitionKey("/pk", version=1))
    for value in ("a", "x" * 100, 3, True, None):
        container.create_item({"id": "1", "pk": value})
    assert container.read()["partitionKey"]["version"] == 1
    assert container.read_item("1", "x" * 100)["id"] == "1"
    assert len(list(query(container, "SELECT * FROM c"))) == 5


def test_feed_ranges_of_keys_hold_their_items(container, query):
    for value in VALUES.values():
        container.create_item({"id": "1", "pk": value})
    for value in VALUES.values():
        feed_range = container.feed_range_from_partition_key(value)
        found = list(query(container, "SELECT * FROM c", feed_range=feed_range))
        assert [bare(item) for item in found] == [{"id": "1", "pk": value}]
    whole = list(container.read_feed_ranges())
    assert len(whole) == 1
    assert len(list(query(container, "SELECT * FROM c", feed_range=whole[0]))) == len(VALUES)
