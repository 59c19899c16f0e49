"""Fixtures: a client, a fresh collection per test, and the manual clock."""

import json
import os
import pathlib
from datetime import timedelta

import pytest
from bson import json_util
from pymongo import MongoClient
from pymongo.monitoring import CommandListener

URI = os.environ["EBB_URI"]
#: Milliseconds in which a driver connects on a busy machine, and those after which a refused
#: connection is given up.
PATIENCE, REFUSAL = 30_000, 2_000


class Replies(CommandListener):
    """Keeps replies that the driver's helpers discard."""

    def __init__(self):
        self.by_name = {}

    def started(self, event):
        pass

    def succeeded(self, event):
        self.by_name[event.command_name] = event.reply

    def failed(self, event):
        pass

    def last(self, command_name):
        return self.by_name[command_name]


class Clock:
    """The server's manual clock, moved through the driver."""

    def __init__(self, client):
        self.admin = client.admin

    def now(self):
        return self.admin.command("ebbClock", 1)["now"]

    def advance(self, seconds):
        return self.admin.command("ebbClock", 1, advanceSeconds=seconds)["now"]

    def to_whole_second(self):
        """Moves to a full second: TTLs on `_ts` count full seconds."""
        now = self.now()
        if now.microsecond:
            whole = now.replace(microsecond=0) + timedelta(seconds=1)
            self.admin.command("ebbClock", 1, set=whole)


@pytest.fixture(scope="session")
def expected():
    return json_util.loads(pathlib.Path(os.environ["EBB_EXPECTATIONS"]).read_text())


@pytest.fixture(scope="session")
def uri():
    return URI


@pytest.fixture(scope="session")
def replies():
    return Replies()


@pytest.fixture(scope="session")
def client(replies):
    with MongoClient(URI, event_listeners=[replies]) as client:
        yield client


@pytest.fixture
def clock(client):
    clock = Clock(client)
    clock.to_whole_second()
    return clock


@pytest.fixture
def db(client):
    client.drop_database("python")
    return client["python"]


@pytest.fixture
def coll(db):
    return db["coll"]


@pytest.fixture
def post_clock():
    """Moves the clock through the admin address instead."""
    import urllib.request

    def post(body):
        request = urllib.request.Request(
            os.environ["EBB_ADMIN"] + "/_ebb/clock",
            data=json.dumps(body).encode(),
            headers={"content-type": "application/json"},
            method="POST",
        )
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    return post
