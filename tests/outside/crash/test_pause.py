"""A pause longer than the lease of the clock, as on a busy machine, does not hang anything. Real
clock: the lease is 2 seconds of the machine's time. All pauses run concurrently.
"""

import contextlib
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from lib.server import EBB_BIN, Server, copied
from pymongo.errors import OperationFailure, PyMongoError

pytestmark = pytest.mark.real_clock

COUNT = 6_000
PAUSE = 2.5
#: Milliseconds after its start at which a process is paused.
AFTER = (10, 20, 30, 45, 70, 100)
ENDS_WITHIN = 10.0


@pytest.fixture(scope="module")
def killed(tmp_path_factory):
    """A directory whose server was killed during an index build."""
    directory = tmp_path_factory.mktemp("killed") / "data"
    with Server(data_dir=directory, clock="system") as server:
        collection = server.client["d"]["d"]
        for first in range(0, COUNT, 2_000):
            collection.insert_many(
                [
                    {"_id": id, "a": [id + 7919 * n for n in range(10)]}
                    for id in range(first, first + 2_000)
                ]
            )

        client = server.connect(serverSelectionTimeoutMS=100)

        def build():
            with contextlib.suppress(PyMongoError):
                client["d"]["d"].create_index("a", name="a_1")

        thread = threading.Thread(target=build)
        thread.start()
        until = time.monotonic() + 10
        while "a_1" not in names_in_progress(server):
            assert time.monotonic() < until and thread.is_alive(), "no build was seen"
        server.kill()
        thread.join(10)
    return directory


def counted(collection):
    """Counts by the index once it is complete: until then no query may use it."""
    until = time.monotonic() + ENDS_WITHIN
    while True:
        try:
            return collection.count_documents({"a": {"$gte": 0}}, hint="a_1")
        except OperationFailure:
            assert time.monotonic() < until, "the build does not end"
            time.sleep(0.05)


def names_in_progress(server):
    return {index["name"] for index in server.client["d"]["d"].list_indexes()}


def paused(directory, copy, after, command):
    """Runs a command on a copy with a pause in it; returns its exit code, or None if it hangs."""
    copied(directory, copy)
    ready = copy.with_suffix(".ready")
    line = [EBB_BIN, command, "--data-dir", copy]
    if command == "serve":
        line += [
            "--mongo-addr",
            "127.0.0.1:0",
            "--admin-addr",
            "off",
            "--cosmos-addr",
            "off",
            "--ready-file",
            ready,
        ]
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        time.sleep(after / 1000)
        process.send_signal(signal.SIGSTOP)
        time.sleep(PAUSE)
        process.send_signal(signal.SIGCONT)
        until = time.monotonic() + ENDS_WITHIN
        while process.poll() is None and not ready.exists():
            if until < time.monotonic():
                return None
            time.sleep(0.01)
        if process.poll() is None:
            process.terminate()
        return process.wait(ENDS_WITHIN)
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("command", ["serve", "verify"])
def test_a_pause_hangs_nothing(killed, tmp_path, command):
    with ThreadPoolExecutor(len(AFTER)) as pool:
        ended = pool.map(
            lambda after: paused(killed, tmp_path / f"at-{after}", after, command), AFTER
        )
        assert dict(zip(AFTER, ended, strict=True)) == dict.fromkeys(AFTER, 0)


def test_the_build_goes_on_after_a_restart(killed, tmp_path):
    copied(killed, tmp_path / "data")
    with Server(data_dir=tmp_path / "data", clock="system") as server:
        collection = server.client["d"]["d"]
        # The build resumes in the background, or was lost; in that case the index is created here.
        collection.create_index("a", name="a_1")
        assert counted(collection) == COUNT
        reply = server.client["d"].command("validate", "d")
        assert reply["valid"]
        assert reply["nrecords"] == COUNT
        server.end()
