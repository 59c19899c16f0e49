"""Passwords and the keys derived from them appear in no log, file, displayed setting or metric."""

import base64
import hashlib
import subprocess
import threading
import time
import urllib.error
import urllib.request

import bson
import pytest
from badinput.wire import command, frame, msg, section
from lib.server import EBB_BIN

from access.guarded import ROOT, ROOT_PASSWORD, Guarded

#: Each text is used in one place.
PLANTED = {
    "of the first user": ROOT_PASSWORD,
    "of a user": "planted-first-90210",
    "changed": "planted-changed-90210",
    "of a user who exists": "planted-exists-90210",
    "beside an unknown field": "planted-unknown-90210",
    "of no permitted user": "planted-forbidden-90210",
    "before any login": "planted-early-90210",
    "in a field of another type": "planted-type-90210",
    "in an explanation": "planted-explain-90210",
    "in a handshake": "planted-handshake-90210",
    "in broken BSON": "planted-broken-90210",
    "in a command that is not there": "planted-authenticate-90210",
    "in a wrong login": "planted-wrong-90210",
}
PATHS = ["/metrics", "/status", "/readyz", "/livez", "/_ebb/features", "/_ebb/clock"]


def plant(server, shown):
    """Sends each planted text; `shown` collects the server's replies."""
    root, early = server.root(), server.connection()

    def ask(database, body, by=root):
        shown.append(by.ask_for(database, body))

    def create(name, where, **more):
        return {"createUser": name, "pwd": PLANTED[where], "roles": [], **more}

    ask("app", create("ann", "of a user"))
    ask("app", {"updateUser": "ann", "pwd": PLANTED["changed"]})
    server.login("ann", PLANTED["changed"], "app")
    server.login("ann", PLANTED["changed"], "app", "SCRAM-SHA-1")
    ask("app", create("ann", "of a user who exists"))
    ask("app", create("bob", "beside an unknown field", unknown=1))
    ask("app", {"updateUser": "nobody", "pwd": [PLANTED["in a field of another type"]]})
    ask("app", create("eve", "of no permitted user"), server.user_with([]))
    ask("app", create("eve", "before any login"), early)
    ask("app", {"explain": create("eve", "in an explanation")})
    start = {"saslStart": 1, "mechanism": "PLAIN", "db": "$external"}
    start["payload"] = bson.Binary(f"\0ann\0{PLANTED['in a handshake']}".encode())
    ask("admin", {"hello": 1, "speculativeAuthenticate": start}, early)
    ask("$external", {name: it for name, it in start.items() if name != "db"}, early)
    unknown = {"authenticate": 1, "user": "ann", "key": PLANTED["in a command that is not there"]}
    ask("app", unknown, early)
    server.connection().fails_to_login("ann", PLANTED["in a wrong login"], "app")
    body = command(("createUser", "eve"), ("pwd", PLANTED["in broken BSON"]), db="app")
    broken = section(body)[:-6] + b"\xff" * 6
    with server.connection() as connection:
        connection.ask(frame(2013, b"\0\0\0\0" + broken), 5.0)
    with server.connection() as connection:
        connection.ask(msg(body)[:-4] + b"\xff\0\0\0", 5.0)


def secrets(root):
    """Returns the texts that must not be found: planted texts, digests, stored credentials."""
    found = dict(PLANTED)
    for where, text in PLANTED.items():
        for user in (ROOT, "ann", "bob"):
            digest = hashlib.md5(f"{user}:mongo:{text}".encode()).hexdigest()
            found[f"digest of {user}, {where}"] = digest
        found[f"base64, {where}"] = base64.b64encode(text.encode()).decode()
    stored = {}
    shown = root.ok("admin", {"usersInfo": {"forAllDBs": True}, "showCredentials": True})
    for user in shown["users"]:
        for mechanism, credential in user["credentials"].items():
            for field in ("salt", "storedKey", "serverKey"):
                stored[f"{field} of {user['_id']} for {mechanism}"] = credential[field]
    assert len(stored) >= 12
    return found, stored


def found_in(data, texts):
    data = data.encode() if isinstance(data, str) else data
    return [where for where, text in texts.items() if text.encode() in data]


@pytest.fixture(scope="module")
def planted():
    """A server that received all planted texts, logged everything, and has stopped; and its
    output."""
    shown = []
    with Guarded(data_dir=True, log_level="trace") as server:
        began = time.monotonic()
        plant(server, shown)
        root = server.root()
        texts, stored = secrets(root)
        for database, body in (
            ("admin", {"currentOp": 1, "$all": True}),
            ("admin", {"getLog": "global"}),
            ("admin", {"getLog": "startupWarnings"}),
            ("admin", {"getCmdLineOpts": 1}),
            ("admin", {"getParameter": "*"}),
            ("admin", {"serverStatus": 1}),
            ("admin", {"listDatabases": 1}),
            ("admin", {"usersInfo": {"forAllDBs": True}}),
            ("admin", {"rolesInfo": 1, "showPrivileges": True}),
            ("admin", {"connectionStatus": 1, "showPrivileges": True}),
            ("admin", {"hostInfo": 1}),
            ("app", {"listCollections": 1}),
        ):
            shown.append(root.ok(database, body))
        pages = {}
        for path in PATHS:
            try:
                with urllib.request.urlopen(server.admin_url + path, timeout=10) as reply:
                    pages[path] = reply.read()
            except urllib.error.HTTPError as error:
                pages[path] = error.read()
        server.leave()
        assert time.monotonic() - began < 30
        files = {
            path.relative_to(server.home).as_posix(): path.read_bytes()
            for path in server.home.rglob("*")
            if path.is_file() and not path.name.startswith("password-")
        }
        yield shown, pages, files, texts, stored


def test_what_the_server_says(planted):
    shown, pages, _, texts, stored = planted
    for reply in shown:
        assert not found_in(repr(reply), texts | stored), reply
    assert len(pages["/metrics"]) > 1000
    for path, text in pages.items():
        assert not found_in(text, texts | stored), path


def test_what_it_logs(planted):
    _, _, files, texts, stored = planted
    log = files["log-1"]
    assert b'"DEBUG"' in log and b"logged in" in log
    assert b"a login failed" in log
    assert not found_in(log, texts | stored)


def test_what_it_keeps(planted):
    _, _, files, texts, _ = planted
    kept = {name: data for name, data in files.items() if name.startswith("data/")}
    assert kept
    for name, data in kept.items():
        assert not found_in(data, texts), name
    # Checks that stored users are found, to be sure that the right files are searched.
    user = b"ann"
    assert any(user in data for data in kept.values())


def test_what_settings_are_shown(tmp_path):
    password = tmp_path / "password"
    password.write_text(PLANTED["of a user"])
    for given, environment in (
        (["--root-user", "r", "--root-password-file", str(password)], {}),
        (["--root-user", "r", "--root-password", PLANTED["of a user"]], {}),
        ([], {"EBB_ROOT_USER": "r", "EBB_ROOT_PASSWORD": PLANTED["of a user"]}),
        (
            [],
            {
                "MONGO_INITDB_ROOT_USERNAME": "r",
                "MONGO_INITDB_ROOT_PASSWORD": PLANTED["of a user"],
            },
        ),
        (["--help"], {"EBB_ROOT_USER": "r", "EBB_ROOT_PASSWORD": PLANTED["of a user"]}),
    ):
        for more in ([], ["--no-such-flag"], ["--mongo-no-auth"]):
            command_line = [EBB_BIN, "serve", "--print-config", *given, *more]
            ended = subprocess.run(
                command_line, capture_output=True, timeout=20, env=environment, check=False
            )
            said = ended.stdout + ended.stderr
            assert said
            assert not found_in(said, PLANTED), command_line


def test_operations_with_passwords_are_not_shown():
    """`createUser` while it runs, seen by a user who may see all operations."""
    with Guarded() as server:
        root, watcher = server.root(), server.root()
        data = {"failCommands": ["createUser"], "blockConnection": True, "blockTimeMS": 500}
        root.ok("admin", {"configureFailPoint": "failCommand", "mode": {"times": 1}, "data": data})
        body = {"createUser": "ann", "pwd": PLANTED["of a user"], "roles": []}
        runs = threading.Thread(target=root.ok, args=("app", body))
        runs.start()
        seen = []
        while runs.is_alive():
            shown = watcher.ok("admin", {"currentOp": 1, "$all": True})["inprog"]
            assert not found_in(repr(shown), PLANTED)
            seen += [it for it in shown if "createUser" in it.get("command", {})]
        runs.join()
        assert seen, "the operation was never seen"
        assert seen[0]["command"]["createUser"] == 1
