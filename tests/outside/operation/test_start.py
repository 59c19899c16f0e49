"""The admin address while a server opens its store, which takes long with a long journal: it
reports that the server is alive but not ready; and the server stops when told to. A pipe in place
of a file of the store keeps it in that state."""

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest
from lib.ports import free_port
from lib.server import EBB_BIN, Server

#: Seconds within which everything has to happen.
WITHIN = 30


class Starting:
    """A server that blocks while it reads a file of its store."""

    def __init__(self, home):
        self.admin, self.mongo = free_port(), free_port()
        with Server(data_dir=home / "data"):
            pass
        # A start looks for a copy of another node's data first.
        base = home / "data" / "store" / "base"
        base.mkdir()
        os.mkfifo(base / "complete")
        command = [EBB_BIN, "serve", "--data-dir", str(home / "data"), "--cosmos-addr", "off"]
        command += ["--mongo-addr", f"127.0.0.1:{self.mongo}", "--clock", "manual"]
        command += ["--admin-addr", f"127.0.0.1:{self.admin}"]
        self.log = (home / "log").open("w+")
        self.process = subprocess.Popen(command, stderr=self.log)

    def get(self, path):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}{path}", timeout=5) as got:
                return got.status, got.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def until_it_answers(self):
        until = time.monotonic() + WITHIN
        while True:
            try:
                return self.get("/livez")
            except OSError:
                assert time.monotonic() < until, self.said()
                assert self.process.poll() is None, self.said()
                time.sleep(0.02)

    def said(self):
        self.log.seek(0)
        return self.log.read()


@pytest.fixture
def starting(tmp_path):
    server = Starting(tmp_path)
    yield server
    server.process.kill()
    server.process.wait(WITHIN)
    server.log.close()


def test_health_is_told_while_the_store_is_opened(starting):
    assert starting.until_it_answers() == (200, "ok\n")
    status, text = starting.get("/readyz")
    assert status == 503
    assert text.startswith("replay: the store is being opened, for ")
    status, text = starting.get("/status")
    checks = json.loads(text)["checks"]
    assert status == 503
    assert checks.pop("replay").startswith("the store is being opened")
    assert set(checks.values()) == {"ok"}
    assert "\nebb_ready 0\n" in starting.get("/metrics")[1]
    assert starting.get("/_ebb/clock")[0] == 503
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", starting.mongo), timeout=5)


@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_it_is_told_to(starting, signum):
    starting.until_it_answers()
    starting.process.send_signal(signum)
    assert starting.process.wait(WITHIN) == 0
    assert "stopped before startup was complete" in starting.said()
