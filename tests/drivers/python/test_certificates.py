"""TLS, and logging in with a certificate: accepted clients, and the errors of the others."""

import os
import pathlib

import pytest
from conftest import PATIENCE, REFUSAL
from pymongo import MongoClient
from pymongo.errors import OperationFailure, ServerSelectionTimeoutError

FILES = pathlib.Path(os.environ["EBB_TLS"])
SUBJECT = "CN=ann,OU=drivers,O=ebb"


def over_tls(authority="ca", **options):
    """Returns a client that trusts an authority."""
    patience = {"serverSelectionTimeoutMS": REFUSAL if authority == "other" else PATIENCE}
    options = patience | options | {"tls": True, "tlsCAFile": str(FILES / f"{authority}.pem")}
    return MongoClient(os.environ["EBB_LOGIN_URI"], **options)


def with_certificate(name, **options):
    file = str(FILES / f"{name}.pem")
    return over_tls(tlsCertificateKeyFile=file, authMechanism="MONGODB-X509", **options)


def as_root(mechanism="SCRAM-SHA-256"):
    password = os.environ["EBB_LOGIN_PASSWORD"]
    return over_tls(username="root", password=password, authMechanism=mechanism)


@pytest.fixture(autouse=True, scope="module")
def ann():
    """A user with a certificate who may read the database `tls`."""
    with as_root() as root:
        root.tls.coll.insert_one({"_id": 1})
        roles = [{"role": "read", "db": "tls"}]
        root["$external"].command("createUser", SUBJECT, roles=roles)
        yield
        root["$external"].command("dropAllUsersFromDatabase", 1)


def test_a_user_logs_in_with_her_certificate(expected):
    with with_certificate("ann") as client:
        assert client.tls.coll.find_one() == {"_id": 1}
        info = client.admin.command("connectionStatus")["authInfo"]
        assert info["authenticatedUsers"] == [{"user": SUBJECT, "db": "$external"}]
        for refused in (
            lambda: client.tls.coll.insert_one({}),
            lambda: client.other.coll.find_one(),
        ):
            with pytest.raises(OperationFailure) as error:
                refused()
            assert error.value.code == expected["logins"]["missingRight"]


def test_a_certificate_that_no_user_has_is_refused(expected):
    with with_certificate("eve") as client, pytest.raises(OperationFailure) as error:
        client.tls.coll.find_one()
    assert error.value.code == expected["logins"]["wrongPassword"]


def test_a_certificate_of_another_authority_ends_the_handshake():
    with (
        with_certificate("stranger", serverSelectionTimeoutMS=REFUSAL) as client,
        pytest.raises(ServerSelectionTimeoutError),
    ):
        client.tls.coll.find_one()


def test_a_server_that_is_not_believed():
    with (
        over_tls("other") as client,
        pytest.raises(ServerSelectionTimeoutError, match="certificate"),
    ):
        client.tls.coll.find_one()


def test_passwords_and_tls(expected):
    for mechanism in expected["logins"]["mechanisms"]:
        with as_root(mechanism) as root:
            assert root.admin.command("ping")["ok"] == 1
