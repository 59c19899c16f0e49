"""Cluster nodes that require authentication: all start with the same first user, and their admin
addresses are called with the key that each keeps."""

import contextlib
import json
import threading
import time
import urllib.request

import pymongo
from lib.cluster import Node
from pymongo.errors import OperationFailure, PyMongoError

ROOT, PASSWORD = "root", "the root's password, 1"
#: Seconds within which a change of users and roles takes effect on all nodes.
BOUND = 1.0
#: Error codes of a failed login and of an operation that the user may not do.
WRONG, FORBIDDEN = 18, 13


class AskingNode(Node):
    """A node that requires authentication."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        path = self.home / "password"
        path.write_text(PASSWORD + "\n")
        path.chmod(0o600)
        self.flags += ["--root-user", ROOT, "--root-password-file", str(path)]

    def connect(self, **options):
        """Returns a client of the first user."""
        return self.login(ROOT, PASSWORD, **options)

    def login(self, user, password, **options):
        """Returns a client of this user; it logs in with its first request."""
        return super().connect(username=user, password=password, authSource="admin", **options)

    def nobody(self, **options):
        """Returns a client that does not log in."""
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
    """Returns the error code of a call, or None if it succeeds."""
    try:
        ask(*arguments)
    except OperationFailure as error:
        return error.code
    return None


def until_all(clients, databases, code):
    """Waits until reads of all databases by all clients end with this code, as every read that
    starts after BOUND must; returns the seconds until then."""
    began, last = time.monotonic(), 0.0
    for client in clients:
        for name in databases:
            asked = time.monotonic() - began
            while code_of(client[name]["c"].find_one) != code:
                assert asked < BOUND, f"{name} does not answer {code} after {asked:.3f} s"
                asked = last = time.monotonic() - began
    return last


class Logins(threading.Thread):
    """Logs in repeatedly through a node, and reads a document of each database."""

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
                # The node was not reached; try again.
                continue
            now = time.monotonic()
            self.longest, last = max(self.longest, now - last), now
            self.done += 1
