"""The values of an item's `ttl`: which are accepted, which are refused and with what message, and
their meaning. Tests every value by every write path, with TTL on and off; a refusal changes
nothing.
"""

import json

import pytest
from lib.server import Server
from lib.texts import NO_ENTITY, bad_ttl

from nosql.write_path import WRITE_PATHS, WritePath

OUT = object()

#: name: (the JSON of the value, the seconds it means, or -1; OUT is a refusal if TTL is on)
ITEM_VALUES = {
    "5": ("5", 5),
    "1": ("1", 1),
    "-1": ("-1", -1),
    "2147483647": ("2147483647", 2_147_483_647),
    "5.0": ("5.0", 5),
    "0": ("0", OUT),
    "null": ("null", OUT),
    "-2": ("-2", OUT),
    "-10": ("-10", OUT),
    "2147483648": ("2147483648", OUT),
    "text": ('"5"', OUT),
    "5.5": ("5.5", OUT),
    "true": ("true", OUT),
    "object": ("{}", OUT),
    "array": ("[5]", OUT),
    "2^32 + 5": ("4294967301", OUT),
    "-2147483648": ("-2147483648", OUT),
}
DEFAULTS = {"off": None, "-1": -1, "n": 1_000}


@pytest.mark.parametrize("default", DEFAULTS)
@pytest.mark.parametrize("write_path", WRITE_PATHS)
@pytest.mark.parametrize("value", ITEM_VALUES)
def test_item(server, container, value, write_path, default):
    text, seconds = ITEM_VALUES[value]
    on = DEFAULTS[default]
    assert container.define(**({} if on is None else {"defaultTtl": on})).status == 201
    attempt = WritePath(container, write_path, text)
    before = attempt.prepare()
    reply, status = attempt.run()
    if on is not None and seconds is OUT:
        assert status == 400, reply
        if not write_path.startswith(("batch", "bulk")):
            assert reply.substatus == 0
            assert reply.json["code"] == "BadRequest"
            assert reply.error == bad_ttl(text.strip('"'))
        left = container.read("a", "a")
        assert left.json == before if before else left.status == 404
        return
    assert status in (200, 201), reply
    stored = container.read("a", "a").json
    assert json.dumps(stored["ttl"]) in (text, text.removesuffix(".0")), stored
    if seconds in (1, 5):
        server.advance(seconds * 1_000 - 1_000)
        assert container.read("a", "a").status == 200, "dead too early"
        server.advance(1_000)
        expected = 200 if on is None else 404
        assert container.read("a", "a").status == expected
        assert container.rows("SELECT VALUE COUNT(1) FROM c") == [int(expected == 200)]


def test_ttl_is_of_the_root_and_lower_case(server, container):
    assert container.define(defaultTtl=-1).status == 201
    for number, more in enumerate(
        [
            {"Ttl": 0},
            {"TTL": "x"},
            {"a": {"ttl": 0}},
            {"a": [{"ttl": None}]},
            {"ttl ": -5},
        ]
    ):
        body = {"id": f"{number}", "pk": "a", **more}
        assert container.create(body).status == 201, more
    server.advance(100_000)
    assert container.rows("SELECT VALUE COUNT(1) FROM c") == [5]


def test_ttl_is_never_added(container):
    assert container.define(defaultTtl=1_000).status == 201
    for reply in (
        container.create({"id": "a", "pk": "a"}),
        container.upsert({"id": "a", "pk": "a"}),
        container.replace({"id": "a", "pk": "a", "n": 1}),
        container.read("a", "a"),
        container.patch("a", "a", [{"op": "incr", "path": "/n", "value": 1}]),
    ):
        assert reply.status in (200, 201), reply
        assert "ttl" not in reply.json
    [row] = container.rows("SELECT * FROM c")
    assert "ttl" not in row
    assert container.rows("SELECT VALUE c.ttl FROM c") == []


@pytest.mark.parametrize("value", [v for v, (_, means) in ITEM_VALUES.items() if means is OUT])
class TestKeptFromWhenItWasOff:
    """A meaningless value was stored while TTL was off; then TTL is turned on."""

    @pytest.fixture
    def kept(self, container, value):
        assert container.define().status == 201
        reply, status = WritePath(container, "create", ITEM_VALUES[value][0]).run()
        assert status == 201, reply
        assert container.redefine(defaultTtl=1_000).status == 200
        self.stored = container.read("a", "a").json["ttl"]
        return container

    def test_it_inherits(self, server, kept):
        server.advance(999_000)
        assert kept.read("a", "a").status == 200
        server.advance(1_000)
        assert kept.read("a", "a").code == (404, 0)

    def test_a_replace_needs_a_meaningful_one(self, kept, value):
        reply, status = WritePath(kept, "replace", ITEM_VALUES[value][0]).run()
        assert (status, reply.error) == (400, bad_ttl(ITEM_VALUES[value][0].strip('"')))
        assert kept.replace({"id": "a", "pk": "a"}).status == 200

    def test_an_upsert_needs_a_meaningful_one(self, kept, value):
        reply, status = WritePath(kept, "upsert", ITEM_VALUES[value][0]).run()
        assert status == 400, reply
        assert kept.upsert({"id": "a", "pk": "a", "ttl": 5}).status == 200

    def test_a_patch_that_leaves_it_alone(self, server, kept):
        server.advance(999_000)
        reply = kept.patch("a", "a", [{"op": "set", "path": "/n", "value": 1}])
        assert reply.status == 200, reply
        assert reply.json["ttl"] == self.stored
        # The countdown restarts, with the default TTL.
        server.advance(999_000)
        assert kept.read("a", "a").status == 200
        server.advance(1_000)
        assert kept.read("a", "a").status == 404

    def test_a_patch_of_it(self, server, kept, value):
        text = ITEM_VALUES[value][0]
        reply, status = WritePath(kept, "patch set", text).run()
        assert status == 400 and reply.error == bad_ttl(text.strip('"')), reply
        assert kept.patch("a", "a", [{"op": "set", "path": "/ttl", "value": 3}]).status == 200
        server.advance(3_000)
        assert NO_ENTITY in kept.read("a", "a").error

    def test_a_patch_that_removes_it(self, kept):
        reply = kept.patch("a", "a", [{"op": "remove", "path": "/ttl"}])
        assert reply.status == 200 and "ttl" not in reply.json, reply


@pytest.mark.parametrize("write", ["upsert", "replace", "patch", "batch", "bulk"])
@pytest.mark.parametrize("life", ["default", "own"])
def test_each_write_restarts_the_countdown(server, container, write, life):
    assert container.define(defaultTtl=10 if life == "default" else -1).status == 201
    body = {"id": "a", "pk": "a", **({} if life == "default" else {"ttl": 10})}
    change = {"operations": [{"op": "set", "path": "/x", "value": 1}]}
    assert container.create(body).status == 201
    server.advance(9_000)
    reply = {
        "upsert": lambda: container.upsert(body),
        "replace": lambda: container.replace(body),
        "patch": lambda: container.patch("a", "a", change["operations"]),
        "batch": lambda: container.batch(
            "a", [{"operationType": "Patch", "id": "a", "resourceBody": change}]
        ),
        "bulk": lambda: container.bulk(
            [{"operationType": "Replace", "id": "a", "resourceBody": body, "partitionKey": '["a"]'}]
        ),
    }[write]()
    assert reply.status == 200, reply
    ts = container.read("a", "a").json["_ts"]
    server.advance(9_000)
    assert container.read("a", "a").json["_ts"] == ts
    for text in ("SELECT * FROM c", "SELECT * FROM c WHERE c.id = 'a'"):
        assert len(container.rows(text)) == 1
    server.advance(1_000)
    assert container.read("a", "a").code == (404, 0)
    assert container.rows("SELECT VALUE COUNT(1) FROM c") == [0]


@pytest.mark.parametrize("default", DEFAULTS)
def test_the_matrix_of_classes(server, container, default):
    """None, -1 and n under off, -1 and n', a second before the deadline, at it and after."""
    on = {"off": None, "-1": -1, "n": 20}[default]
    assert container.define(**({} if on is None else {"defaultTtl": on})).status == 201
    start = server.now_ms() // 1000
    lives = {"none": {}, "never": {"ttl": -1}, "own": {"ttl": 10}, "longer": {"ttl": 30}}
    for id, more in lives.items():
        assert container.create({"id": id, "pk": "a", **more}).status == 201
    dies = {
        "off": {},
        "-1": {"own": 10, "longer": 30},
        "n": {"none": 20, "own": 10, "longer": 30},
    }[default]
    for second in (9, 10, 11, 19, 20, 21, 29, 30, 31, 100_000):
        server.move_to((start + second) * 1000)
        alive = sorted(id for id in lives if id not in dies or second < dies[id])
        assert sorted(container.rows("SELECT VALUE c.id FROM c")) == alive
        assert sorted(row["id"] for row in container.rows()) == alive
        assert sorted(row["id"] for row in container.changes()[0]) == alive
        assert container.rows("SELECT VALUE COUNT(1) FROM c") == [len(alive)]
        assert sorted(id for id in lives if container.read(id, "a").status == 200) == alive


def test_the_edges_of_32_bit_time():
    """2038-01-19 and 2106-02-07 need no special treatment."""
    with Server(flags=["--reap-delay", "0"], nosql=True) as server:
        assert server.items.create_database("d").status == 201
        container = server.items.container("d", "edges")
        assert container.define(defaultTtl=20).status == 201
        lives = {"inherit": {}, "max": {"ttl": 2**31 - 1}, "never": {"ttl": -1}, "own": {"ttl": 12}}
        for edge in (2**31, 2**32, 2**33):
            server.move_to((edge - 10) * 1000)
            for id, more in lives.items():
                reply = container.create({"id": id, "pk": "a", **more})
                assert (reply.status, reply.json["_ts"]) == (201, edge - 10)
            for instant, dead in (
                (1_999, set()),
                (2_000, {"own"}),
                (9_999, {"own"}),
                (10_000, {"own", "inherit"}),
            ):
                server.move_to(edge * 1000 + instant)
                server.wait_for_passes(2)
                alive = sorted(lives.keys() - dead)
                assert sorted(container.rows("SELECT VALUE c.id FROM c")) == alive, (edge, instant)
                assert container.rows("SELECT VALUE COUNT(1) FROM c") == [len(alive)]
            for id in ("max", "never"):
                assert container.delete(id, "a").status == 204
