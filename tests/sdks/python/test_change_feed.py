"""The change feed: latest versions, and all versions with deletes and expirations."""

from datetime import timedelta

import pytest
from conftest import TEXTS, bare, changes, refused

BEGINNING = {"start_time": "Beginning"}


def names(items):
    return [item["id"] for item in items]


def test_from_the_beginning_in_the_order_of_changes(container):
    for name in ("1", "2", "3"):
        container.create_item({"id": name, "pk": name})
    container.upsert_item({"id": "1", "pk": "1", "n": 2})
    container.delete_item("2", "2")
    items, _ = changes(container, **BEGINNING)
    assert names(items) == ["3", "1"]
    assert bare(items[1]) == {"id": "1", "pk": "1", "n": 2, "_lsn": items[1]["_lsn"]}
    assert items[1]["_etag"] == container.read_item("1", "1")["_etag"]
    assert items[0]["_lsn"] < items[1]["_lsn"]


def test_a_continuation(container):
    container.create_item({"id": "1", "pk": "a"})
    items, token = changes(container, **BEGINNING)
    assert names(items) == ["1"]
    items, token = changes(container, continuation=token)
    assert items == []
    container.create_item({"id": "2", "pk": "b"})
    container.patch_item("1", "a", [{"op": "set", "path": "/n", "value": 1}])
    items, token = changes(container, continuation=token)
    assert names(items) == ["2", "1"]
    assert changes(container, continuation=token)[0] == []


def test_from_now(container):
    container.create_item({"id": "1", "pk": "a"})
    items, token = changes(container, start_time="Now")
    assert items == []
    container.create_item({"id": "2", "pk": "a"})
    assert names(changes(container, continuation=token)[0]) == ["2"]


def test_from_a_time(container, clock):
    container.create_item({"id": "1", "pk": "a"})
    clock.advance(10)
    container.create_item({"id": "2", "pk": "a"})
    start = clock.date() - timedelta(seconds=5)
    assert names(changes(container, start_time=start)[0]) == ["2"]
    assert names(changes(container, start_time=start - timedelta(seconds=60))[0]) == ["1", "2"]


def test_of_one_partition_key(container):
    for n in range(6):
        container.create_item({"id": str(n), "pk": "ab"[n % 2]})
    items, token = changes(container, partition_key="b", **BEGINNING)
    assert names(items) == ["1", "3", "5"]
    container.create_item({"id": "other", "pk": "a"})
    container.create_item({"id": "mine", "pk": "b"})
    assert names(changes(container, continuation=token)[0]) == ["mine"]


def test_of_a_feed_range(container):
    for n in range(6):
        container.create_item({"id": str(n), "pk": "ab"[n % 2]})
    (whole,) = container.read_feed_ranges()
    items, token = changes(container, feed_range=whole, **BEGINNING)
    assert names(items) == [str(n) for n in range(6)]
    container.create_item({"id": "6", "pk": "c"})
    assert names(changes(container, continuation=token)[0]) == ["6"]
    part = container.feed_range_from_partition_key("a")
    assert names(changes(container, feed_range=part, **BEGINNING)[0]) == ["0", "2", "4"]


def test_in_pages(container):
    for n in range(7):
        container.create_item({"id": str(n), "pk": str(n)})
    feed = container.query_items_change_feed(max_item_count=3, **BEGINNING)
    pages = [names(page) for page in feed.by_page()]
    assert [page for page in pages if page] == [["0", "1", "2"], ["3", "4", "5"], ["6"]]


def test_another_client_goes_on(container, connect):
    container.create_item({"id": "1", "pk": "a"})
    _, token = changes(container, **BEGINNING)
    container.create_item({"id": "2", "pk": "a"})
    database_id = container.container_link.split("/")[1]
    other = connect().get_database_client(database_id).get_container_client(container.id)
    assert names(changes(other, continuation=token)[0]) == ["2"]


def test_the_dead_are_never_shown(make, clock):
    container = make(default_ttl=10)
    container.create_item({"id": "dies", "pk": "a"})
    container.create_item({"id": "stays", "pk": "a", "ttl": -1})
    _, token = changes(container, start_time="Now")
    container.create_item({"id": "dies too", "pk": "a"})
    clock.advance(9)
    assert names(changes(container, **BEGINNING)[0]) == ["dies", "stays", "dies too"]
    clock.advance(1)
    assert names(changes(container, **BEGINNING)[0]) == ["stays"]
    assert changes(container, continuation=token)[0] == []
    container.create_item({"id": "dies", "pk": "a", "again": True})
    assert names(changes(container, **BEGINNING)[0]) == ["stays", "dies"]


ALL = {"mode": "AllVersionsAndDeletes", "start_time": "Now"}


@pytest.fixture
def versions(make):
    return make(change_feed_policy={"retentionDuration": 10}, default_ttl=-1)


def kinds(entries):
    return [entry["metadata"]["operationType"] for entry in entries]


def test_all_versions_and_deletes(versions):
    _, token = changes(versions, **ALL)
    versions.create_item({"id": "1", "pk": "a", "n": 1})
    versions.replace_item("1", {"id": "1", "pk": "a", "n": 2})
    versions.patch_item("1", "a", [{"op": "incr", "path": "/n", "value": 1}])
    versions.upsert_item({"id": "2", "pk": "b"})
    versions.delete_item("1", "a")
    entries, token = changes(versions, continuation=token)
    assert kinds(entries) == ["create", "replace", "replace", "create", "delete"]
    assert [entry["current"].get("n") for entry in entries] == [1, 2, 3, None, None]
    lsns = [entry["metadata"]["lsn"] for entry in entries]
    assert lsns == sorted(set(lsns))
    assert all(entry["metadata"]["crts"] > 0 for entry in entries)
    gone = entries[4]
    assert gone["current"] == {}
    assert gone["metadata"]["id"] == "1"
    assert gone["metadata"]["partitionKey"] == {"pk": "a"}
    assert not gone["metadata"].get("timeToLiveExpired", False)
    assert changes(versions, continuation=token)[0] == []


def test_a_death_is_told_once_at_its_instant(versions, clock):
    _, token = changes(versions, **ALL)
    born = versions.create_item({"id": "1", "pk": "a", "ttl": 10})["_ts"]
    versions.create_item({"id": "2", "pk": "a"})
    clock.advance(9)
    entries, token = changes(versions, continuation=token)
    assert kinds(entries) == ["create", "create"]
    clock.advance(1)
    entries, token = changes(versions, continuation=token)
    assert kinds(entries) == ["delete"]
    told = entries[0]
    assert told["current"] == {}
    assert told["metadata"]["timeToLiveExpired"] is True
    assert told["metadata"]["id"] == "1"
    assert told["metadata"]["partitionKey"] == {"pk": "a"}
    assert told["metadata"]["crts"] == born + 10
    clock.advance(1000)
    assert changes(versions, continuation=token)[0] == []


def test_deaths_come_in_the_order_of_their_instants(versions, clock):
    _, token = changes(versions, **ALL)
    for name, ttl in (("late", 30), ("early", 10), ("middle", 20)):
        versions.create_item({"id": name, "pk": name, "ttl": ttl})
    clock.advance(100)
    entries, _ = changes(versions, continuation=token)
    assert kinds(entries) == ["create"] * 3 + ["delete"] * 3
    assert [entry["metadata"]["id"] for entry in entries[3:]] == ["early", "middle", "late"]


def test_a_life_after_death_is_a_create(versions, clock):
    _, token = changes(versions, **ALL)
    versions.upsert_item({"id": "1", "pk": "a", "ttl": 5})
    clock.advance(5)
    versions.upsert_item({"id": "1", "pk": "a", "ttl": 5, "again": True})
    entries, _ = changes(versions, continuation=token)
    assert kinds(entries) == ["create", "delete", "create"]
    assert entries[1]["metadata"]["timeToLiveExpired"] is True


def test_a_policy_may_say_that_no_versions_are_kept(make):
    with refused(400, text=TEXTS["allVersionsOff"]):
        changes(make(change_feed_policy={"retentionDuration": 0}), **ALL)


def test_versions_are_kept_from_the_first_request_on(container):
    _, token = changes(container, **ALL)
    container.upsert_item({"id": "1", "pk": "a"})
    container.delete_item("1", "a")
    entries, _ = changes(container, continuation=token)
    assert kinds(entries) == ["create", "delete"]


def test_all_versions_of_one_partition_key(versions):
    _, token = changes(versions, partition_key="a", **ALL)
    versions.create_item({"id": "1", "pk": "a"})
    versions.create_item({"id": "2", "pk": "b"})
    versions.delete_item("1", "a")
    entries, _ = changes(versions, continuation=token)
    assert kinds(entries) == ["create", "delete"]
