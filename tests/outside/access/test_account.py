"""Logins with the name of an account and one of its keys, as the connection strings of Azure Cosmos
DB for MongoDB have them, also with their other options."""

import base64
import subprocess
import urllib.parse

import pymongo
import pytest
from lib.server import EBB_BIN, Server

NAME = "shop"


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    path = tmp_path_factory.mktemp("account") / "account.keys"
    subprocess.run([EBB_BIN, "keys", "new", str(path)], check=True, capture_output=True)
    lines = [line.split(" = ", 1) for line in path.read_text().splitlines() if " = " in line]
    return path, dict(lines)


@pytest.fixture(scope="module")
def server(keys):
    flags = ["--account-name", NAME, "--key-file", str(keys[0]), "--enforce-throughput"]
    server = Server(flags=flags, clock="system")
    with server:
        yield server


def uri(server, key, database="", options="", user=NAME):
    """Returns a connection string of the account with another host."""
    host = "{}:{}".format(*server.address)
    key = urllib.parse.quote(key, safe="")
    usual = (
        "ssl=true&retrywrites=false&maxIdleTimeMS=120000&tlsAllowInvalidCertificates=true"
        f"&serverSelectionTimeoutMS=30000&appName=@{NAME}@"
    )
    return f"mongodb://{user}:{key}@{host}/{database}?{usual}{options}"


def client(*arguments, **options):
    return pymongo.MongoClient(uri(*arguments, **options))


@pytest.mark.parametrize("database", ["", "orders", "admin"])
@pytest.mark.parametrize("options", ["", "&replicaSet=globaldb", "&authSource=else"])
def test_a_string_of_the_account_works(server, keys, database, options):
    with client(server, keys[1]["primary"], database, options) as account:
        account["orders"]["c"].insert_one({"a": 1})
        assert account["orders"]["c"].find_one({"a": 1})
        info = account.admin.command("connectionStatus")["authInfo"]
        assert [user["user"] for user in info["authenticatedUsers"]] == [NAME]


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-1", "SCRAM-SHA-256"])
@pytest.mark.parametrize("key", ["primary", "secondary", "primary-readonly", "secondary-readonly"])
def test_every_key_logs_in(server, keys, mechanism, key):
    with client(server, keys[1][key], options=f"&authMechanism={mechanism}") as account:
        account["orders"]["d"].find_one({})
        if key.endswith("readonly"):
            with pytest.raises(pymongo.errors.OperationFailure) as refused:
                account["orders"]["d"].insert_one({})
            assert refused.value.code == 13
        else:
            account["orders"]["d"].insert_one({})


def test_other_names_and_keys_do_not(server, keys):
    primary = keys[1]["primary"]
    for key, user in ((primary[:-4] + "AAA=", NAME), ("", NAME + "x"), (primary, "other")):
        with client(server, key or primary, user=user) as account:
            with pytest.raises(pymongo.errors.OperationFailure) as refused:
                account["orders"]["c"].find_one({})
            assert refused.value.code == 18


def test_a_replaced_key_ends_its_logins(tmp_path):
    path = tmp_path / "account.keys"
    first, second = (base64.b64encode(bytes([at]) * 32).decode() for at in (1, 2))
    path.write_text(f"primary = {first}\nsecondary = {second}\n")
    path.chmod(0o600)
    flags = ["--account-name", NAME, "--key-file", str(path)]
    with (
        Server(flags=flags, clock="system", log_level="info") as server,
        client(server, first) as old,
        client(server, second) as new,
    ):
        for account in (old, new):
            account["orders"]["c"].insert_one({})
        path.write_text(f"primary = {second}\n")
        server.reload("account keys reloaded")
        with pytest.raises(pymongo.errors.OperationFailure) as refused:
            old["orders"]["c"].find_one({})
        assert refused.value.code == 13
        assert new["orders"]["c"].count_documents({}) == 2


def test_throttled_writes_come_with_their_position(server, keys):
    with client(server, keys[1]["primary"]) as account:
        db = account["limited"]
        made = {"collection": "c", "offerThroughput": 400}
        db.command({"customAction": "CreateCollection", **made})
        writes = [pymongo.InsertOne({"_id": n}) for n in range(500)]
        with pytest.raises(pymongo.errors.BulkWriteError) as refused:
            db["c"].bulk_write(writes)
        error = refused.value.details["writeErrors"][0]
        assert (error["code"], error["index"]) == (16500, refused.value.details["nInserted"])
        assert "RetryAfterMs=" in error["errmsg"]
