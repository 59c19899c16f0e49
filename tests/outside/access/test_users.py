"""Rights to create, change and view users, and the fields that are shown of them."""

import base64
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import bson
import pytest

from access.guarded import may, new_name

ROOT_ROLE = {"role": "root", "db": "admin"}


def create(name=None, roles=(), **more):
    return {"createUser": name or new_name("user"), "pwd": "pw", "roles": list(roles), **more}


def the_user(reply):
    assert len(reply["users"]) == 1, reply
    return reply["users"][0]


@pytest.fixture
def administrator(server, database):
    """A connection of a user who may only administer the users of the database."""
    return server.user_with(["userAdmin"], database)


def test_an_administrator_of_one_database(server, root, database, administrator):
    elsewhere = new_name()
    user = new_name("user")
    administrator.ok(database, create(user, ["readWrite"]))
    connection = server.login(user, database=database)
    connection.ok(database, {"find": "c"})
    administrator.ok(database, {"updateUser": user, "pwd": "new", "customData": {"a": 1}})
    server.login(user, "new", database)
    administrator.ok(database, {"revokeRolesFromUser": user, "roles": ["readWrite"]})
    administrator.ok(database, {"dropUser": user})
    for at in (elsewhere, "admin"):
        administrator.forbidden(at, create())
        administrator.forbidden(at, {"usersInfo": 1})
        administrator.forbidden(at, {"rolesInfo": 1})
        administrator.forbidden(at, {"dropAllUsersFromDatabase": 1})
        administrator.forbidden(at, {"createRole": "r", "privileges": [], "roles": []})
    # An administrator cannot read, but may grant itself that right.
    administrator.forbidden(database, {"find": "c"})


def test_nobody_gives_what_is_not_theirs(server, root, database, administrator):
    user = server.new_user([], database)
    ((own, _),) = administrator.who()
    elsewhere = {"role": "read", "db": new_name()}
    for role in (ROOT_ROLE, {"role": "userAdminAnyDatabase", "db": "admin"}, elsewhere):
        administrator.forbidden(database, create(roles=[role]))
        administrator.forbidden(database, create(roles=["read", role]))
        for name in (user, own):
            administrator.forbidden(database, {"grantRolesToUser": name, "roles": [role]})
            administrator.forbidden(database, {"updateUser": name, "roles": [role]})
        role_name = new_name("role")
        body = {"createRole": role_name, "privileges": [], "roles": [role]}
        administrator.forbidden(database, body)
    for privilege in (
        may("find", elsewhere["db"]),
        may("find", ""),
        {"resource": {"cluster": True}, "actions": ["shutdown"]},
        {"resource": {"anyResource": True}, "actions": ["anyAction"]},
    ):
        body = {"createRole": new_name(), "privileges": [privilege], "roles": []}
        administrator.forbidden(database, body)
    assert the_user(root.ok(database, {"usersInfo": user}))["roles"] == []


def test_nobody_takes_what_is_not_theirs(server, root, database, administrator):
    elsewhere = {"role": "read", "db": new_name()}
    user = server.new_user([elsewhere, "read"], database)
    body = {"revokeRolesFromUser": user, "roles": [elsewhere]}
    administrator.forbidden(database, body)
    administrator.forbidden(database, {"updateUser": user, "roles": []})
    administrator.forbidden(database, {"updateUser": user, "roles": ["read"]})
    administrator.ok(database, {"revokeRolesFromUser": user, "roles": ["read"]})
    assert the_user(root.ok(database, {"usersInfo": user}))["roles"] == [elsewhere]


def test_an_administrator_of_admin_may_become_root(server, root):
    """As the manual warns: a user who may grant roles of `admin` may grant every role."""
    connection = server.user_with(["userAdmin"])
    ((own, _),) = connection.who()
    connection.forbidden("admin", {"serverStatus": 1})
    cluster = {"resource": {"cluster": True}, "actions": ["serverStatus"]}
    role = new_name("role")
    connection.ok("admin", {"createRole": role, "privileges": [cluster], "roles": []})
    connection.ok("admin", {"grantRolesToUser": own, "roles": [ROOT_ROLE]})
    connection.ok("admin", {"serverStatus": 1})


def test_the_own_password(server, root):
    for actions in ("changeOwnPassword", "changeOwnCustomData"):
        connection, _ = server.user_who_may(may(actions, "admin"))
        ((own, _),) = connection.who()
        other = server.new_user([])
        password, data = {"updateUser": own, "pwd": "new"}, {"updateUser": own, "customData": {}}
        (allowed, denied) = (password, data) if actions.endswith("Password") else (data, password)
        connection.forbidden("admin", denied)
        connection.ok("admin", allowed)
        connection.forbidden("admin", {**allowed, "updateUser": other})
        connection.forbidden("admin", {**allowed, "roles": [ROOT_ROLE]})
        connection.forbidden("admin", {"updateUser": own, "roles": [ROOT_ROLE]})
        server.login(own, "new" if allowed is password else "pw")
    connection, _ = server.user_who_may(may("changeOwnPassword", "admin"))
    ((own, _),) = connection.who()
    # A user of the same name in another database is another user.
    elsewhere = new_name()
    server.new_user([], elsewhere, name=own)
    connection.forbidden(elsewhere, {"updateUser": own, "pwd": "new"})


def test_what_usersinfo_shows(server, root, database):
    names = sorted(new_name("user") for _ in range(2))
    for name in names:
        data = {"of": name}
        root.ok(database, create(name, ["read"], customData=data, mechanisms=["SCRAM-SHA-256"]))
    users = root.ok(database, {"usersInfo": 1})["users"]
    assert [user["user"] for user in users] == names
    shown = users[0]
    assert set(shown) == {"_id", "userId", "user", "db", "customData", "roles", "mechanisms"}
    assert shown["_id"] == f"{database}.{names[0]}"
    assert isinstance(shown["userId"], (bson.Binary, bytes)) and len(shown["userId"]) == 16
    assert shown["roles"] == [{"role": "read", "db": database}]
    assert shown["mechanisms"] == ["SCRAM-SHA-256"]
    for about, wanted in (
        (names[1], names[1:]),
        ({"user": names[0], "db": database}, names[:1]),
        ([names[0], {"user": names[1], "db": database}], names),
        ("nobody", []),
        ([], []),
    ):
        reply = root.ask_for(database, {"usersInfo": about})
        if about == []:
            assert reply["ok"] in (0, 1)
            continue
        assert [user["user"] for user in reply["users"]] == wanted, about
    everybody = root.ok(database, {"usersInfo": {"forAllDBs": True}})["users"]
    assert set(names) | {"root"} <= {user["user"] for user in everybody}
    filtered = {"usersInfo": 1, "filter": {"customData.of": names[1]}}
    assert the_user(root.ok(database, filtered))["user"] == names[1]
    assert root.ok(database, {"usersInfo": 1, "filter": {"user": "x"}})["users"] == []
    plain = root.ok(database, {"usersInfo": names[0], "showCustomData": False})
    assert "customData" not in the_user(plain)


def test_what_usersinfo_shows_when_asked(server, root, database):
    restriction = [{"clientSource": ["127.0.0.1"]}]
    user = new_name("user")
    root.ok(database, create(user, ["read"], authenticationRestrictions=restriction))
    about = {"usersInfo": user}
    shown = the_user(root.ok(database, {**about, "showCredentials": True}))["credentials"]
    assert set(shown) == {"SCRAM-SHA-1", "SCRAM-SHA-256"}
    for mechanism, iterations, key in (("SCRAM-SHA-1", 10_000, 20), ("SCRAM-SHA-256", 15_000, 32)):
        stored = shown[mechanism]
        assert set(stored) == {"iterationCount", "salt", "storedKey", "serverKey"}
        assert stored["iterationCount"] == iterations
        assert len(base64.b64decode(stored["storedKey"])) == key
    shown = the_user(root.ok(database, {**about, "showPrivileges": True}))
    assert shown["inheritedRoles"] == [{"role": "read", "db": database}]
    assert any("find" in it["actions"] for it in shown["inheritedPrivileges"])
    shown = the_user(root.ok(database, {**about, "showAuthenticationRestrictions": True}))
    assert shown["authenticationRestrictions"] == restriction
    assert "credentials" not in shown


def test_who_sees_whom(server, root, database):
    user, other = server.new_user(["dbAdmin"], database), server.new_user([], database)
    connection = server.login(user, database=database)
    assert the_user(connection.ok(database, {"usersInfo": user}))["user"] == user
    for about in (1, other, [user, other], {"forAllDBs": True}, "nobody"):
        connection.forbidden(database, {"usersInfo": about})
    for more in ("showCredentials", "showPrivileges"):
        connection.forbidden(database, {"usersInfo": other, more: True})
    administrator = server.user_with(["userAdmin"], database)
    administrator.ok(database, {"usersInfo": other, "showCredentials": True})
    administrator.forbidden(database, {"usersInfo": {"forAllDBs": True}})
    administrator.forbidden(database, {"usersInfo": {"user": "root", "db": "admin"}})
    anywhere = server.user_with(["userAdminAnyDatabase"])
    anywhere.ok("admin", {"usersInfo": {"forAllDBs": True}, "showCredentials": True})


def test_a_reply_about_users_is_not_larger_than_a_message(server, database):
    root = server.root()
    for number in range(4):
        data = {"x": "x" * 14_000_000}
        if root.ask_for(database, create(f"large{number}", customData=data))["ok"] != 1:
            break
    shown = root.ask_for(database, {"usersInfo": 1})
    assert shown["ok"] == 0 or len(bson.encode(shown)) < 17 * 1024 * 1024
    root.ok(database, {"usersInfo": 1, "showCustomData": False})
    root.ok(database, {"dropAllUsersFromDatabase": 1})


REFUSED = [
    (51003, lambda user: create(user)),
    (31, lambda user: create(roles=["nothing"])),
    (11, lambda user: {"dropUser": "nobody"}),
    (11, lambda user: {"updateUser": "nobody", "pwd": "x"}),
    (11, lambda user: {"grantRolesToUser": "nobody", "roles": ["read"]}),
    (31, lambda user: {"grantRolesToUser": user, "roles": ["nothing"]}),
    (2, lambda user: {"updateUser": user}),
    (2, lambda user: {"updateUser": user, "pwd": ""}),
    (2, lambda user: create(mechanisms=[])),
    (2, lambda user: create(mechanisms=["PLAIN"])),
    (2, lambda user: {"createUser": "", "pwd": "pw", "roles": []}),
    (2, lambda user: {"createUser": "a\0b", "pwd": "pw", "roles": []}),
    (2, lambda user: {"createUser": new_name(), "roles": []}),
    (40414, lambda user: {"createUser": new_name(), "pwd": "pw"}),
    (40415, lambda user: create(unknown=1)),
    (14, lambda user: {"createUser": 1, "pwd": "pw", "roles": []}),
    (14, lambda user: {"createUser": new_name(), "pwd": 1, "roles": []}),
]


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_commands_about_users_that_cannot_be(server, root, database, number):
    user = server.new_user([], database)
    code, body = REFUSED[number]
    body = body(user)
    text = root.refused(code, database, body)
    assert "pw" not in text.replace("'pwd'", "").replace(".pwd", "")
    server.login(user, database=database)


def at_once(*calls):
    """Runs calls concurrently; returns their results."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [it.result() for it in [pool.submit(call) for call in calls]]


def test_changes_at_the_same_time(server, root, database):
    connections = [server.root() for _ in range(8)]
    body = create("once")
    replies = at_once(*(partial(it.ask_for, database, body) for it in connections))
    assert sorted(it.get("code", 0) for it in replies) == [0, *[51003] * 7]
    roles = [new_name("role") for _ in connections]
    for role in roles:
        root.ok(database, {"createRole": role, "privileges": [], "roles": []})
    for command, wanted in (("grantRolesToUser", set(roles)), ("revokeRolesFromUser", set())):
        calls = zip(connections, roles, strict=True)
        at_once(*(partial(it.ok, database, {command: "once", "roles": [r]}) for it, r in calls))
        shown = the_user(root.ok(database, {"usersInfo": "once"}))["roles"]
        assert {role["role"] for role in shown} == wanted


def test_all_users_of_a_database(server, root, database):
    users = [server.new_user([], database) for _ in range(3)]
    connection = server.login(users[0], database=database)
    assert root.ok(database, {"dropAllUsersFromDatabase": 1})["n"] == 3
    assert root.ok(database, {"dropAllUsersFromDatabase": 1})["n"] == 0
    connection.refused(13, database, {"listDatabases": 1})
    server.connection().fails_to_login(users[1], database=database)


def test_dropping_a_database_keeps_its_users(server, root, database):
    user = server.new_user(["dbOwner"], database)
    connection = server.login(user, database=database)
    connection.ok(database, {"dropDatabase": 1})
    connection.ok(database, {"insert": "c", "documents": [{}]})
    server.login(user, database=database)
