"""Items: created, read, upserted, replaced and deleted."""

import uuid

import pytest
from azure.core import MatchConditions
from azure.cosmos import CosmosDict
from azure.cosmos.exceptions import CosmosHttpResponseError
from conftest import TEXTS, bare, ids, in_partition, refused

VALUES = {
    "id": "values",
    "pk": "a",
    "null": None,
    "true": True,
    "int": 1,
    "negative": -7,
    "big": 9007199254740991,
    "fraction": 0.1,
    "tiny": 1e-300,
    "text": 'é漢\U0001f600"\\\n',
    "empty": "",
    "list": [1, [2, {"a": []}]],
    "object": {"a": {"b": {"c": {}}}},
    "name with space": 1,
    "$odd.name": 2,
    "é": 3,
}


def test_create_and_read(container):
    made = container.create_item({"id": "1", "pk": "a", "n": 1})
    assert bare(made) == {"id": "1", "pk": "a", "n": 1}
    assert {"_rid", "_self", "_etag", "_ts", "_attachments"} <= made.keys()
    assert container.read_item("1", partition_key="a") == made


def test_values_come_back_as_they_were(container):
    container.create_item(VALUES)
    assert bare(container.read_item("values", "a")) == VALUES


def test_the_answer_has_the_headers_of_the_service(container):
    made = container.create_item({"id": "1", "pk": "a"})
    headers = made.get_response_headers()
    assert isinstance(made, CosmosDict)
    assert float(headers["x-ms-request-charge"]) > 0
    assert headers["etag"] == made["_etag"]
    assert headers["x-ms-session-token"].startswith("0:")
    uuid.UUID(headers["x-ms-activity-id"])
    assert int(headers["lsn"]) > 0


def test_ts_is_the_second_of_the_write(container, clock):
    now = clock.now()
    assert container.create_item({"id": "1", "pk": "a"})["_ts"] == now
    clock.advance(7)
    assert container.replace_item("1", {"id": "1", "pk": "a"})["_ts"] == now + 7
    assert container.read_item("1", "a")["_ts"] == now + 7


def test_a_missing_item_is_404(container):
    with refused(404, text=TEXTS["itemNotFound"]):
        container.read_item("none", "a")
    with refused(404, text=TEXTS["itemNotFound"]):
        container.replace_item("none", {"id": "none", "pk": "a"})
    with refused(404, text=TEXTS["itemNotFound"]):
        container.delete_item("none", "a")
    with refused(404, text=TEXTS["itemNotFound"]):
        container.patch_item("none", "a", [{"op": "set", "path": "/a", "value": 1}])


def test_twice_is_409(container):
    container.create_item({"id": "1", "pk": "a", "n": 1})
    with refused(409, text=TEXTS["conflict"]):
        container.create_item({"id": "1", "pk": "a", "n": 2})
    assert container.read_item("1", "a")["n"] == 1


def test_one_id_may_live_in_several_partitions(container, query):
    for pk in ("a", "b"):
        container.create_item({"id": "1", "pk": pk})
    assert container.read_item("1", "b")["pk"] == "b"
    container.delete_item("1", "a")
    assert list(query(container, "SELECT VALUE c.pk FROM c")) == ["b"]


def test_upsert(container):
    made = container.upsert_item({"id": "1", "pk": "a", "n": 1})
    changed = container.upsert_item({"id": "1", "pk": "a", "m": 2})
    assert bare(container.read_item("1", "a")) == {"id": "1", "pk": "a", "m": 2}
    assert changed["_rid"] == made["_rid"]
    assert changed["_etag"] != made["_etag"]


def test_an_upsert_says_whether_it_created(container):
    seen = []

    def hook(headers, _result):
        return seen.append(headers)

    container.upsert_item({"id": "1", "pk": "a"}, response_hook=hook)
    assert len(seen) == 1


def test_replace(container):
    made = container.create_item({"id": "1", "pk": "a", "n": 1})
    changed = container.replace_item(made, {"id": "1", "pk": "a", "m": 2})
    assert bare(changed) == {"id": "1", "pk": "a", "m": 2}
    assert changed["_rid"] == made["_rid"]
    assert changed["_etag"] != made["_etag"]


def test_a_replace_may_change_the_id(container):
    made = container.create_item({"id": "1", "pk": "a", "n": 1})
    container.create_item({"id": "3", "pk": "a"})
    with refused(409):
        container.replace_item("1", {"id": "3", "pk": "a"})
    moved = container.replace_item("1", {"id": "2", "pk": "a"})
    assert (moved["id"], moved["_rid"]) == ("2", made["_rid"])
    assert sorted(item["id"] for item in container.read_all_items()) == ["2", "3"]


def test_delete(container, query):
    made = container.create_item({"id": "1", "pk": "a"})
    container.delete_item(made, partition_key="a")
    with refused(404, text=TEXTS["itemNotFound"]):
        container.read_item("1", "a")
    assert list(query(container, "SELECT * FROM c")) == []
    assert container.create_item({"id": "1", "pk": "a"})["_rid"] != made["_rid"]


def test_no_response_is_asked_for(container):
    assert dict(container.create_item({"id": "1", "pk": "a"}, no_response=True)) == {}
    assert container.read_item("1", "a")["id"] == "1"


def test_generated_ids(container):
    made = container.create_item({"pk": "a"}, enable_automatic_id_generation=True)
    assert container.read_item(made["id"], "a") == made


@pytest.mark.parametrize(
    "name", ["with space", "é漢字\U0001f600", "a.b-c_d~e", "'quotes\"", "%41", "a+b&c=d", "x" * 255]
)
def test_odd_ids(container, query, name):
    container.create_item({"id": name, "pk": "a"})
    assert container.read_item(name, "a")["id"] == name
    assert list(query(container, "SELECT VALUE c.id FROM c WHERE c.id = @id", {"@id": name})) == [
        name
    ]
    container.upsert_item({"id": name, "pk": "a", "n": 1})
    container.replace_item(name, {"id": name, "pk": "a", "n": 2})
    container.delete_item(name, "a")


@pytest.mark.parametrize(
    "name",
    ["a/b", "a\\b", "x" * 1024, 5, None, ""],
    ids=["slash", "backslash", "long", "number", "null", "empty"],
)
def test_ids_that_are_refused(container, query, name):
    with pytest.raises((ValueError, TypeError, AttributeError, CosmosHttpResponseError)) as caught:
        container.create_item({"id": name, "pk": "a"})
    # The SDK refuses some of them itself.
    assert (
        isinstance(caught.value, (ValueError, TypeError, AttributeError))
        or caught.value.status_code == 400
    )
    assert list(query(container, "SELECT * FROM c")) == []


def test_an_item_above_2_mb_is_413(container):
    container.create_item({"id": "fits", "pk": "a", "text": "x" * 1_900_000})
    with refused(413, text="Request size is too large"):
        container.create_item({"id": "large", "pk": "a", "text": "x" * 2_200_000})
    assert len(container.read_item("fits", "a")["text"]) == 1_900_000


def test_read_all_in_pages(container):
    for n in range(7):
        container.create_item({"id": str(n), "pk": str(n % 3)})
    pages = [list(page) for page in container.read_all_items(max_item_count=3).by_page()]
    assert [len(page) for page in pages if page] == [3, 3, 1]
    assert ids(item for page in pages for item in page) == [str(n) for n in range(7)]


def test_read_many(container):
    for n in range(20):
        container.create_item({"id": str(n), "pk": str(n % 4), "n": n})
    wanted = [(str(n), str(n % 4)) for n in (3, 5, 17)] + [("none", "a"), ("3", "other")]
    assert sorted(item["n"] for item in container.read_items(wanted)) == [3, 5, 17]
    assert list(container.read_items([])) == []
    everything = [(str(n), str(n % 4)) for n in range(20)]
    assert len(container.read_items(everything)) == 20


def test_delete_a_partition(container, query):
    for n in range(6):
        container.create_item({"id": str(n), "pk": "ab"[n % 2]})
    container.delete_all_items_by_partition_key("a")
    assert sorted(query(container, "SELECT VALUE c.id FROM c")) == ["1", "3", "5"]


def test_etag_of_a_replace(container):
    made = container.create_item({"id": "1", "pk": "a"})
    changed = container.replace_item(
        "1",
        {"id": "1", "pk": "a", "n": 2},
        etag=made["_etag"],
        match_condition=MatchConditions.IfNotModified,
    )
    assert changed["n"] == 2
    with refused(412, text=TEXTS["precondition"]):
        container.replace_item(
            "1",
            {"id": "1", "pk": "a", "n": 3},
            etag=made["_etag"],
            match_condition=MatchConditions.IfNotModified,
        )
    assert container.read_item("1", "a")["n"] == 2


CONDITIONAL = {
    "upsert": lambda c, **o: c.upsert_item({"id": "1", "pk": "a", "n": 3}, **o),
    "patch": lambda c, **o: c.patch_item("1", "a", [{"op": "set", "path": "/n", "value": 3}], **o),
    "delete": lambda c, **o: c.delete_item("1", "a", **o),
}


@pytest.mark.parametrize("write", CONDITIONAL)
def test_etags_of_other_writes(container, write):
    old = container.create_item({"id": "1", "pk": "a"})["_etag"]
    now = container.replace_item("1", {"id": "1", "pk": "a", "n": 2})["_etag"]
    with refused(412, text=TEXTS["precondition"]):
        CONDITIONAL[write](container, etag=old, match_condition=MatchConditions.IfNotModified)
    assert container.read_item("1", "a")["_etag"] == now
    CONDITIONAL[write](container, etag=now, match_condition=MatchConditions.IfNotModified)


def test_reading_what_has_not_changed(container):
    made = container.create_item({"id": "1", "pk": "a"})
    condition = {"etag": made["_etag"], "match_condition": MatchConditions.IfModified}
    assert dict(container.read_item("1", "a", **condition)) == {}
    changed = container.replace_item("1", {"id": "1", "pk": "a", "n": 2})
    assert container.read_item("1", "a", **condition) == changed


def test_writes_that_are_refused_change_nothing(container, query):
    container.create_item({"id": "1", "pk": "a", "n": 1})
    before = container.read_item("1", "a")
    with refused(409):
        container.create_item({"id": "1", "pk": "a", "n": 9})
    with refused(400, 1001, TEXTS["partitionKeyMismatch"]):
        container.create_item({"id": "2", "pk": "b"}, raw_request_hook=in_partition("a"))
    assert list(query(container, "SELECT * FROM c")) == [before]
