"""A server under test: it reports its addresses in a ready file, is stopped at the end of the test,
and has a manual clock that the test moves."""

import datetime
import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

import pymongo

from lib.nosql import Client
from lib.wire import WITHIN

EBB_BIN = os.environ.get("EBB_BIN", "ebb")
#: Directory that receives the data directories of failed tests; not kept if empty.
FOUND = os.environ.get("FOUND", "")
#: pymongo returns BSON dates without a time zone.
EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001
READY_WITHIN = 30.0 * max(1.0, WITHIN / 2)
#: Seconds within which a server stops, unless a test is about just that.
STOPPED_WITHIN = 10 * WITHIN
#: Flags: the reaper follows each expiration, or does nothing for the length of a test.
AT_ONCE, NEVER = ["--reap-delay", "0"], ["--reap-delay", "1000000"]
#: Expired bytes below which the reaper leaves a collection alone.
REAP_LEAST_BYTES = 64 * 1024


def date(ms):
    """Returns the BSON date of milliseconds since 1970."""
    return EPOCH + datetime.timedelta(milliseconds=ms)


def millis(value):
    """Returns the milliseconds since 1970 of a date that came from the server."""
    return round((value - EPOCH) / datetime.timedelta(milliseconds=1))


def address(text):
    """Splits an address of the ready file into host and port."""
    host, port = text.rsplit(":", 1)
    return host, int(port)


def copied(directory, to):
    """Copies a data directory. A preallocated journal stays sparse."""
    subprocess.run(["cp", "-r", "--sparse=always", str(directory), str(to)], check=True)


def worth(expiry):
    """The reaper's own rule: at least half of the data and REAP_LEAST_BYTES have expired."""
    dead = expiry["unreaped_estimate"]["bytes"]
    return dead >= REAP_LEAST_BYTES and expiry["live"]["bytes"] <= dead


def spawn(command, log):
    """Starts a process. Some kernels return EFAULT from execve about once in 30,000 times without
    cause, so that is retried."""
    for attempts_left in (2, 1, 0):
        try:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        except OSError as error:
            if error.errno != errno.EFAULT or not attempts_left:
                raise
    return None


class Server:
    """One `ebb serve`. `data_dir=True` keeps data over restarts; otherwise it is in memory.
    `nosql=True` enables the NoSQL API too; `mongo=False` disables the MongoDB API.
    """

    def __init__(
        self,
        data_dir=None,
        clock="manual",
        flags=(),
        listeners=(),
        log_level="warn",
        nosql=False,
        mongo=True,
    ):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="ebb-outside-"))
        self.data_dir = self.home / "data" if data_dir is True else data_dir
        self.clock = clock
        self.flags = list(flags)
        self.listeners = list(listeners)
        self.log_level = log_level
        #: Command that the server is started with, such as `unshare`.
        self.prefix = []
        self.mongo, self.nosql = mongo, nosql
        self.items = None
        self.process = None
        self.client = None
        self.starts = 0

    def __enter__(self):
        return self.start()

    def __exit__(self, error, *_):
        if error and FOUND:
            self.keep_found()
        self.close()

    def keep_found(self):
        """Copies the files of a failed test to FOUND for inspection."""
        self.process.kill()
        self.process.wait(10)
        to = pathlib.Path(FOUND) / self.home.name
        to.mkdir(parents=True, exist_ok=True)
        copied(self.home, to / "home")
        if self.data_dir and not self.data_dir.is_relative_to(self.home):
            copied(self.data_dir, to / "data")

    def command_line(self, ready):
        where = ["--data-dir", str(self.data_dir)] if self.data_dir else ["--in-memory"]
        return [
            *self.prefix,
            EBB_BIN,
            "serve",
            *where,
            "--clock",
            self.clock,
            "--mongo-addr",
            "127.0.0.1:0" if self.mongo else "off",
            "--admin-addr",
            "127.0.0.1:0",
            "--cosmos-addr",
            "127.0.0.1:0" if self.nosql else "off",
            "--ready-file",
            str(ready),
            *(["--log-level", self.log_level] if self.log_level else []),
            *self.flags,
        ]

    def start(self):
        self.starts += 1
        ready = self.home / f"ready-{self.starts}"
        self.log = self.home / f"log-{self.starts}"
        with open(self.log, "wb") as log:
            self.process = spawn(self.command_line(ready), log)
        until = time.monotonic() + READY_WITHIN
        while not ready.exists():
            if self.process.poll() is not None or until < time.monotonic():
                text = self.log.read_text(errors="replace")[-4000:]
                raise AssertionError(f"not ready (exit {self.process.poll()}): {text}")
            time.sleep(0.002)
        doors = json.loads(ready.read_text())
        found = doors["mongo"] is not None, doors["cosmos"] is not None
        assert found == (self.mongo, self.nosql), f"other doors than asked for: {doors}"
        self.admin_url = f"http://{doors['admin']}"
        if self.nosql:
            # One client over all restarts, so that `Container` objects stay valid.
            self.items = self.items or Client(None)
            self.items.close()
            self.items.address = address(doors["cosmos"])
        if self.mongo:
            self.address = address(doors["mongo"])
            self.client = self.connect(event_listeners=self.listeners)
        return self

    def connect(self, **options):
        options = {"serverSelectionTimeoutMS": 10_000, "directConnection": True, **options}
        return pymongo.MongoClient(*self.address, **options)

    def stop(self, within=STOPPED_WITHIN):
        """Sends SIGTERM and returns the exit code."""
        if self.client:
            self.client.close()
        if self.items:
            self.items.close()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(within)

    def kill(self):
        """Sends SIGKILL."""
        self.process.kill()
        self.process.wait(10)
        if self.client:
            # Closing tries for ten seconds to end the sessions at a server that has died.
            threading.Thread(target=self.client.close, daemon=True).start()

    def restart(self):
        self.leave()
        return self.start()

    def leave(self):
        """Stops the server, which must exit with 0."""
        assert self.stop() == 0, self.log.read_text(errors="replace")[-2000:]

    def end(self):
        """Stops the server and verifies its directory."""
        self.leave()
        if self.data_dir:
            self.sound()

    def close(self):
        if self.process and self.process.poll() is None:
            self.kill()
        if os.environ.get("KEEP") != "1":
            shutil.rmtree(self.home, ignore_errors=True)

    def verify(self):
        """Runs `ebb verify` on the closed directory."""
        return subprocess.run(
            [EBB_BIN, "verify", "--data-dir", str(self.data_dir)],
            capture_output=True,
            text=True,
            timeout=120,
        )

    def sound(self):
        """Runs `ebb verify` on the directory after a stop; it must find no error."""
        try:
            verified = self.verify()
        except subprocess.TimeoutExpired:
            raise AssertionError("ebb verify hangs") from None
        assert verified.returncode == 0, verified.stdout + verified.stderr

    # The clock.

    def now_ms(self):
        return millis(self.client.admin.command({"ebbClock": 1})["now"])

    def move_to(self, ms):
        assert self.client.admin.command({"ebbClock": 1, "set": date(ms)})["ok"] == 1

    def advance(self, ms):
        self.move_to(self.now_ms() + ms)

    # Reaping and metrics.

    def ttl_metrics(self):
        return self.client.admin.command("serverStatus")["metrics"]["ttl"]

    def wait_for_passes(self, count=2, within=30.0):
        """Waits until the reaper has begun and ended a pass from now on."""
        start = self.ttl_metrics()["passes"]
        until = time.monotonic() + within
        while self.ttl_metrics()["passes"] < start + count:
            assert time.monotonic() < until, "metrics.ttl.passes does not grow"
            time.sleep(0.02)

    def wait_until_reaped(self, *namespaces, within=120.0, worth=None):
        """Waits until the reaper has compacted these (database, name) if they are worth reaping.
        The number of passes is not enough: a collection without expiry counters is scanned only now
        and then, and less often on a slow machine.
        """
        worth = worth or self.worth_reaping
        self.wait_for_passes(2, within)
        until = time.monotonic() + within
        left = list(namespaces)
        while left:
            left = [(db, name) for db, name in left if worth(db, name)]
            assert time.monotonic() < until, f"not reaped: {left}"
            time.sleep(0.05 if left else 0)

    def worth_reaping(self, database, name):
        """Returns whether the reaper should compact this collection."""
        return worth(self.client[database].command("ebbExpiry", name))

    def items_worth_reaping(self, database, name):
        """Returns whether the reaper should compact this container."""
        return worth(self.expiry(database, name))

    def expiry(self, database, name, preview=None):
        """Returns the amount live in a container and the amount that expires soon; `preview`
        assumes another default."""
        path = f"/_ebb/databases/{database}/collections/{name}/expiry"
        return self.admin(path + ("/preview" if preview else "") + "?door=nosql", preview)

    def admin(self, path, body=None, within=10):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(self.admin_url + path, data=data, timeout=within) as reply:
            return json.loads(reply.read())

    def admin_text(self, path):
        """Returns the text of a page of the admin address."""
        with urllib.request.urlopen(self.admin_url + path, timeout=10) as reply:
            return reply.read().decode()

    def metric(self, name):
        """Returns the value of a metric without labels."""
        lines = self.admin_text("/metrics").splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith(f"{name} "))

    def ready(self):
        """Returns status and text of `/readyz`."""
        try:
            with urllib.request.urlopen(self.admin_url + "/readyz", timeout=5) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()
        except OSError as error:
            return 0, f"no answer: {error}"

    def rss(self):
        """Returns the resident memory of the process in bytes."""
        return self.status_bytes("VmRSS")

    def most_rss(self):
        """Returns the peak resident memory of the process in bytes."""
        return self.status_bytes("VmHWM")

    def status_bytes(self, name):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) * 1024
        raise AssertionError(f"no {name}")

    def reload(self, says):
        """Has the server read its files again, and waits until its log reports the result."""
        before = self.log.read_text().count(says)
        self.process.send_signal(signal.SIGHUP)
        until = time.monotonic() + 10
        while self.log.read_text().count(says) == before:
            assert time.monotonic() < until, self.log.read_text()
            time.sleep(0.01)

    def alive(self):
        return self.process.poll() is None
