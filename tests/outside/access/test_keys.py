"""Account keys that are rotated while the server runs: it reads the file again on SIGHUP."""

import base64

import pytest
from lib.server import Server

OLD, NEW = (base64.b64encode(bytes([at]) * 32).decode() for at in (1, 2))


@pytest.fixture
def server(tmp_path):
    file = tmp_path / "keys"
    write(file, OLD)
    flags = ["--key-file", str(file), "--mongo-no-auth"]
    with Server(nosql=True, flags=flags, log_level="info") as server:
        server.key_file = file
        yield server


def write(file, *keys):
    names = ("primary", "secondary")
    lines = [f"{name} = {key}\n" for name, key in zip(names, keys, strict=False)]
    file.write_text("".join(lines))
    file.chmod(0o600)


def lets_in(server, key):
    """Returns whether the NoSQL API accepts a request signed with this key."""
    client = server.items.again()
    client.key = key
    return client.call("GET", "/dbs").status == 200


def test_a_key_is_exchanged(server):
    assert lets_in(server, OLD)
    assert not lets_in(server, NEW)
    write(server.key_file, OLD, NEW)
    server.reload("account keys reloaded")
    assert lets_in(server, OLD)
    assert lets_in(server, NEW)
    write(server.key_file, NEW)
    server.reload("account keys reloaded")
    assert not lets_in(server, OLD)
    assert lets_in(server, NEW)


@pytest.mark.parametrize("text", ["", "primary = no base64\n", "secondary = " + NEW + "\n"])
def test_a_file_that_is_wrong_changes_nothing(server, text):
    server.key_file.write_text(text)
    server.reload("account keys not reloaded")
    assert lets_in(server, OLD)


def test_nor_does_one_that_others_may_read(server):
    write(server.key_file, NEW)
    server.key_file.chmod(0o644)
    server.reload("account keys not reloaded")
    assert lets_in(server, OLD)
