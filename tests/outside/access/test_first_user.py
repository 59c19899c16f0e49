"""The first user: from flags, files and the environment variables of MongoDB's container image, and
the effect of a second start."""

import subprocess

import pytest
from lib.server import EBB_BIN

from access.guarded import ROOT, ROOT_PASSWORD, Guarded
from access.scram import Exchange, attributes

VARIABLES = ("USERNAME", "PASSWORD", "PASSWORD_FILE")


@pytest.fixture
def variables(monkeypatch, tmp_path):
    """Returns a function that sets the container image's variables for later servers."""

    def set_variables(**values):
        for name in VARIABLES:
            monkeypatch.delenv(f"MONGO_INITDB_ROOT_{name}", raising=False)
        if "PASSWORD_FILE" in values:
            path = tmp_path / "password"
            path.write_text(values["PASSWORD_FILE"])
            values["PASSWORD_FILE"] = str(path)
        for name, value in values.items():
            monkeypatch.setenv(f"MONGO_INITDB_ROOT_{name}", value)

    return set_variables


def roles_of(connection):
    info = connection.ok("admin", {"connectionStatus": 1})["authInfo"]
    return [(role["role"], role["db"]) for role in info["authenticatedUserRoles"]]


def unknown_salt(server):
    """Returns an unknown user's salt; if it changed, it would reveal that there is no such user."""
    begun = server.connection().begin(Exchange("nobody", "x"))
    return attributes(begun["payload"])["s"]


def test_a_restart_keeps_users_and_roles():
    with Guarded(data_dir=True) as server:
        user = server.new_user([], customData={"a": 1})
        server.user_who_may({"resource": {"cluster": True}, "actions": ["serverStatus"]})
        with server.root() as root:
            role = root.ok("admin", {"rolesInfo": 1})["roles"][0]["role"]
            root.ok("admin", {"grantRolesToUser": user, "roles": [role]})
            before = root.ok("admin", {"usersInfo": 1, "showCredentials": True})
            root.ok("admin", {"updateUser": user, "pwd": "new"})
        salt = unknown_salt(server)
        for _ in range(2):
            server.restart()
            assert unknown_salt(server) == salt
            connection = server.login(user, "new")
            connection.ok("admin", {"serverStatus": 1})
            connection.forbidden("admin", {"hostInfo": 1})
            server.connection().fails_to_login(user, "pw")
            after = server.root().ok("admin", {"usersInfo": 1})
            assert [it["userId"] for it in after["users"]] == [
                it["userId"] for it in before["users"]
            ]
        server.end()


def test_what_was_acknowledged_is_there_after_a_kill():
    with Guarded(data_dir=True) as server:
        gone = server.new_user(["root"])
        user = server.new_user(["root"])
        with server.root() as root:
            root.ok("admin", {"dropUser": gone})
            root.ok("admin", {"updateUser": user, "pwd": "new"})
            root.ok("admin", {"revokeRolesFromUser": user, "roles": ["root"]})
            server.kill()
        server.start()
        server.login(user, "new").forbidden("admin", {"serverStatus": 1})
        server.connection().fails_to_login(user, "pw")
        server.connection().fails_to_login(gone)
        server.end()


def test_a_second_start_with_another_password_changes_nothing():
    with Guarded(data_dir=True) as server:
        server.leave()
        flags = ["--root-user", ROOT, "--root-password-file", server.secret("another")]
        server.flags = flags
        server.start()
        server.root()
        server.connection().fails_to_login(ROOT, "another")
        server.leave()
        # A first user with another name is not created either.
        server.flags = ["--root-user", "other", *flags[2:]]
        server.start()
        server.connection().fails_to_login("other", "another")
        server.leave()
        # Without the settings of the first user, a flag keeps authentication required.
        server.flags = ["--mongo-auth"]
        server.start()
        server.root().ok("admin", {"serverStatus": 1})
        server.connection().refused(13, "admin", {"serverStatus": 1})


@pytest.mark.parametrize(
    ("kind", "end"),
    [("PASSWORD", ""), ("PASSWORD_FILE", ""), ("PASSWORD_FILE", "\n"), ("PASSWORD_FILE", "\r\n")],
)
def test_variables_of_the_container_image(variables, kind, end):
    variables(USERNAME="boss", **{kind: ROOT_PASSWORD + end})
    with Guarded(first_user=False) as server:
        connection = server.login("boss", ROOT_PASSWORD)
        assert roles_of(connection) == [("root", "admin")]
        connection.ok("admin", {"serverStatus": 1})
        server.connection().refused(13, "admin", {"serverStatus": 1})


def test_the_first_user_logs_in_from_a_file_without_an_end_of_line():
    with Guarded() as server:
        (server.home / "bare").write_text("secret with spaces  ")
        server.leave()
        server.flags = ["--root-user", "r", "--root-password-file", str(server.home / "bare")]
        server.start()
        server.login("r", "secret with spaces  ")
        server.connection().fails_to_login("r", "secret with spaces")


def refused_start(*flags):
    command = [EBB_BIN, "serve", "--in-memory", "--mongo-addr", "127.0.0.1:0", *flags]
    command += ["--admin-addr", "off", "--cosmos-addr", "off"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert ended.returncode not in (0, -9), ended
    return ended.stderr


def test_settings_that_do_not_go_together(tmp_path):
    password = tmp_path / "password"
    password.write_text("pw\n")
    empty = tmp_path / "empty"
    empty.write_text("\n")
    of_file = ["--root-password-file", str(password)]
    for flags in (
        ["--root-user", "r"],
        of_file,
        ["--root-user", "r", "--root-password-file", str(tmp_path / "none")],
        ["--root-user", "r", "--root-password-file", str(tmp_path)],
        ["--root-user", "r", "--root-password-file", str(empty)],
        ["--root-user", "r", "--root-password", "pw", *of_file],
        ["--mongo-auth", "--mongo-no-auth"],
        ["--root-user", "r", *of_file, "--mongo-no-auth"],
    ):
        said = refused_start(*flags)
        assert said.strip(), flags
        assert "panicked" not in said


def test_nobody_gets_in_where_there_is_no_user():
    with Guarded(["--mongo-auth"], first_user=False) as server:
        connection = server.connection()
        connection.refused(13, "admin", {"listDatabases": 1})
        # mongod lets a local client create the first user (the localhost exception).
        reply = connection.ask_for("admin", {"createUser": "a", "pwd": "b", "roles": ["root"]})
        assert reply.get("code") == 13
