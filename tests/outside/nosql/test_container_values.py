"""The values of `defaultTtl`: which are accepted and which are refused; and that TTL requires an
index. A refusal changes nothing.
"""

import pytest
from lib.texts import MODE_NONE

OUT = object()
DEFAULTS = {"off": None, "-1": -1, "n": 1_000}

#: name: (the definition, the value that is read back: None is no default TTL, OUT a refusal)
CONTAINER_VALUES = {
    "absent": ({}, None),
    "null": ({"defaultTtl": None}, OUT),
    "0": ({"defaultTtl": 0}, OUT),
    "-1": ({"defaultTtl": -1}, -1),
    "-2": ({"defaultTtl": -2}, OUT),
    "-10": ({"defaultTtl": -10}, OUT),
    "1": ({"defaultTtl": 1}, 1),
    "5": ({"defaultTtl": 5}, 5),
    "2147483647": ({"defaultTtl": 2_147_483_647}, 2_147_483_647),
    "2147483648": ({"defaultTtl": 2_147_483_648}, OUT),
    "text": ({"defaultTtl": "5"}, OUT),
    "fraction": ({"defaultTtl": 1.5}, OUT),
    "true": ({"defaultTtl": True}, OUT),
    "false": ({"defaultTtl": False}, OUT),
    "-2147483648": ({"defaultTtl": -(2**31)}, OUT),
    "huge": ({"defaultTtl": 2**53}, OUT),
    "2^32 + 5": ({"defaultTtl": 2**32 + 5}, OUT),
    "1e300": ({"defaultTtl": 1e300}, OUT),
    "array": ({"defaultTtl": [5]}, OUT),
    "object": ({"defaultTtl": {}}, OUT),
}


def default_of(container):
    reply = container.get()
    assert reply.status == 200, reply
    return reply.json.get("defaultTtl")


def refused(reply):
    assert reply.code == (400, 0), reply
    assert reply.json["code"] == "BadRequest"
    assert "ttl" in reply.error.lower(), "a text that does not name it"


@pytest.mark.parametrize("value", CONTAINER_VALUES)
def test_create_a_container(container, value):
    more, expected = CONTAINER_VALUES[value]
    reply = container.define(**more)
    if expected is OUT:
        refused(reply)
        assert container.get().status == 404
        return
    assert reply.status == 201, reply
    assert reply.json.get("defaultTtl") == expected == default_of(container)
    assert ("defaultTtl" in reply.json) == (expected is not None)


@pytest.mark.parametrize("before", DEFAULTS)
@pytest.mark.parametrize("value", CONTAINER_VALUES)
def test_replace_a_container(container, value, before):
    was = DEFAULTS[before]
    more, expected = CONTAINER_VALUES[value]
    assert container.define(**({} if was is None else {"defaultTtl": was})).status == 201
    etag = container.get().json["_etag"]
    reply = container.redefine(**more)
    if expected is OUT:
        refused(reply)
        assert default_of(container) == was
        assert container.get().json["_etag"] == etag
        return
    assert reply.status == 200, reply
    assert reply.json.get("defaultTtl") == expected == default_of(container)
    assert ("defaultTtl" in reply.json) == (expected is not None)


NONE = {"indexingMode": "none", "automatic": False}
CONSISTENT = {"indexingMode": "consistent"}


@pytest.mark.parametrize("ttl", [-1, 1, 1_000])
class TestIndexingMode:
    """TTL requires an index: in either order, on create and on replace."""

    def refused(self, reply):
        assert reply.code == (400, 0), reply
        assert MODE_NONE in reply.error

    def test_create(self, container, ttl):
        self.refused(container.define(indexingPolicy=NONE, defaultTtl=ttl))
        assert container.get().status == 404

    def test_ttl_where_there_is_no_index(self, container, ttl):
        assert container.define(indexingPolicy=NONE).status == 201
        self.refused(container.redefine(indexingPolicy=NONE, defaultTtl=ttl))
        assert default_of(container) is None

    def test_no_index_where_there_is_ttl(self, container, ttl):
        assert container.define(indexingPolicy=CONSISTENT, defaultTtl=ttl).status == 201
        self.refused(container.redefine(indexingPolicy=NONE, defaultTtl=ttl))
        assert default_of(container) == ttl
        assert container.get().json["indexingPolicy"]["indexingMode"] == "consistent"

    def test_both_are_fine_one_after_the_other(self, container, ttl):
        assert container.define(indexingPolicy=CONSISTENT, defaultTtl=ttl).status == 201
        assert container.redefine(indexingPolicy=NONE).status == 200
        assert default_of(container) is None
        assert container.redefine(indexingPolicy=CONSISTENT, defaultTtl=ttl).status == 200
        assert default_of(container) == ttl

    @pytest.mark.parametrize(
        "policy",
        [
            {"indexingMode": "lazy"},
            {"indexingMode": "Consistent"},
            {"indexingMode": "consistent", "includedPaths": [], "excludedPaths": [{"path": "/*"}]},
        ],
    )
    def test_other_modes_expire(self, server, container, ttl, policy):
        assert container.define(indexingPolicy=policy, defaultTtl=ttl).status == 201
        assert container.create({"id": "a", "pk": "a", "ttl": 3}).status == 201
        server.advance(2_000)
        assert container.read("a", "a").status == 200
        server.advance(1_000)
        assert container.read("a", "a").code == (404, 0)
        assert container.rows("SELECT VALUE COUNT(1) FROM c") == [0]
