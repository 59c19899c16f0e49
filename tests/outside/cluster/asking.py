"""Nodes of a cluster whose clients log in: each is started with the same first user, and asked over
its admin address with the key that all of them keep."""

import contextlib
import json
import threading
import time
import urllib.request

import pymongo
from lib.cluster import Node
from pymongo.errors import OperationFailure, PyMongoError

ROOT, PASSWORD = "root", "the root's password, 1"
#: Seconds within which a change of users and roles counts at all nodes.
BOUND = 1.0
#: What drivers are told of a login that is wrong, and of what a user may not do.
WRONG, FORBIDDEN = 18, 13


class AskingNode(Node):
    """One node that asks for logins."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        path = self.home / "password"
        path.write_text(PASSWORD + "\n")
        path.chmod(0o600)
        self.flags += ["--root-user", ROOT, "--root-password-file", str(path)]

    def connect(self, **options):
        """A client of the first user."""
        return self.login(ROOT, PASSWORD, **options)

    def login(self, user, password, **options):
        """A client of this user, who logs in when it first asks something."""
        return super().connect(username=user, password=password, authSource="admin", **options)

    def nobody(self, **options):
        """A client that does not log in."""
        options = {"serverSelectionTimeoutMS": 10_000, "directConnection": True, **options}
        return pymongo.MongoClient(*self.address, **options)

    def admin(self, path, body=None, within=10):
        key = self.key()
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.admin_url + path, data=data)
        request.add_header("authorization", f"Bearer {key}")
        with urllib.request.urlopen(request, timeout=within) as reply:
            return json.loads(reply.read())

    def key(self):
        lines = (self.data_dir / "admin.key").read_text().splitlines()
        return next(line.split(" = ")[1] for line in lines if line.startswith("primary"))


def code_of(ask, *arguments):
    """The code of the error that a call ends with; None: it succeeds."""
    try:
        ask(*arguments)
    except OperationFailure as error:
        return error.code
    return None


def until_all(clients, databases, code):
    """Waits until all clients are answered with this code about all databases, which whatever is
    asked after the bound has to be; returns seconds."""
    began, last = time.monotonic(), 0.0
    for client in clients:
        for name in databases:
            asked = time.monotonic() - began
            while code_of(client[name]["c"].find_one) != code:
                assert asked < BOUND, f"{name} does not answer {code} after {asked:.3f} s"
                asked = last = time.monotonic() - began
    return last


class Logins(threading.Thread):
    """Logs in again and again through a node, and reads a document of each database."""

    def __init__(self, node, user, databases):
        super().__init__(daemon=True)
        self.node, self.user, self.databases = node, user, databases
        self.ends, self.done, self.wrong, self.longest = False, 0, [], 0.0

    def run(self):
        last = time.monotonic()
        while not self.ends:
            try:
                with contextlib.closing(self.node.login(self.user, PASSWORD)) as client:
                    for name in self.databases:
                        assert client[name]["c"].find_one()["_id"] == 1
            except OperationFailure as error:
                self.wrong.append(error)
                return
            except PyMongoError:
                # What was not reached may be tried again.
                continue
            now = time.monotonic()
            self.longest, last = max(self.longest, now - last), now
            self.done += 1
