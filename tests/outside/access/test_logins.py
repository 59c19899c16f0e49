"""Logins through a driver and by hand: users, mechanisms, passwords, and the end of a login."""

import hashlib
import threading
import time

import pymongo
import pytest
from pymongo.errors import OperationFailure

from access.guarded import ROOT, ROOT_PASSWORD, Guarded, new_name
from access.scram import MECHANISMS

#: Passwords as they are set, and equivalent ones after SASLprep that log in by SCRAM-SHA-256.
PREPARED = [
    ("I\u00adX", "IX"),
    ("IX", "I\u00adX"),
    ("\u2168", "IX"),
    ("a\u00a0b", "a b"),
    ("e\u0301", "é"),
    ("pa=ss,word", "pa=ss,word"),
    ("пароль-密码-☃", "пароль-密码-☃"),
    ("x" * 1000, "x" * 1000),
]
#: Maximum number of attempts at a login that has to wait.
ROUNDS = 10
#: User names with characters that SCRAM escapes, and with non-ASCII characters.
NAMES = ["a,b=c", "=2C", "jörg", "名前", "with space", "dot.ted", "u" * 200]


def driver(server, user, password="pw", **options):
    return server.connect(username=user, password=password, **options)


def logged_in(client):
    info = client.admin.command("connectionStatus")["authInfo"]["authenticatedUsers"]
    return [(user["user"], user["db"]) for user in info]


def refused(client, code=18):
    with client, pytest.raises(OperationFailure) as error:
        client.admin.command("listDatabases")
    assert error.value.code == code, error.value
    return error.value


@pytest.mark.parametrize("mechanism", [None, *MECHANISMS])
def test_a_driver_logs_in(server, mechanism):
    chosen = {} if mechanism is None else {"authMechanism": mechanism}
    with driver(server, ROOT, ROOT_PASSWORD, **chosen) as client:
        assert logged_in(client) == [(ROOT, "admin")]
        assert client.admin.command("listDatabases")["ok"] == 1
    error = refused(driver(server, ROOT, "wrong", **chosen))
    assert error.details["codeName"] == "AuthenticationFailed"


def test_a_driver_logs_in_by_its_address(server):
    user = server.new_user(["read"], "app", password="p@ss/w:rd")
    host, port = server.address
    uri = f"mongodb://{user}:p%40ss%2Fw%3Ard@{host}:{port}/app?directConnection=true"
    with pymongo.MongoClient(uri) as client:
        assert client.app.c.find_one() is None
        assert logged_in(client) == [(user, "app")]


def test_users_of_different_databases_are_different_users(server):
    user = server.new_user([], "one", password="first")
    server.new_user([], "two", name=user, password="second")
    for database, right, wrong in (("one", "first", "second"), ("two", "second", "first")):
        with driver(server, user, right, authSource=database) as client:
            assert logged_in(client) == [(user, database)]
        refused(driver(server, user, wrong, authSource=database))
    for elsewhere in ("three", "admin"):
        refused(driver(server, user, "first", authSource=elsewhere))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_an_unknown_user_looks_like_a_wrong_password(server, mechanism):
    known, unknown = server.new_user([]), new_name("nobody")
    for user in (known, unknown):
        connection = server.connection()
        connection.fails_to_login(user, "wrong", mechanism=mechanism)
        assert connection.who() == []
    assert logged_in_as_nobody(server, unknown) == logged_in_as_nobody(server, known)


def logged_in_as_nobody(server, user):
    """Returns the mechanisms that a handshake reports for a user before any login."""
    body = {"hello": 1, "saslSupportedMechs": f"admin.{user}"}
    return server.connection().ok("admin", body)["saslSupportedMechs"]


@pytest.mark.parametrize(("mechanism", "other"), [MECHANISMS, MECHANISMS[::-1]])
def test_a_user_of_one_mechanism(server, mechanism, other):
    user = server.new_user([], mechanisms=[mechanism])
    with driver(server, user) as client:
        assert logged_in(client) == [(user, "admin")]
    server.login(user, mechanism=mechanism)
    refused(driver(server, user, authMechanism=other))
    server.connection().fails_to_login(user, mechanism=other)
    assert logged_in_as_nobody(server, user) == [mechanism]


@pytest.mark.parametrize(("stored", "typed"), PREPARED)
def test_passwords_that_are_not_plain(server, stored, typed):
    user = server.new_user([], password=stored)
    server.login(user, typed)
    with driver(server, user, typed, authMechanism="SCRAM-SHA-256") as client:
        assert logged_in(client) == [(user, "admin")]
    # SCRAM-SHA-1 does not use SASLprep.
    server.login(user, stored, mechanism="SCRAM-SHA-1")
    if stored != typed:
        server.connection().fails_to_login(user, typed, mechanism="SCRAM-SHA-1")


@pytest.mark.parametrize("wrong", ["pW", "pw ", " pw", "pw\u0301", "p", "pww", "pw\u00a0"])
def test_passwords_that_are_nearly_right(server, wrong):
    user = server.new_user([])
    for mechanism in MECHANISMS:
        server.connection().fails_to_login(user, wrong, mechanism=mechanism)


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_not_plain(server, name):
    server.new_user([], "names", name=name)
    for mechanism in MECHANISMS:
        connection = server.login(name, database="names", mechanism=mechanism)
        assert connection.who() == [(name, "names")]
        with driver(server, name, authSource="names", authMechanism=mechanism) as client:
            assert logged_in(client) == [(name, "names")]


def test_passwords_that_cannot_be(root):
    # A control character, mixed directions, and a character that is newer than SASLprep.
    for password in ("", "\u0007bell", "\u0627a", "\U0001f511", 5, None):
        body = {"createUser": new_name("user"), "roles": []}
        body |= {} if password is None else {"pwd": password}
        reply = root.ask_for("admin", body)
        assert reply["ok"] == 0 and reply["code"] in (2, 14, 50692, 40414), f"{password!r}: {reply}"


def test_a_password_that_the_client_digested(server, root):
    name = new_name("user")
    digest = hashlib.md5(f"{name}:mongo:pw".encode()).hexdigest()
    body = {"createUser": name, "pwd": digest, "roles": [], "digestPassword": False}
    root.refused(2, "admin", {**body, "mechanisms": ["SCRAM-SHA-256"]})
    root.ok("admin", {**body, "mechanisms": ["SCRAM-SHA-1"]})
    server.login(name, mechanism="SCRAM-SHA-1")
    server.connection().fails_to_login(name, digest, mechanism="SCRAM-SHA-1")
    server.connection().fails_to_login(name)


def test_a_user_who_is_dropped_is_out(server, root):
    user = server.new_user(["root"])
    connection = server.login(user)
    connection.ok("admin", {"serverStatus": 1})
    root.ok("admin", {"dropUser": user})
    text = connection.refused(13, "admin", {"serverStatus": 1})
    assert "requires authentication" in text
    connection.fails_to_login(user)
    # A new user of the same name is another user.
    server.new_user(["root"], name=user)
    connection.refused(13, "admin", {"serverStatus": 1})
    connection.login(user).ok("admin", {"serverStatus": 1})


def test_a_new_password(server, root):
    user = server.new_user(["read"])
    connection = server.login(user)
    root.ok("admin", {"updateUser": user, "pwd": "new"})
    # Existing logins stay valid.
    connection.ok("admin", {"find": "c"})
    for mechanism in MECHANISMS:
        server.connection().fails_to_login(user, "pw", mechanism=mechanism)
        server.login(user, "new", mechanism=mechanism)


def test_logging_out(server):
    connection = server.user_with(["root"])
    connection.ok("admin", {"serverStatus": 1})
    connection.ok("admin", {"logout": 1})
    assert connection.who() == []
    connection.refused(13, "admin", {"serverStatus": 1})


def test_a_failed_login_on_a_connection_that_is_logged_in(server):
    user = server.new_user(["read"])
    connection = server.login(user)
    connection.fails_to_login(user, "wrong")
    assert connection.who() in ([(user, "admin")], [])
    other = server.login(user)
    other.ok("admin", {"find": "c"})


def test_many_wrong_passwords_make_only_that_user_wait(server):
    user, other = server.new_user([]), server.new_user([])
    for _ in range(10):
        server.connection().fails_to_login(user, "wrong")
    # Ten wrong passwords are free; the correct one is not delayed yet.
    server.login(user)
    # One more delays the next login by up to three seconds. On a busy machine these may have passed
    # before the other user has logged in; then the test tries again.
    for _ in range(ROUNDS):
        server.connection().fails_to_login(user, "wrong")
        waits = threading.Thread(target=server.connection().login, args=(user,))
        waits.start()
        server.login(other)
        has_waited = waits.is_alive()
        waits.join()
        if has_waited:
            return
    raise AssertionError("wrong passwords make nobody wait")


def test_guesses_at_the_same_time(server):
    """The user with the correct password gets in after a while, and other users at once."""
    user, other = server.new_user([]), server.new_user([])
    connections = [server.connection() for _ in range(30)]
    threads = [
        threading.Thread(target=it.fails_to_login, args=(user, "wrong")) for it in connections
    ]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    server.login(other)
    for thread in threads:
        thread.join()
    assert all(it.who() == [] for it in connections)
    server.login(user)
    assert time.monotonic() - began < 30


def test_a_driver_is_told_that_a_mechanism_is_not_offered(server):
    options = {"authMechanism": "PLAIN", "authSource": "$external"}
    refused(driver(server, ROOT, ROOT_PASSWORD, **options), 334)


def test_without_logins_everything_is_permitted_and_logins_work():
    with Guarded(first_user=False) as server:
        connection = server.connection()
        connection.ok("admin", {"createUser": "ann", "pwd": "pw", "roles": []})
        connection.ok("admin", {"serverStatus": 1})
        connection.login("ann")
        assert connection.who() == [("ann", "admin")]
        connection.ok("admin", {"serverStatus": 1})
        server.connection().fails_to_login("ann", "wrong")
