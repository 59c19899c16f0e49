"""Our server and the oracle, which receive the same commands."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import urllib.parse

from both.wire import Connection

HERE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(HERE.parent / "outside"))
from lib.server import Server  # noqa: E402

AT_ONCE = 40
ENDS_WITHIN = 30.0
DATABASE = f"oracle_{os.getpid()}"
CURSOR = "<cursor>"


class Oracle:
    """A mongod: one that runs at `address`, or one that `bench/peer.sh` starts and this stops."""

    def __init__(self, address):
        self.pid = self.data = None
        if address is None:
            lines = subprocess.run(
                [HERE.parent.parent / "bench/peer.sh", "--setParameter", "ttlMonitorEnabled=false"],
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            ).stdout.split()
            told = dict(line.split("=", 1) for line in lines)
            address, self.pid, self.data = told["address"], int(told["pid"]), told["data_dir"]
        parts = urllib.parse.urlsplit(address)
        self.address = (parts.hostname, parts.port or 27017)

    def close(self):
        if not self.pid:
            return
        os.kill(self.pid, signal.SIGTERM)
        until = time.monotonic() + ENDS_WITHIN
        while self.lives() and time.monotonic() < until:
            time.sleep(0.05)
        shutil.rmtree(pathlib.Path(self.data).parent, ignore_errors=True)

    def lives(self):
        """Returns whether the process runs; it is a script's child, so it cannot be waited for."""
        try:
            return (
                pathlib.Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
                != "Z"
            )
        except OSError:
            return False


class Pair:
    def __init__(self, address=None):
        self.server = Server(clock="system").start()
        try:
            self.oracle = Oracle(address)
        except BaseException:
            self.server.close()
            raise
        self.ours = Connection(self.server.address)
        self.theirs = Connection(self.oracle.address)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for side in (self.ours, self.theirs):
            try:
                side.command({"dropDatabase": 1, "$db": DATABASE})
                side.close()
            except OSError:
                pass
        self.server.close()
        self.oracle.close()

    def version(self):
        return self.theirs.command({"buildInfo": 1, "$db": "admin"})["version"]

    def run(self, command):
        """Returns both replies to one command."""
        return self.run_many([command])[0]

    def run_many(self, commands):
        """Returns both replies to each of many commands, in order."""
        replies = []
        for start in range(0, len(commands), AT_ONCE):
            some = [with_database(command) for command in commands[start : start + AT_ONCE]]
            for command in some:
                self.theirs.send(command)
            ours = self.ours_to(some)
            replies += zip(ours, [self.theirs.receive() for _ in some], strict=True)
        return replies

    def ours_to(self, commands):
        """Returns our replies; a closed connection counts as a reply, and is a finding."""
        try:
            for command in commands:
                self.ours.send(command)
            return [self.ours.receive() for _ in commands]
        except OSError:
            assert self.server.alive(), self.server.log.read_text(errors="replace")[-2000:]
            self.ours = Connection(self.server.address)
            if len(commands) == 1:
                return [{"ok": 0, "code": -1, "errmsg": "the connection was closed"}]
            return [self.ours_to([command])[0] for command in commands]

    def run_in_turn(self, commands):
        """Returns both replies to each command, which may use the cursor opened last."""
        replies, cursors = [], (0, 0)
        for command in commands:
            mine, other = (with_database(with_cursor(command, cursor)) for cursor in cursors)
            self.theirs.send(other)
            pair = (self.ours_to([mine])[0], self.theirs.receive())
            opened = [reply.get("cursor") for reply in pair]
            if all(isinstance(cursor, dict) and cursor.get("id") for cursor in opened):
                cursors = tuple(cursor["id"] for cursor in opened)
            replies.append(pair)
        return replies


def with_database(command):
    return command if "$db" in command else {**command, "$db": DATABASE}


def with_cursor(command, cursor):
    if command.get("getMore") == CURSOR:
        return {**command, "getMore": cursor}
    if command.get("killCursors") is not None and command.get("cursors") == [CURSOR]:
        return {**command, "cursors": [cursor]}
    return command
