"""Commands with empty arguments. A privilege that is derived from the elements of a list is not
checked if the list is empty, so a user without any role sends every command with every form of an
empty argument: it must change nothing, show nothing and not reveal which users exist. The
privileges that each command requires in each form are listed in `commands/table/empty_tests.rs`."""

import json

import bson
import pytest

from access.guarded import Guarded, may, new_name

#: Commands that a user without roles may run, and that the audit log records as successful.
DONE_BY_ANYBODY = {"login", "killSessions", "startSession", "refreshSessions", "logout"}
#: Commands that end the connection, or the login that the others need.
LEFT_OUT = {"logout", "saslStart", "saslContinue", "authenticate"}

#: Commands that change the roles or privileges of a user or a role; the name, and the list's field.
GRANTS = [
    ("grantRolesToUser", "ann", "roles"),
    ("revokeRolesFromUser", "ann", "roles"),
    ("grantRolesToRole", "one", "roles"),
    ("revokeRolesFromRole", "one", "roles"),
    ("grantPrivilegesToRole", "one", "privileges"),
    ("revokePrivilegesFromRole", "one", "privileges"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    audit = tmp_path_factory.mktemp("audit") / "audit.log"
    with Guarded(flags=["--audit-file", str(audit)]) as server:
        server.audit_file = audit
        with server.root() as root:
            root.ok("app", {"insert": "c", "documents": [{"_id": 1, "x": "SECRET"}]})
            root.ok("app", {"createRole": "one", "privileges": [may("find", "app")], "roles": []})
            root.ok("app", {"createUser": "ann", "pwd": "pw", "roles": ["one"]})
        yield server


def everything(root):
    """Returns all users, roles, databases, collections and documents."""
    return [
        root.ok("admin", {"usersInfo": {"forAllDBs": True}})["users"],
        root.ok("app", {"rolesInfo": 1, "showPrivileges": True})["roles"],
        [it["name"] for it in root.ok("admin", {"listDatabases": 1})["databases"]],
        root.ok("app", {"listCollections": 1})["cursor"]["firstBatch"],
        root.ok("app", {"find": "c"})["cursor"]["firstBatch"],
    ]


def lines(server, user):
    text = server.audit_file.read_text()
    return [it for it in map(json.loads, text.splitlines()) if it.get("user") == user]


def forms(command):
    lists = ("roles", "privileges", "pipeline", "updates", "deletes", "documents", "indexes")
    lists += ("ops", "nsInfo", "cursors", "mechanisms", "authenticationRestrictions")
    for first in (1, "c", "one", "ann", "app.c", [], {}):
        yield {command: first}
        for name in lists:
            yield {command: first, name: []}
            yield {command: first, name: [{}]}
        yield {command: first, **{name: [] for name in lists}}


def test_nothing_of_all_commands_does_nothing(server):
    name = server.new_user([])
    connection = server.login(name)
    with server.root() as root:
        before = everything(root)
        commands = sorted(set(root.ok("admin", {"listCommands": 1})["commands"]) - LEFT_OUT)
        for command in commands:
            for body in forms(command):
                for database in ("app", "admin"):
                    reply = connection.ask_for(database, body)
                    assert b"SECRET" not in bson.encode(reply), body
        after = everything(root)
    assert after == before
    done = {it["action"] for it in lines(server, f"{name}@admin") if it["outcome"] == 0}
    assert done <= DONE_BY_ANYBODY


@pytest.mark.parametrize(("command", "name", "field"), GRANTS)
def test_grants_of_nothing(server, command, name, field):
    """MongoDB refuses empty lists with 2. A user without rights on the database of the user or role
    gets 13, whether it exists or not."""
    stranger = server.user_with([])
    elsewhere = server.user_with(["userAdmin"], new_name())
    administrator = server.user_with(["userAdmin"], "app")
    with server.root() as root:
        before = everything(root)
        for known in (name, "nobody"):
            body = {command: known, field: []}
            for connection in (root, administrator):
                text = connection.refused(2, "app", body)
                assert text == f'{command} command requires a non-empty "{field}" array'
            for connection in (stranger, elsewhere):
                connection.forbidden("app", body)
            if field == "privileges":
                # A privilege without actions is refused like an empty list.
                nothing = {"resource": {"db": "app", "collection": "c"}, "actions": []}
                for connection in (root, stranger):
                    assert connection.refused(9, "app", {command: known, field: [nothing]})
        assert everything(root) == before


def test_updates_to_nothing(server):
    stranger = server.user_with([])
    with server.root() as root:
        root.ok("app", {"createUser": "bare", "pwd": "pw", "roles": []})
        root.ok("app", {"createRole": "bare", "privileges": [], "roles": []})
        before = everything(root)
        for body in (
            {"updateUser": "bare", "roles": []},
            {"updateUser": "ann", "roles": []},
            {"updateUser": "nobody", "roles": []},
            {"updateUser": "bare", "authenticationRestrictions": []},
            {"updateUser": "bare", "customData": {}},
            {"updateUser": "bare", "mechanisms": ["SCRAM-SHA-256"]},
            {"updateRole": "bare", "roles": []},
            {"updateRole": "one", "privileges": []},
            {"updateRole": "nobody", "privileges": []},
        ):
            stranger.forbidden("app", body)
        assert everything(root) == before


def test_refusals_are_bounded_in_the_log(server):
    name = server.new_user([])
    connection = server.login(name)
    for _ in range(1_000):
        connection.forbidden("admin", {"grantRolesToUser": "root", "roles": []})
        connection.ok("admin", {"killSessions": []})
    found = lines(server, f"{name}@admin")
    assert not [it for it in found if it["action"] == "grantRolesToUser" and it["outcome"] == 0]
    # At most a hundred a second are logged, and the slowest machine needs less than ten seconds.
    assert len(found) < 1_500
