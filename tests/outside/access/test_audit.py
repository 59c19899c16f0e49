"""The audit log: logins, refused and executed operations; its hash chain, and rotation."""

import json
import signal
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from lib.server import EBB_BIN

from access.guarded import ROOT, ROOT_PASSWORD, Guarded

PASSWORD = "planted-in-the-audit-90210"


@pytest.fixture
def server(tmp_path):
    flags = ["--audit-file", str(tmp_path / "audit.log")]
    with Guarded(flags, data_dir=True, nosql=True) as server:
        server.audit_file = tmp_path / "audit.log"
        yield server


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def found(path, **fields):
    """Returns the lines that have these fields."""
    return [it for it in lines(path) if all(it[name] == value for name, value in fields.items())]


def check(path):
    command = [EBB_BIN, "verify", "--json", "--audit-file", str(path)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=30)
    return ran.returncode, json.loads(ran.stdout)


def test_what_is_written_down(server):
    path = server.audit_file
    root = server.root()
    root.ok("shop", {"create": "orders"})
    root.ok("shop", {"insert": "orders", "documents": [{"secret": PASSWORD}]})
    root.ok("shop", {"createUser": "ann", "pwd": PASSWORD, "roles": ["read"]})
    ann = server.login("ann", PASSWORD, "shop")
    assert ann.ask_for("shop", {"drop": "orders"})["code"] == 13
    assert server.connection().ask_for("shop", {"find": "orders"})["code"] == 13
    server.connection().fails_to_login("ann", PASSWORD + "x", "shop")
    root.ok("shop", {"drop": "orders"})
    assert [it["action"] for it in lines(path)][:1] == ["start"]
    who = {"user": "ann@shop", "api": "mongodb"}
    assert [it["outcome"] for it in found(path, action="login", **who)] == [0, 18]
    dropped = found(path, action="drop", object="shop.orders")
    assert [(it["user"], it["outcome"]) for it in dropped] == [
        ("ann@shop", 13),
        (f"{ROOT}@admin", 0),
    ]
    assert found(path, action="createUser", object="shop.ann", outcome=0)
    assert found(path, action="find", user=None, outcome=13)
    assert not found(path, action="insert"), "documents are not its business"
    assert all(it["peer"].startswith("127.0.0.1:") for it in found(path, api="mongodb"))
    text = path.read_text()
    assert PASSWORD not in text
    assert ROOT_PASSWORD not in text


def test_the_other_addresses(server):
    path = server.audit_file
    server.items.create_database("shop")
    assert found(path, api="nosql", action="CreateDatabase", object="/dbs", outcome=0)
    with pytest.raises(urllib.error.HTTPError) as refused:
        server.admin("/_ebb/clock", {})
    assert refused.value.code == 401
    assert found(path, api="admin", action="POST", object="/_ebb/clock", outcome=401)
    with pytest.raises(urllib.error.HTTPError):
        server.admin("/_ebb/features")
    assert found(path, api="admin", action="GET", object="/_ebb/features", outcome=401)
    text = (server.data_dir / "admin.key").read_text()
    key = text.splitlines()[0].split("=", 1)[1].strip()
    for page in ("features", "backup"):
        request = urllib.request.Request(f"{server.admin_url}/_ebb/{page}")
        request.add_header("authorization", f"Bearer {key}")
        with urllib.request.urlopen(request, timeout=30) as reply:
            assert reply.read()
    assert not found(path, action="GET", object="/_ebb/features", outcome=0)
    assert found(path, api="admin", action="GET", object="/_ebb/backup", outcome=0)


def test_a_changed_line_is_found(server):
    path = server.audit_file
    with server.root() as root:
        for number in range(5):
            root.ok("shop", {"create": f"c{number}"})
    status, report = check(path)
    assert (status, report["lines"]) == (0, len(lines(path)))
    text = path.read_text()
    path.write_text(text.replace("shop.c2", "shop.c9"))
    changed = next(at for at, it in enumerate(text.splitlines(), 1) if "shop.c2" in it)
    assert check(path) == (1, {"line": changed, "why": "it was changed"})
    path.write_text("".join(it + "\n" for it in text.splitlines() if "shop.c2" not in it))
    assert check(path)[1]["line"] == changed
    path.write_text(text)


def test_it_goes_on_after_a_rotation_and_a_restart(server, tmp_path):
    path, moved = server.audit_file, tmp_path / "audit.log.1"
    server.root().ok("shop", {"create": "before"})
    path.rename(moved)
    server.process.send_signal(signal.SIGHUP)
    until = time.monotonic() + 10
    while not path.exists():
        assert time.monotonic() < until
        time.sleep(0.01)
    server.root().ok("shop", {"create": "between"})
    server.restart()
    server.root().ok("shop", {"create": "behind"})
    assert [check(it)[0] for it in (moved, path)] == [0, 0]
    assert check(path)[1]["begins_behind"] == check(moved)[1]["last"]
    actions = [it["action"] for it in lines(path)]
    assert actions.count("start") == 1
    assert actions.count("stop") == 1
    numbers = [it["number"] for it in lines(moved) + lines(path)]
    assert numbers == list(range(1, len(numbers) + 1))
