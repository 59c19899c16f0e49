"""Fixtures: both clients of the SDK, a fresh container per test, and the manual clock."""

import asyncio
import itertools
import json
import os
import pathlib
import signal
import urllib.request
from contextlib import contextmanager
from datetime import UTC, datetime

import azure.cosmos
import azure.cosmos.aio
import pytest
from azure.cosmos import PartitionKey
from azure.cosmos.exceptions import CosmosHttpResponseError
from blocking import Proxy

ENDPOINT = os.environ["EBB_ENDPOINT"]
KEY = os.environ["EBB_KEY"]
EXPECTED = json.loads(pathlib.Path(os.environ["EBB_EXPECTATIONS"]).read_text())
TEXTS = EXPECTED["texts"]
CODES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    412: "PreconditionFailed",
    413: "RequestEntityTooLarge",
}
SYSTEM = {"_rid", "_self", "_etag", "_ts", "_attachments"}
PATIENCE = int(os.environ.get("PATIENCE", "60"))
numbers = itertools.count(1)


def bare(item):
    """Returns an item without the server's system properties."""
    return {name: value for name, value in item.items() if name not in SYSTEM}


def ids(items):
    return sorted(item["id"] for item in items)


@contextmanager
def refused(status, sub_status=0, text=""):
    """Checks that the body fails with this status and message."""
    with pytest.raises(CosmosHttpResponseError) as caught:
        yield caught
    error = caught.value
    assert (error.status_code, error.sub_status or 0) == (status, sub_status), str(error)
    body = json.loads(error.http_error_message)
    assert body["code"] == CODES[status]
    assert text in body["message"]


class Clock:
    """The server's manual clock, which is at full seconds."""

    url = os.environ["EBB_ADMIN"] + "/_ebb/clock"

    def now(self):
        with urllib.request.urlopen(self.url) as answer:
            return json.load(answer)["now_ms"] // 1000

    def date(self):
        return datetime.fromtimestamp(self.now(), UTC)

    def advance(self, seconds):
        body = json.dumps({"advance_seconds": seconds}).encode()
        headers = {"content-type": "application/json"}
        urllib.request.urlopen(urllib.request.Request(self.url, body, headers)).close()


@pytest.fixture(autouse=True)
def patience():
    """Makes a test without a reply fail instead of waiting forever."""

    def tired(_signal, _frame):
        pytest.fail(f"no end after {PATIENCE} seconds")

    signal.signal(signal.SIGALRM, tired)
    signal.alarm(PATIENCE)
    yield
    signal.alarm(0)


@pytest.fixture(scope="session")
def clock():
    return Clock()


@pytest.fixture(scope="session")
def loop():
    loop = asyncio.new_event_loop()
    yield loop
    loop.close()


@pytest.fixture(scope="session", params=["sync", "aio"])
def flavor(request):
    return request.param


@pytest.fixture(scope="session")
def connect(flavor, loop):
    """Creates clients of this flavor; they are closed at the end."""
    opened = []

    def connect(credential=KEY, endpoint=ENDPOINT, **options):
        if flavor == "sync":
            client = azure.cosmos.CosmosClient(endpoint, credential, **options)
            opened.append(client.close)
            return client
        client = azure.cosmos.aio.CosmosClient(endpoint, credential, **options)
        opened.append(lambda: loop.run_until_complete(client.close()))
        loop.run_until_complete(client.__aenter__())
        return Proxy(client, loop)

    yield connect
    for close in opened:
        close()


@pytest.fixture(scope="session")
def client(connect):
    return connect()


@pytest.fixture(scope="session")
def db(client, flavor):
    return client.create_database(f"python-{flavor}")


@pytest.fixture
def make(db):
    """Creates containers, with a partition key `/pk` by default."""
    return lambda key="/pk", **options: db.create_container(
        f"c{next(numbers)}",
        PartitionKey(key, **({"kind": "MultiHash"} if isinstance(key, list) else {})),
        **options,
    )


@pytest.fixture
def container(make):
    return make()


@pytest.fixture
def query(flavor):
    """Runs a query over all partitions or, with partition_key, in one."""

    def query(container, text, parameters=None, **options):
        if flavor == "sync" and not {"partition_key", "feed_range"} & options.keys():
            options["enable_cross_partition_query"] = True
        named = [{"name": name, "value": value} for name, value in (parameters or {}).items()]
        return container.query_items(text, parameters=named, **options)

    return query


def in_partition(value):
    """Returns a hook that replaces the partition key of the SDK's request."""

    def hook(request):
        request.http_request.headers["x-ms-documentdb-partitionkey"] = json.dumps([value])

    return hook


def changes(container, **options):
    """Reads the change feed once: returns its items and its continuation."""
    items = list(container.query_items_change_feed(**options))
    return items, container.client_connection.last_response_headers["etag"]
