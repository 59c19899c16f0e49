"""Logging in: both mechanisms, a wrong password, and a missing privilege."""

import os

import pytest
from pymongo import MongoClient
from pymongo.errors import OperationFailure

URI = os.environ["EBB_LOGIN_URI"]
MECHANISMS = ["SCRAM-SHA-1", "SCRAM-SHA-256", None]


def login(user, password, **options):
    return MongoClient(URI, username=user, password=password, **options)


def as_ann(mechanism, password="ann's password"):
    chosen = {"authMechanism": mechanism} if mechanism else {}
    return login("ann", password, authSource="python", **chosen)


@pytest.fixture(autouse=True, scope="module")
def ann():
    """A user who may read the database `python`."""
    with login("root", os.environ["EBB_LOGIN_PASSWORD"]) as root:
        root.python.coll.insert_one({"_id": 1})
        root.python.command("createUser", "ann", pwd="ann's password", roles=["read"])
        root.python.command("createUser", "old", pwd="pw", roles=[], mechanisms=MECHANISMS[:1])
        yield
        root.python.command("dropAllUsersFromDatabase", 1)


def test_the_table_has_all_mechanisms(expected):
    assert expected["logins"]["mechanisms"] == MECHANISMS[:2]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_user_logs_in(mechanism):
    with as_ann(mechanism) as client:
        assert client.python.coll.find_one() == {"_id": 1}
        info = client.admin.command("connectionStatus")["authInfo"]
        assert info["authenticatedUsers"] == [{"user": "ann", "db": "python"}]


def test_a_user_of_the_older_mechanism_alone():
    """The driver asks the server which mechanism to use."""
    with login("old", "pw", authSource="python") as client:
        assert client.admin.command("ping")["ok"] == 1


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_wrong_password_is_refused(expected, mechanism):
    with as_ann(mechanism, "wrong") as client, pytest.raises(OperationFailure) as error:
        client.python.coll.find_one()
    assert error.value.code == expected["logins"]["wrongPassword"]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_missing_right_is_told(expected, mechanism):
    with as_ann(mechanism) as client:
        for write in (
            lambda: client.python.coll.insert_one({}),
            lambda: client.other.coll.find_one(),
        ):
            with pytest.raises(OperationFailure) as error:
                write()
            assert error.value.code == expected["logins"]["missingRight"]


def test_who_does_not_log_in_is_told(expected):
    with MongoClient(URI) as client, pytest.raises(OperationFailure) as error:
        client.python.coll.find_one()
    assert error.value.code == expected["logins"]["missingRight"]
