"""Runs the commands for backups as a user does, and reads their output."""

import datetime
import json
import os
import subprocess
import time

from lib.server import EBB_BIN, Server, millis

#: Seconds that a command may take.
PATIENCE = 120
#: Prefixes of environment variables that would select another server or store.
FOREIGN = ("EBB_", "AWS_")


def environment(**more):
    """Returns this process's environment without variables that affect commands, plus `more`."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return {**kept, **more}


def run(*words, stdin=None, env=None, code=0):
    """Runs `ebb`, which has to end with this exit code; returns its standard output and error."""
    ended = subprocess.run(
        [EBB_BIN, *map(str, words)],
        input=stdin or b"",
        capture_output=True,
        timeout=PATIENCE,
        env=env or environment(),
    )
    said = ended.stdout + ended.stderr
    assert ended.returncode == code, f"exit {ended.returncode}: {said[-2000:]}"
    assert b"panicked" not in said, said[-2000:]
    return ended.stdout, ended.stderr.decode()


def at(server):
    """Returns the flag that names a running server."""
    return ["--admin-addr", server.admin_url.removeprefix("http://")]


def backup(server, target, *flags, **more):
    """Backs a running server up; returns the command's report."""
    out, _ = run("backup", target, "--json", *at(server), *flags, **more)
    return json.loads(out)


def restore(source, directory, *flags, **more):
    """Restores into a directory; returns the command's report."""
    out, _ = run("restore", source, "--data-dir", directory, "--json", *flags, **more)
    return json.loads(out)


def refused(*words, code=1, **more):
    """Runs a command that has to fail; returns its error output."""
    return run(*words, code=code, **more)[1]


def sound(directory):
    """Verifies a closed directory, which must have no error."""
    run("verify", "--data-dir", directory)


def restored(directory, clock="manual", **more):
    """Returns a server on a directory that was restored."""
    return Server(data_dir=directory, clock=clock, **more)


def rfc3339(ms):
    """Formats an instant for `--to`."""
    at = datetime.datetime.fromtimestamp(ms / 1_000, datetime.UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{ms % 1_000:03}Z"


def reported_ms(text):
    """Returns the milliseconds of an instant that a command reports."""
    return millis(datetime.datetime.fromisoformat(text).replace(tzinfo=None))


def follow(server, least_ms):
    """Has a server accept its stepped wall clock, and waits until it reaches an instant."""
    until = time.monotonic() + 20
    while server.now_ms() < least_ms:
        assert time.monotonic() < until, "the wall clock is not followed"
        if server.admin("/status")["clock"]["unconfirmed"]:
            server.admin("/_ebb/clock/accept", {})
        time.sleep(0.05)
