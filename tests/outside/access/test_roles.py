"""Roles: the actions and resources that they permit. Changes take effect with the next command,
also on open connections."""

import pytest

from access.guarded import may, new_name

FIND = {"find": "c"}
INSERT = {"insert": "c", "documents": [{"x": 1}]}


def role_of(reply):
    assert len(reply["roles"]) == 1, reply
    return reply["roles"][0]


def test_giving_and_taking_counts_at_once(server, root, database):
    user = server.new_user([], database)
    connection, another = (server.login(user, database=database) for _ in range(2))
    for _ in range(2):
        connection.forbidden(database, FIND)
        root.ok(database, {"grantRolesToUser": user, "roles": ["read"]})
        for it in (connection, another):
            it.ok(database, FIND)
            it.forbidden(database, INSERT)
        root.ok(database, {"grantRolesToUser": user, "roles": ["readWrite", "read"]})
        connection.ok(database, INSERT)
        root.ok(database, {"revokeRolesFromUser": user, "roles": ["readWrite"]})
        connection.forbidden(database, INSERT)
        another.ok(database, FIND)
        root.ok(database, {"updateUser": user, "roles": []})
        another.forbidden(database, FIND)


def test_a_privilege_on_one_collection(server, database):
    connection, _ = server.user_who_may(may("find insert", database, "c"), database=database)
    connection.ok(database, FIND)
    connection.ok(database, INSERT)
    for body in (
        {"find": "d"},
        {"find": "cc"},
        {"find": "c.d"},
        {"insert": "d", "documents": [{}]},
        {"delete": "c", "deletes": [{"q": {}, "limit": 0}]},
        {"update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}]},
        {"drop": "c"},
        {"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a"}]},
        {"listIndexes": "c"},
        {"collStats": "c"},
        {"listCollections": 1},
        {"dbStats": 1},
        {"dropDatabase": 1},
    ):
        connection.forbidden(database, body)
    connection.forbidden(new_name(), FIND)


def test_a_privilege_on_a_collection_of_any_database(server, database):
    connection, _ = server.user_who_may(may("find", "", "c"))
    connection.ok(database, FIND)
    connection.ok(new_name(), FIND)
    connection.forbidden(database, {"find": "d"})


def test_privileges_on_everything_and_on_the_server(server, database):
    everything, _ = server.user_who_may({"resource": {"anyResource": True}, "actions": ["find"]})
    everything.ok(database, FIND)
    everything.forbidden(database, INSERT)
    cluster = {"resource": {"cluster": True}, "actions": ["serverStatus"]}
    status, _ = server.user_who_may(cluster)
    status.ok("admin", {"serverStatus": 1})
    status.forbidden("admin", {"hostInfo": 1})
    status.forbidden(database, FIND)
    anything, _ = server.user_who_may({"resource": {"anyResource": True}, "actions": ["anyAction"]})
    anything.ok(database, INSERT)
    anything.ok("admin", {"serverStatus": 1})


def test_roles_of_roles(server, root, database):
    inner, middle, outer = (new_name("role") for _ in range(3))
    root.ok(database, {"createRole": inner, "privileges": [may("find", database)], "roles": []})
    root.ok(database, {"createRole": middle, "privileges": [], "roles": [inner]})
    root.ok(database, {"createRole": outer, "privileges": [], "roles": []})
    connection = server.user_with([outer], database)
    connection.forbidden(database, FIND)
    root.ok(database, {"grantRolesToRole": outer, "roles": [middle]})
    connection.ok(database, FIND)
    shown = role_of(root.ok(database, {"rolesInfo": outer, "showPrivileges": True}))
    assert [role["role"] for role in shown["roles"]] == [middle]
    assert {role["role"] for role in shown["inheritedRoles"]} == {middle, inner}
    assert (shown["privileges"], shown["isBuiltin"]) == ([], False)
    assert shown["inheritedPrivileges"] == [may("find", database)]
    # A change of an indirectly inherited role takes effect.
    root.ok(database, {"grantPrivilegesToRole": inner, "privileges": [may("insert", database)]})
    connection.ok(database, INSERT)
    root.ok(database, {"revokePrivilegesFromRole": inner, "privileges": [may("find", database)]})
    connection.forbidden(database, FIND)
    root.ok(database, {"revokeRolesFromRole": middle, "roles": [inner]})
    connection.forbidden(database, INSERT)


def test_roles_in_a_circle(root, database):
    one, two = new_name("role"), new_name("role")
    root.ok(database, {"createRole": one, "privileges": [], "roles": []})
    root.ok(database, {"createRole": two, "privileges": [], "roles": [one]})
    root.refused(49, database, {"grantRolesToRole": one, "roles": [two]})
    root.refused(49, database, {"grantRolesToRole": one, "roles": [one]})
    root.refused(49, database, {"updateRole": one, "roles": [two]})


def test_dropping_a_role_takes_it_from_everybody(server, root, database):
    connection, role = server.user_who_may(may("find", database), database=database)
    ((user, _),) = connection.who()
    outer = new_name("role")
    root.ok(database, {"createRole": outer, "privileges": [], "roles": [role]})
    other = server.user_with([outer], database)
    other.ok(database, FIND)
    root.ok(database, {"dropRole": role})
    connection.forbidden(database, FIND)
    other.forbidden(database, FIND)
    # A new role of the same name is another role.
    again = {"createRole": role, "privileges": [may("find insert", database)], "roles": []}
    root.ok(database, again)
    connection.forbidden(database, FIND)
    other.forbidden(database, FIND)
    assert root.ok(database, {"usersInfo": user})["users"][0]["roles"] == []
    assert role_of(root.ok(database, {"rolesInfo": outer}))["roles"] == []
    assert root.ok(database, {"dropAllRolesFromDatabase": 1})["n"] == 2
    assert root.ok(database, {"rolesInfo": 1})["roles"] == []


def test_roles_of_another_database(server, root, database):
    elsewhere = new_name()
    connection = server.user_with([{"role": "read", "db": elsewhere}], database)
    connection.ok(elsewhere, FIND)
    connection.forbidden(database, FIND)
    # A role outside `admin` may refer to its own database only.
    for body in (
        {"createRole": new_name(), "privileges": [may("find", elsewhere)], "roles": []},
        {"createRole": new_name(), "privileges": [may("find", "")], "roles": []},
        {
            "createRole": new_name(),
            "privileges": [{"resource": {"cluster": True}, "actions": ["inprog"]}],
            "roles": [],
        },
        {
            "createRole": new_name(),
            "privileges": [],
            "roles": [{"role": "read", "db": elsewhere}],
        },
    ):
        root.refused(49, database, body)
    both = new_name("role")
    privileges = [may("find", elsewhere, "c"), may("insert", database, "c")]
    root.ok("admin", {"createRole": both, "privileges": privileges, "roles": []})
    connection = server.user_with([both])
    connection.ok(elsewhere, FIND)
    connection.forbidden(database, FIND)
    connection.ok(database, INSERT)


def test_roles_of_one_name_in_two_databases(server, root, database):
    role, elsewhere = new_name("role"), new_name()
    root.ok(database, {"createRole": role, "privileges": [may("find", database)], "roles": []})
    root.ok(elsewhere, {"createRole": role, "privileges": [may("find", elsewhere)], "roles": []})
    connection = server.user_with([{"role": role, "db": elsewhere}], database)
    connection.ok(elsewhere, FIND)
    connection.forbidden(database, FIND)
    root.ok(database, {"dropRole": role})
    connection.ok(elsewhere, FIND)


REFUSED = [
    (51002, lambda role: {"createRole": role, "privileges": [], "roles": []}),
    (31, lambda role: {"createRole": new_name(), "privileges": [], "roles": ["nothing"]}),
    (31, lambda role: {"updateRole": "nothing", "roles": []}),
    (31, lambda role: {"dropRole": "nothing"}),
    (31, lambda role: {"grantRolesToRole": role, "roles": ["nothing"]}),
    (31, lambda role: {"grantRolesToRole": "nothing", "roles": ["read"]}),
    (31, lambda role: {"grantPrivilegesToRole": "nothing", "privileges": [may("find", "x")]}),
    (49, lambda role: {"dropRole": "read"}),
    (49, lambda role: {"updateRole": "read", "roles": []}),
    (49, lambda role: {"grantRolesToRole": "read", "roles": [role]}),
    (2, lambda role: {"updateRole": role}),
    (2, lambda role: {"createRole": "read", "privileges": [], "roles": []}),
    (2, lambda role: {"createRole": "", "privileges": [], "roles": []}),
    (40414, lambda role: {"createRole": new_name(), "roles": []}),
    (40414, lambda role: {"createRole": new_name(), "privileges": []}),
    (40415, lambda role: {"createRole": new_name(), "privileges": [], "roles": [], "x": 1}),
    (14, lambda role: {"createRole": 1, "privileges": [], "roles": []}),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_commands_about_roles_that_cannot_be(root, database, number):
    role = new_name("role")
    root.ok(database, {"createRole": role, "privileges": [], "roles": []})
    code, body = REFUSED[number]
    root.refused(code, database, body(role))


def test_privileges_that_cannot_be(root):
    for resource, actions in (
        ({}, ["find"]),
        ({"db": "x"}, ["find"]),
        ({"cluster": True, "db": "x", "collection": ""}, ["find"]),
        ({"cluster": False}, ["find"]),
        ({"db": "x", "collection": ""}, ["noSuchAction"]),
        ({"db": "x", "collection": ""}, "find"),
        ({"db": "x", "collection": 1}, ["find"]),
    ):
        privileges = [{"resource": resource, "actions": actions}]
        body = {"createRole": new_name(), "privileges": privileges, "roles": []}
        assert root.ask_for("admin", body)["ok"] == 0, resource


def test_what_rolesinfo_shows(server, root, database):
    roles = sorted(new_name("role") for _ in range(2))
    for role in roles:
        privileges = [may("find insert", database, "c")]
        root.ok(database, {"createRole": role, "privileges": privileges, "roles": ["read"]})
    plain = root.ok(database, {"rolesInfo": 1})["roles"]
    assert [role["role"] for role in plain] == roles
    assert set(plain[0]) == {"_id", "role", "db", "roles", "inheritedRoles", "isBuiltin"}
    assert plain[0]["_id"] == f"{database}.{roles[0]}"
    assert plain[0]["roles"] == [{"role": "read", "db": database}]
    full = root.ok(database, {"rolesInfo": roles[0], "showPrivileges": True})
    assert role_of(full)["privileges"] == [may("find insert", database, "c")]
    inherited = role_of(full)["inheritedPrivileges"]
    whole = next(it for it in inherited if it["resource"]["collection"] == "")
    assert {"find", "listCollections", "killCursors"} <= set(whole["actions"])
    named = [{"role": roles[1], "db": database}, "read", "nothing"]
    assert [it["role"] for it in root.ok(database, {"rolesInfo": named})["roles"]] in (
        [roles[1], "read"],
        ["read", roles[1]],
    )
    everything = root.ok(database, {"rolesInfo": 1, "showBuiltinRoles": True})["roles"]
    assert {"read", "dbOwner", *roles} <= {it["role"] for it in everything}
    # A user without the right to view roles sees its own ones.
    connection = server.user_with([roles[0]], database)
    connection.forbidden(database, {"rolesInfo": 1})
    connection.forbidden(database, {"rolesInfo": roles[1]})
    assert role_of(connection.ok(database, {"rolesInfo": roles[0]}))["role"] == roles[0]


def test_what_connectionstatus_shows(server, root, database):
    connection, role = server.user_who_may(may("find", database, "c"), database=database)
    info = connection.ok(database, {"connectionStatus": 1, "showPrivileges": True})["authInfo"]
    assert info["authenticatedUserRoles"] == [{"role": role, "db": database}]
    assert info["authenticatedUserPrivileges"] == [may("find", database, "c")]
    ((user, _),) = connection.who()
    root.ok(database, {"grantRolesToUser": user, "roles": ["read"]})
    info = connection.ok(database, {"connectionStatus": 1})["authInfo"]
    assert {it["role"] for it in info["authenticatedUserRoles"]} == {role, "read"}
    assert "authenticatedUserPrivileges" not in info
