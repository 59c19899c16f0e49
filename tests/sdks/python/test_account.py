"""Starting a client: the account, its endpoints, and authentication."""

import base64
import binascii
import json
import os
import ssl
import time
import urllib.request

import pytest
from azure.core.credentials import AccessToken
from azure.cosmos import CosmosClient
from conftest import ENDPOINT, KEY, TEXTS, refused

HTTPS = os.environ["EBB_HTTPS_ENDPOINT"]
pytestmark = pytest.mark.filterwarnings("ignore:Unverified HTTPS")


@pytest.fixture
def certificate(tmp_path):
    with urllib.request.urlopen(ENDPOINT + "/_explorer/emulator.pem") as answer:
        path = tmp_path / "emulator.pem"
        path.write_bytes(answer.read())
    return str(path)


def account(client):
    """Returns the account properties of `GET /`; the two clients name the method differently."""
    read = getattr(
        client,
        "get_database_account" if isinstance(client, CosmosClient) else "_get_database_account",
    )
    return read()


def addresses(client):
    found = account(client)
    return [
        place["databaseAccountEndpoint"]
        for place in found.WritableLocations + found.ReadableLocations
    ]


def test_the_account_names_the_address_that_was_used(client):
    assert addresses(client) == [ENDPOINT + "/"] * 2
    assert account(client).ConsistencyPolicy["defaultConsistencyLevel"] == "Session"


def test_it_echoes_a_host_name(connect):
    endpoint = ENDPOINT.replace("127.0.0.1", "localhost")
    client = connect(endpoint=endpoint)
    assert addresses(client) == [endpoint + "/"] * 2
    assert isinstance(list(client.list_databases()), list)


def test_https_with_the_certificate_of_the_server(connect, flavor, certificate, db):
    if flavor == "sync":
        client = connect(endpoint=HTTPS, connection_verify=certificate)
    else:
        context = ssl.create_default_context(cafile=certificate)
        client = connect(endpoint=HTTPS, connection_verify=context)
    assert addresses(client) == [HTTPS + "/"] * 2
    assert db.id in [found["id"] for found in client.list_databases()]


def test_https_without_looking_at_the_certificate(connect, db):
    client = connect(endpoint=HTTPS, connection_verify=False)
    assert db.id in [found["id"] for found in client.list_databases()]


def test_a_connection_string():
    with CosmosClient.from_connection_string(
        f"AccountEndpoint={ENDPOINT}/;AccountKey={KEY};"
    ) as client:
        assert isinstance(list(client.list_databases()), list)


def test_a_wrong_key_is_401(connect):
    wrong = base64.b64encode(b"w" * 64).decode()
    with refused(401, text=TEXTS["unauthorized"]):
        client = connect(wrong)
        list(client.list_databases())


def test_the_secondary_key_does_all(connect, container):
    database_id = container.container_link.split("/")[1]
    same = (
        connect(os.environ["EBB_SECONDARY_KEY"])
        .get_database_client(database_id)
        .get_container_client(container.id)
    )
    same.create_item({"id": "1", "pk": "a"})
    assert container.read_item("1", "a")["id"] == "1"


def test_a_read_only_key_reads_and_queries(connect, container, query):
    made = container.create_item({"id": "1", "pk": "a"})
    client = connect(os.environ["EBB_READONLY_KEY"])
    database = client.get_database_client(container.container_link.split("/")[1])
    same = database.get_container_client(container.id)
    assert same.read_item("1", "a") == made
    assert list(query(same, "SELECT * FROM c")) == [made]
    assert list(same.read_all_items()) == [made]
    assert next(iter(same.query_items_change_feed(start_time="Beginning")))["id"] == "1"
    for write in (
        lambda: same.create_item({"id": "2", "pk": "a"}),
        lambda: same.upsert_item({"id": "1", "pk": "a", "n": 1}),
        lambda: same.replace_item("1", {"id": "1", "pk": "a", "n": 1}),
        lambda: same.patch_item("1", "a", [{"op": "set", "path": "/n", "value": 1}]),
        lambda: same.delete_item("1", "a"),
        lambda: same.execute_item_batch([("upsert", ({"id": "1", "pk": "a"},))], partition_key="a"),
        lambda: database.delete_container(container.id),
        lambda: client.create_database("never"),
    ):
        with refused(403):
            write()
    assert list(container.read_all_items()) == [made]


def test_a_key_that_is_no_base64_never_reaches_the_server(connect):
    with pytest.raises(binascii.Error):
        connect("no key").create_database("never")


class Emulated:
    """The emulator's token of local development: with the key in place of a signature."""

    def token(self):
        def part(value):
            return base64.urlsafe_b64encode(value.encode()).decode().rstrip("=")

        now = int(time.time())
        header = {
            "typ": "JWT",
            "alg": "RS256",
            "x5t": "CosmosEmulatorPrimaryMaster",
            "kid": "CosmosEmulatorPrimaryMaster",
        }
        claims = {
            "aud": "https://localhost.localhost",
            "iss": "https://sts.fake-issuer.net/7b1999a1-dfd7-440e-8204-00170979b984",
            "iat": now - 60,
            "nbf": now - 60,
            "exp": now + 3600,
            "aio": "",
            "appid": "localhost",
            "appidacr": "1",
            "idp": "https://localhost:8081/",
            "oid": "96313034-4739-43cb-93cd-74193adbe5b6",
            "rh": "",
            "sub": "localhost",
            "tid": "EmulatorFederation",
            "uti": "",
            "ver": "1.0",
            "scp": "user_impersonation",
            "groups": ["7ce1d003-4cb3-4879-b7c5-74062a35c66e"],
        }
        return AccessToken(
            f"{part(json.dumps(header))}.{part(json.dumps(claims))}.{part(KEY)}", now + 3600
        )


class EmulatedSync(Emulated):
    def get_token(self, *_scopes, **_options):
        return self.token()


class EmulatedAsync(Emulated):
    async def get_token(self, *_scopes, **_options):
        return self.token()

    async def close(self):
        pass

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_what):
        pass


def test_a_token_of_local_development(connect, flavor, container):
    container.create_item({"id": "1", "pk": "a"})
    # Such tokens require https.
    credential = EmulatedSync() if flavor == "sync" else EmulatedAsync()
    client = connect(credential, endpoint=HTTPS, connection_verify=False)
    database_id = container.container_link.split("/")[1]
    same = client.get_database_client(database_id).get_container_client(container.id)
    assert same.read_item("1", "a")["id"] == "1"
