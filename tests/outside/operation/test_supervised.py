"""The notifications of a server to a supervisor such as systemd: that it is ready, reloads its
files, stops, and that its workers run; and the manual pages."""

import signal
import socket
import subprocess
import time

import pytest
from lib.server import EBB_BIN, Server

#: Seconds within which a notification has to come.
WITHIN = 10.0
WATCHDOG = 0.6


class Supervisor:
    """The socket that servers send notifications to."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))

    def hears(self, within=WITHIN):
        """Returns the next message as lines, without watchdog pings; None after the timeout."""
        until = time.monotonic() + within
        while (left := until - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                said = self.socket.recv(4096).decode().splitlines()
            except TimeoutError:
                return None
            if said != ["WATCHDOG=1"]:
                return said
        return None

    def pings(self, within):
        """Returns the number of watchdog pings within a time."""
        until, count = time.monotonic() + within, 0
        while (left := until - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                count += self.socket.recv(4096) == b"WATCHDOG=1\n"
            except TimeoutError:
                break
        return count


@pytest.fixture
def supervisor(tmp_path, monkeypatch):
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
    monkeypatch.setenv("WATCHDOG_USEC", str(round(WATCHDOG * 1e6)))
    return Supervisor(tmp_path / "notify")


def test_it_is_told_what_a_server_does(supervisor):
    with Server() as server:
        assert supervisor.hears() == ["READY=1"]
        assert supervisor.pings(3 * WATCHDOG) >= 4
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(0.1)
        supervisor.pings(0.05)
        assert supervisor.pings(WATCHDOG) == 0, "a process that stands pings"
        server.process.send_signal(signal.SIGCONT)
        assert supervisor.pings(WATCHDOG) >= 1
        before = time.monotonic()
        server.process.send_signal(signal.SIGHUP)
        reloading = supervisor.hears()
        assert reloading[0] == "RELOADING=1"
        name, usec = reloading[1].split("=")
        assert name == "MONOTONIC_USEC"
        assert before <= int(usec) / 1e6 <= time.monotonic()
        assert supervisor.hears() == ["READY=1"]
        assert server.stop() == 0
        assert supervisor.hears() == ["STOPPING=1"]


def test_manual_pages_have_all_settings(tmp_path):
    pages = tmp_path / "deep" / "man1"
    subprocess.run([EBB_BIN, "man", pages], check=True, timeout=30)
    names = {page.name for page in pages.iterdir()}
    assert {"ebb.1", "ebb-serve.1", "ebb-admin.1", "ebb-verify.1"} <= names
    serve = (pages / "ebb-serve.1").read_text().replace("\\", "")
    for flag in ("--data-dir", "--max-forward-jump", "--slow-ms", "--key-file"):
        assert flag in serve
    assert "--test-wall" not in serve
