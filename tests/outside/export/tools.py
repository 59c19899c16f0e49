"""Runs the export and import commands as a user does, and reads their output."""

import json
import signal
import subprocess
import time

from backup.tools import environment, run
from bson.codec_options import CodecOptions
from bson.raw_bson import RawBSONDocument
from lib.server import EBB_BIN

#: Timeout in seconds for a started command to reach a state.
PATIENCE = 30
RAW = CodecOptions(document_class=RawBSONDocument)


def mongo(server, collection, database="d"):
    """Returns the flags that name a collection."""
    host, port = server.address
    return ["--uri", f"mongodb://{host}:{port}", "-d", database, "-c", collection]


def nosql(server, container, database="i"):
    """Returns the flags that name a container."""
    host, port = server.items.address
    return ["--nosql", f"http://{host}:{port}", "-d", database, "-c", container]


def exported(place, file, *flags, **more):
    """Exports into a file; returns the command's report."""
    out, _ = run("export", *place, "--out", file, "--json", *flags, **more)
    return json.loads(out)


def printed(place, *flags):
    """Returns the standard output of an export."""
    return run("export", *place, *flags)[0].decode()


def imported(place, file, *flags, code=0, **more):
    """Imports a file; returns the command's report."""
    out, _ = run("import", file, *place, "--json", *flags, code=code, **more)
    return json.loads(out)


def refusals(file):
    """Returns the line and the reason of each refusal of an import."""
    lines = file.with_name(file.name + ".refused").read_text().splitlines()
    return [(one["line"], one["reason"]) for one in map(json.loads, lines)]


def raw(collection):
    """Returns all documents of a collection as bytes, ordered by `_id`."""
    found = collection.with_options(RAW).find(sort=[("_id", 1)])
    return [document.raw for document in found]


def started(*words):
    """Starts a command; returns the process."""
    return subprocess.Popen(
        [EBB_BIN, *map(str, words)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )


def until_begun(command, state, field):
    """Waits until a command's state file shows progress in a field. The command is stopped while
    the file is read, so that it cannot end between two reads on a busy machine."""
    until = time.monotonic() + PATIENCE
    while not (state.exists() and json.loads(state.read_text())[field]):
        assert command.poll() is None, command.communicate()
        assert time.monotonic() < until, "nothing is done"
        command.send_signal(signal.SIGCONT)
        time.sleep(0.001)
        command.send_signal(signal.SIGSTOP)
    command.send_signal(signal.SIGCONT)


def killed_over_and_over(words, random, code=0, begun=None):
    """Runs a command with --resume and kills it at random moments until it completes, with longer
    runs each time; returns its standard output, which is empty if a run was killed after it had
    completed. `begun` is its state file and a field of it: the first kill waits until that field
    shows progress."""
    words, most = [*words, "--resume"], 0.1
    if begun:
        command = started(*words)
        until_begun(command, *begun)
        command.kill()
        command.communicate()
    killed = begun is not None
    # A command that has completed removes its state; another run would repeat the work.
    while not (begun and killed and not begun[0].exists()):
        command = started(*words)
        try:
            out, said = command.communicate(timeout=random.uniform(0.01, most))
        except subprocess.TimeoutExpired:
            command.kill()
            command.communicate()
            most *= 1.5
            killed = True
            continue
        if killed and b"already exists, and no unfinished export" in said:
            # The killed run had completed its work.
            return out
        assert command.returncode == code, (out + said)[-2000:]
        return out
    return b""


def interrupted(words, state, field):
    """Runs a command, interrupts it once its state shows progress, and returns its error output."""
    command = started(*words)
    until_begun(command, state, field)
    command.send_signal(signal.SIGINT)
    out, said = command.communicate(timeout=PATIENCE)
    assert command.returncode == 1, out + said
    return said.decode()
