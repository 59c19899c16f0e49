"""Read-only keys: no request changes anything."""

import base64

import pytest
from lib.signature import KEY

from badinput_nosql.attacked import AttackedServer
from badinput_nosql.test_tokens import ADMINISTRATION, DOCS, WRITES, odd
from badinput_nosql.wire import QUERY, A, request

READ_ONLY = base64.b64encode(b"a key that may only read, no more").decode()


@pytest.fixture(scope="module")
def attacked(tmp_path_factory):
    """A server with a second, read-only key."""
    keys = tmp_path_factory.mktemp("keys") / "keys"
    keys.write_text(f"primary = {KEY}\nprimary-readonly = {READ_ONLY}\n")
    keys.chmod(0o600)
    keys.chmod(0o600)
    with AttackedServer("--key-file", str(keys), "--mongo-no-auth") as attacked:
        yield attacked
        attacked.leave()


def test_what_it_may(attacked):
    attacked.accepted(request("GET", f"{DOCS}/1", None, A, key=READ_ONLY), 200)
    attacked.accepted(request("GET", "/dbs", key=READ_ONLY), 200)
    attacked.accepted(
        request("POST", DOCS, {"query": "SELECT * FROM c"}, {**A, **QUERY}, key=READ_ONLY), 200
    )
    attacked.accepted(
        request("POST", "/dbs", {"query": "SELECT * FROM c"}, QUERY, key=READ_ONLY), 200
    )


@pytest.mark.parametrize("what", [*WRITES, *ADMINISTRATION])
def test_what_it_may_not(attacked, what):
    verb, path, body, headers = (WRITES | ADMINISTRATION)[what]
    attacked.refused(request(verb, path, body, {**A, **headers}, key=READ_ONLY), odd(what))


def test_it_is_given_no_tokens(attacked):
    """A permission is returned with a token, which may permit more than reading."""
    path = "/dbs/data/users/u/permissions"
    attacked.make(path, {"id": "all", "permissionMode": "All", "resource": "dbs/data/colls/c"})
    attacked.held = attacked.state()
    for data in (
        request("GET", path, key=READ_ONLY),
        request("GET", f"{path}/all", key=READ_ONLY),
        request("POST", path, {"query": "SELECT * FROM c"}, QUERY, key=READ_ONLY),
    ):
        reply = attacked.survived(data, 200, 403)
        assert b"type=resource" not in reply.body, reply
