"""Time to live: the matrix to the second, values, countdowns and changes of the default TTL."""

from functools import partial

import pytest
from azure.core import MatchConditions
from azure.cosmos import PartitionKey
from conftest import EXPECTED, TEXTS, bare, changes, ids, refused


@pytest.fixture
def everywhere(query):
    """Checks on every read path that exactly these items are visible."""

    def everywhere(container, alive, dead=()):
        alive = sorted(alive)
        for name in alive:
            assert container.read_item(name, "a")["id"] == name
        for name in dead:
            with refused(404, text=TEXTS["itemNotFound"]):
                container.read_item(name, "a")
        every = alive + list(dead)
        for options in ({}, {"partition_key": "a"}):

            def run(text, options=options):
                return list(query(container, text, **options))

            assert ids(run("SELECT * FROM c")) == alive
            assert ids(run("SELECT * FROM c WHERE c.city = 'Paris'")) == alive
            assert ids(run("SELECT * FROM c WHERE STARTSWITH(c.city, 'Pa')")) == alive
            assert run("SELECT VALUE c.id FROM c ORDER BY c.id") == alive
            assert sorted(run("SELECT VALUE c.id FROM c ORDER BY c._ts DESC")) == alive
            assert run("SELECT VALUE COUNT(1) FROM c") == [len(alive)]
            assert run("SELECT VALUE COUNT(1) FROM c WHERE c.city = 'Paris'") == [len(alive)]
            assert run("SELECT DISTINCT VALUE c.city FROM c") == (["Paris"] if alive else [])
            assert run("SELECT c.city, COUNT(1) AS n FROM c GROUP BY c.city") == (
                [{"city": "Paris", "n": len(alive)}] if alive else []
            )
            assert (
                sorted(
                    run("SELECT VALUE c.id FROM c WHERE EXISTS(SELECT VALUE t FROM t IN c.tags)")
                )
                == alive
            )
            assert sorted(run("SELECT VALUE c.id FROM c JOIN t IN c.tags")) == alive
        assert ids(container.read_all_items()) == alive
        assert ids(container.read_items([(name, "a") for name in every])) == alive
        assert ids(changes(container, start_time="Beginning")[0]) == alive

    return everywhere


def item(name="1", **more):
    return {"id": name, "pk": "a", "city": "Paris", "tags": ["x"], **more}


def redefine(db, container, **options):
    db.replace_container(container.id, PartitionKey("/pk"), **options)


@pytest.mark.parametrize(
    "case", EXPECTED["matrix"], ids=lambda case: f"default {case['default']} ttl {case['ttl']}"
)
def test_matrix(make, clock, everywhere, case):
    container = make(**({} if case["default"] is None else {"default_ttl": case["default"]}))
    one = item() if case["ttl"] is None else item(ttl=case["ttl"])
    container.create_item(one)
    if case["diesAfter"] is None:
        clock.advance(100 * 365 * 86400)
        everywhere(container, ["1"])
        assert bare(container.read_item("1", "a")) == one
        return
    clock.advance(case["diesAfter"] - 1)
    everywhere(container, ["1"])
    clock.advance(1)
    everywhere(container, [], ["1"])
    clock.advance(1)
    everywhere(container, [], ["1"])


def test_many_deadlines_in_one_container(make, clock, everywhere):
    container = make(default_ttl=10)
    lives = {"default": 10, "five": 5, "twenty": 20, "never": None}
    for name, ttl in (
        ("default", {}),
        ("five", {"ttl": 5}),
        ("twenty", {"ttl": 20}),
        ("never", {"ttl": -1}),
    ):
        container.create_item(item(name, **ttl))
    now = 0
    for instant in (4, 5, 9, 10, 19, 20, 21):
        clock.advance(instant - now)
        now = instant
        alive = [name for name, end in lives.items() if end is None or now < end]
        everywhere(container, alive, [name for name in lives if name not in alive])


def test_ttl_is_never_added(make):
    container = make(default_ttl=10)
    made = container.create_item(item())
    assert "ttl" not in made
    assert "ttl" not in container.read_item("1", "a")


WRITES = {
    "create": lambda c, ttl: c.create_item(item("new", ttl=ttl)),
    "upsert that creates": lambda c, ttl: c.upsert_item(item("new", ttl=ttl)),
    "upsert that replaces": lambda c, ttl: c.upsert_item(item("old", ttl=ttl)),
    "replace": lambda c, ttl: c.replace_item("old", item("old", ttl=ttl)),
    "patch": lambda c, ttl: c.patch_item("old", "a", [{"op": "set", "path": "/ttl", "value": ttl}]),
}


@pytest.mark.parametrize("value", EXPECTED["refusedItemTtl"], ids=lambda value: value["quoted"])
@pytest.mark.parametrize("default", [-1, 10])
def test_refused_values(make, query, value, default):
    container = make(default_ttl=default)
    before = container.create_item(item("old"))
    for write in WRITES.values():
        with refused(400, text=TEXTS["itemTtl"] % value["quoted"]):
            write(container, value["ttl"])
    assert list(query(container, "SELECT * FROM c")) == [before]


@pytest.mark.parametrize("value", EXPECTED["acceptedItemTtl"] + [20.0])
def test_accepted_values(make, value):
    container = make(default_ttl=10)
    container.create_item(item("old"))
    for write in WRITES.values():
        assert write(container, value)["ttl"] == value
    assert container.read_item("old", "a")["ttl"] == value


@pytest.mark.parametrize("value", EXPECTED["refusedItemTtl"], ids=lambda value: value["quoted"])
def test_any_value_is_stored_where_ttl_is_off(container, value):
    container.create_item(item("old"))
    for write in WRITES.values():
        assert write(container, value["ttl"])["ttl"] == value["ttl"]
    assert container.read_item("old", "a")["ttl"] == value["ttl"]


@pytest.mark.parametrize("name", ["Ttl", "TTL", "_ttl"])
def test_other_names_mean_nothing(make, clock, name):
    container = make(default_ttl=-1)
    container.create_item({**item(), name: 1, "deep": {"ttl": 1}})
    clock.advance(1_000_000)
    assert container.read_item("1", "a")[name] == 1


def test_the_largest_ttl_outlives_2038(make, clock, everywhere):
    container = make(default_ttl=10)
    container.create_item(item(ttl=2147483647))
    clock.advance(2147483646)
    everywhere(container, ["1"])
    clock.advance(1)
    everywhere(container, [], ["1"])


RESTARTS = {
    "replace": lambda c: c.replace_item("1", item(n=2)),
    "upsert": lambda c: c.upsert_item(item(n=2)),
    "upsert of the same": lambda c: c.upsert_item(item()),
    "patch": lambda c: c.patch_item("1", "a", [{"op": "set", "path": "/n", "value": 2}]),
    "batch": lambda c: c.execute_item_batch([("upsert", (item(n=2),))], partition_key="a"),
}


@pytest.mark.parametrize("write", RESTARTS)
def test_a_write_restarts_the_countdown(make, clock, everywhere, write):
    container = make(default_ttl=10)
    container.create_item(item())
    clock.advance(9)
    RESTARTS[write](container)
    clock.advance(9)
    everywhere(container, ["1"])
    clock.advance(1)
    everywhere(container, [], ["1"])


def test_reading_does_not(make, clock, everywhere):
    container = make(default_ttl=10)
    container.create_item(item())
    clock.advance(9)
    everywhere(container, ["1"])
    clock.advance(1)
    everywhere(container, [], ["1"])


def test_setting_and_removing_ttl_by_patch(make, clock):
    container = make(default_ttl=10)
    container.create_item(item())
    container.patch_item("1", "a", [{"op": "add", "path": "/ttl", "value": 100}])
    clock.advance(99)
    container.patch_item("1", "a", [{"op": "set", "path": "/ttl", "value": -1}])
    clock.advance(1_000_000)
    container.patch_item("1", "a", [{"op": "remove", "path": "/ttl"}])
    clock.advance(9)
    assert bare(container.read_item("1", "a")) == item()
    clock.advance(1)
    with refused(404):
        container.read_item("1", "a")


def test_writes_find_nothing_of_the_dead(make, clock, everywhere):
    container = make(default_ttl=10)
    etag = container.create_item(item())["_etag"]
    clock.advance(10)
    conditions = [{}, {"etag": etag, "match_condition": MatchConditions.IfNotModified}]
    for condition in conditions:
        for write in (
            partial(container.replace_item, "1", item(n=2)),
            partial(container.patch_item, "1", "a", [{"op": "set", "path": "/n", "value": 2}]),
            partial(container.delete_item, "1", "a"),
        ):
            with refused(404, text=TEXTS["itemNotFound"]):
                write(**condition)
    everywhere(container, [], ["1"])


@pytest.mark.parametrize("write", ["create_item", "upsert_item"])
def test_a_dead_id_is_free(make, clock, everywhere, write):
    container = make(default_ttl=10)
    before = container.create_item(item(old=True))
    clock.advance(10)
    after = getattr(container, write)(item())
    assert after["_rid"] != before["_rid"]
    assert after["_etag"] != before["_etag"]
    assert after["_ts"] == before["_ts"] + 10
    assert bare(container.read_item("1", "a")) == item()
    everywhere(container, ["1"])
    clock.advance(9)
    everywhere(container, ["1"])
    clock.advance(1)
    everywhere(container, [], ["1"])


def test_an_upsert_with_the_etag_of_the_dead_creates(make, clock):
    container = make(default_ttl=10)
    etag = container.create_item(item(old=True))["_etag"]
    clock.advance(10)
    container.upsert_item(item(), etag=etag, match_condition=MatchConditions.IfNotModified)
    assert bare(container.read_item("1", "a")) == item()


def test_a_unique_key_of_the_dead_is_free(make, clock):
    container = make(default_ttl=10, unique_key_policy={"uniqueKeys": [{"paths": ["/mail"]}]})
    container.create_item(item("1", mail="x"))
    clock.advance(9)
    with refused(409, text=TEXTS["uniqueViolation"]):
        container.create_item(item("2", mail="x"))
    clock.advance(1)
    container.create_item(item("2", mail="x"))
    assert ids(container.read_all_items()) == ["2"]


def test_turning_it_on_applies_to_items_that_are_there(db, container, clock, everywhere):
    container.create_item(item("old"))
    container.create_item(item("explicit", ttl=30))
    clock.advance(10)
    container.create_item(item("young"))
    redefine(db, container, default_ttl=10)
    everywhere(container, ["explicit", "young"], ["old"])
    clock.advance(10)
    everywhere(container, ["explicit"], ["old", "young"])
    clock.advance(10)
    everywhere(container, [], ["old", "young", "explicit"])


def test_turning_it_off_keeps_the_living_and_brings_nothing_back(db, make, clock, everywhere):
    container = make(default_ttl=10)
    container.create_item(item("dead"))
    clock.advance(10)
    container.create_item(item("later"))
    container.create_item(item("explicit", ttl=20))
    redefine(db, container)
    assert "defaultTtl" not in container.read()
    everywhere(container, ["later", "explicit"], ["dead"])
    clock.advance(1_000_000)
    everywhere(container, ["later", "explicit"], ["dead"])
    redefine(db, container, default_ttl=-1)
    everywhere(container, ["later"], ["dead", "explicit"])
    redefine(db, container, default_ttl=5_000_000)
    everywhere(container, ["later"], ["dead", "explicit"])


def test_a_shorter_default_kills_at_once_and_a_longer_one_saves(db, make, clock, everywhere):
    container = make(default_ttl=100)
    container.create_item(item("old"))
    clock.advance(50)
    container.create_item(item("young"))
    redefine(db, container, default_ttl=50)
    everywhere(container, ["young"], ["old"])
    redefine(db, container, default_ttl=1000)
    everywhere(container, ["young"], ["old"])
    clock.advance(999)
    everywhere(container, ["young"], ["old"])
    clock.advance(1)
    everywhere(container, [], ["young", "old"])


def test_an_index_over_a_path_hides_the_dead(make, query, clock):
    container = make(
        default_ttl=10,
        indexing_policy={
            "indexingMode": "consistent",
            "automatic": True,
            "includedPaths": [{"path": "/n/?"}],
            "excludedPaths": [{"path": "/*"}],
        },
    )
    for n in range(20):
        container.create_item(item(str(n), n=n, **({"ttl": -1} if n % 5 == 0 else {})))
    clock.advance(10)
    assert list(query(container, "SELECT VALUE c.n FROM c WHERE c.n >= 3 ORDER BY c.n")) == [
        5,
        10,
        15,
    ]
    assert list(query(container, "SELECT VALUE MAX(c.n) FROM c")) == [15]
    assert list(query(container, "SELECT VALUE SUM(c.n) FROM c WHERE c.n < 11")) == [15]
    assert list(query(container, "SELECT TOP 1 VALUE c.n FROM c ORDER BY c.n DESC")) == [15]


def test_deleting_a_partition_of_the_dead(make, clock, everywhere):
    container = make(default_ttl=10)
    container.create_item(item())
    clock.advance(10)
    container.delete_all_items_by_partition_key("a")
    everywhere(container, [], ["1"])
