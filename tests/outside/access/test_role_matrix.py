"""Every command of the server with every built-in role: it fails with 13 exactly where MongoDB's
manual gives no right to it. `matrix.py` has the table."""

import pytest

from access.guarded import new_name
from access.matrix import (
    BODIES,
    EVERYWHERE,
    ON_OWN,
    OPEN,
    OTHER,
    OWN,
    bodies,
    permitted,
    role_database as database_of,
)

ROLES = [*ON_OWN, *EVERYWHERE]


def commands(root):
    return root.ok("admin", {"listCommands": 1})["commands"]


def is_refused(connection, to, body):
    return connection.ask_for(to, body).get("code") == 13


def test_every_command_is_in_the_table(root):
    assert set(commands(root)) == BODIES


def test_every_builtin_role_is_in_the_table(root):
    for database, wanted in (("admin", ROLES), (OWN, ON_OWN)):
        reply = root.ok(database, {"rolesInfo": 1, "showBuiltinRoles": True})
        assert {role["role"] for role in reply["roles"]} == set(wanted)
        assert all(role["isBuiltin"] and role["db"] == database for role in reply["roles"])


def test_what_needs_no_login_is_in_the_table(root):
    assert {name for name, it in commands(root).items() if not it["requiresAuth"]} == OPEN


def test_nothing_else_runs_before_a_login(server):
    connection = server.connection()
    for name, (to, body) in bodies(OWN).items():
        reply = connection.ask_for(to, body)
        if name in OPEN:
            assert reply.get("code") != 13, f"{name}: {reply}"
            continue
        text = f"Command {name} requires authentication"
        assert (reply["ok"], reply["code"], reply["errmsg"]) == (0, 13, text), reply


@pytest.mark.parametrize("database", [OWN, OTHER])
@pytest.mark.parametrize("role", ROLES)
def test_a_role_permits_what_the_manual_says(server, role, database):
    name = server.new_user([{"role": role, "db": database_of(role)}])
    connection = server.login(name)
    found = set()
    for command, (to, body) in bodies(database).items():
        if not is_refused(connection, to, body):
            found.add(command)
        if command == "logout":
            connection = server.login(name)
    wanted = permitted(role, database)
    more, less = found - wanted, wanted - found
    assert not more and not less, f"permits beside it {sorted(more)}, and not {sorted(less)}"


def test_a_user_without_roles_may_do_what_everybody_may(server):
    connection = server.user_with([])
    for command, (to, body) in bodies(new_name()).items():
        if command == "logout":
            continue
        wanted = command in permitted("read", OTHER)
        assert is_refused(connection, to, body) != wanted, command
