"""Keys that may only read: whatever a request says of itself, it changes nothing."""

import base64

import pytest
from lib.signature import KEY

from badinput_nosql.house import House
from badinput_nosql.test_tokens import ADMINISTRATION, DOCS, WRITES, odd
from badinput_nosql.wire import QUERY, A, request

READ_ONLY = base64.b64encode(b"a key that may only read, no more").decode()


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """A server with a second key that only reads."""
    keys = tmp_path_factory.mktemp("keys") / "keys"
    keys.write_text(f"primary = {KEY}\nprimary-readonly = {READ_ONLY}\n")
    keys.chmod(0o600)
    keys.chmod(0o600)
    with House("--key-file", str(keys)) as house:
        yield house
        house.leave()


def test_what_it_may(house):
    house.accepted(request("GET", f"{DOCS}/1", None, A, key=READ_ONLY), 200)
    house.accepted(request("GET", "/dbs", key=READ_ONLY), 200)
    house.accepted(
        request("POST", DOCS, {"query": "SELECT * FROM c"}, {**A, **QUERY}, key=READ_ONLY), 200
    )
    house.accepted(request("POST", "/dbs", {"query": "SELECT * FROM c"}, QUERY, key=READ_ONLY), 200)


@pytest.mark.parametrize("what", [*WRITES, *ADMINISTRATION])
def test_what_it_may_not(house, what):
    verb, path, body, headers = (WRITES | ADMINISTRATION)[what]
    house.refused(request(verb, path, body, {**A, **headers}, key=READ_ONLY), odd(what))


def test_it_is_given_no_tokens(house):
    """A permission is shown with a token, which may be for more than reading."""
    path = "/dbs/room/users/u/permissions"
    house.make(path, {"id": "all", "permissionMode": "All", "resource": "dbs/room/colls/c"})
    house.held = house.state()
    for data in (
        request("GET", path, key=READ_ONLY),
        request("GET", f"{path}/all", key=READ_ONLY),
        request("POST", path, {"query": "SELECT * FROM c"}, QUERY, key=READ_ONLY),
    ):
        reply = house.survived(data, 200, 403)
        assert b"type=resource" not in reply.body, reply
