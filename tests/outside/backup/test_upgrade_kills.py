"""SIGKILL while a data directory that an earlier version made is opened for the first time,
receives its first writes and is closed: at the Nth system call, for each N, and at random times,
also several times in a row. Each time the next start succeeds and shows its contents.

POINTS is the number of calls, chosen evenly, and ROUNDS the number of random times (default 16 and
8; with --torture all calls and 200); SEED shifts and chooses them.
"""

import json
import os
import random
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from lib.archives import unpack
from lib.points import CHANGING, ENDS, KILLED, chosen
from lib.seed import SEED, TORTURE
from lib.server import FOUND, Server, copied, spawn
from lib.traced import Traced

from backup import fixture

#: Calls that change nothing: a kill there falls between calls that do.
LOOKING = ["openat", "pread64", "statx"]
POINTS = int(os.environ.get("POINTS", 0 if TORTURE else 16))
ROUNDS = int(os.environ.get("ROUNDS", 200 if TORTURE else 8))
OPTIONS = {"data_dir": True, "nosql": True, "flags": ["--reap-delay", "0"]}
#: Concurrent runs: they mostly wait for the disk.
BESIDE = 2
#: Maximum number of kills of one directory in a row.
IN_A_ROW = 4


class Opened:
    """A directory of an earlier version that is opened repeatedly, and its expected contents."""

    def __init__(self, server, directory):
        self.server = server
        copied(directory, server.data_dir)
        self.wanted = json.loads((fixture.HERE / "contents.expected").read_text())
        self.later = self.wanted.pop("later")
        #: Writes after the opening, by name: whether they were acknowledged.
        self.written = {}

    def write(self):
        """Writes a document and an item that the earlier version did not have."""
        self.written["document"] = False
        self.server.client["new"]["c"].insert_one({"_id": "new"})
        self.written["document"] = True
        self.written["item"] = False
        container = self.server.items.container("plant", "readings")
        reply = container.upsert({"id": "new", "pk": "a", "value": 0, "ttl": -1})
        assert reply.status == 201, reply
        self.written["item"] = True

    def session(self):
        """Runs the session that is killed: a start, the first writes, a stop."""
        try:
            self.server.start()
            self.write()
            self.server.stop()
        except ENDS:
            self.server.process.wait(10)

    def judge(self, point):
        """Returns the errors after the kill at this point."""
        wrong, server = [], self.server
        verified = server.verify()
        if verified.returncode:
            wrong.append(f"verify: {verified.returncode} {verified.stderr[-300:]}")
        try:
            server.start()
            wrong += self.differences()
            server.restart()
            wrong += self.differences()
            found = [[ids, count - 1] for ids, count in self.after()]
            if found != self.later:
                wrong.append(f"later there is {found}, wanted {self.later}")
            server.end()
        except ENDS as error:
            wrong.append(f"{error!r}")
        if wrong and FOUND:
            server.keep_found()
        return [f"{point}: {text}" for text in wrong]

    def after(self):
        """Returns the data that is left after some time, with an item that never expires."""
        container = self.server.items.container("plant", "readings")
        container.upsert({"id": "new", "pk": "a", "value": 0, "ttl": -1})
        return fixture.later(self.server)

    def differences(self):
        """Returns the differences from the earlier version's contents and later writes."""
        shown, wrong = json.loads(json.dumps(fixture.contents(self.server))), []
        new = [item for item in shown["items"] if item[0] == "new"]
        shown["items"] = [item for item in shown["items"] if item[0] != "new"]
        documents = [row["_id"] for row in self.server.client["new"]["c"].find()]
        for name, found in (("document", documents), ("item", new)):
            if self.written.get(name) and not found:
                wrong.append(f"the {name} that was acknowledged is lost")
            if found and name not in self.written:
                wrong.append(f"an {name} that nobody wrote: {found}")
        for name, value in self.wanted.items():
            if shown[name] != value:
                wrong.append(f"{name}: {shown[name]!s:.400}, wanted {value!s:.400}")
        return wrong


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """The data directory as the earlier version left it."""
    home = tmp_path_factory.mktemp("released")
    unpack(fixture.HERE / "data-3.tar.xz", home)
    return home / "data"


def calls_of(directory):
    """Returns how often each call is made in one whole session."""
    with closing(Traced(CHANGING + LOOKING, **OPTIONS)) as server:
        opened = Opened(server, directory)
        server.start()
        opened.write()
        server.leave()
        most = server.most_calls()
    assert most.keys() >= {"pwrite64", "pwritev", "fdatasync", "openat"}, most
    return most


def killed_at(point, directory):
    """Returns the errors after a kill at this call, and whether it was reached."""
    call, n = point
    with closing(Traced([call], f"{call}:signal=KILL:when={n}", **OPTIONS)) as server:
        opened = Opened(server, directory)
        opened.session()
        reached = server.process.poll() == KILLED
        server.injected = None
        return opened.judge(f"{call} {n}"), reached


def test_kills_at_every_call(directory, report):
    points = chosen(calls_of(directory), POINTS)
    with ThreadPoolExecutor(BESIDE) as pool:
        results = list(pool.map(lambda point: killed_at(point, directory), points))
    wrong = [text for texts, _ in results for text in texts]
    reached = sum(reached for _, reached in results)
    assert wrong == [], f"SEED={SEED}, {len(wrong)} things:\n" + "\n".join(wrong[:8])
    report(
        "F20",
        reached,
        "kills at the Nth call while a directory of a released format is opened",
        seed=SEED,
        points=len(points),
    )
    assert reached > len(points) // 3, f"only {reached} of {len(points)} points were reached"


def time_of_a_start(directory):
    with closing(Server(**OPTIONS)) as server:
        copied(directory, server.data_dir)
        began = time.monotonic()
        server.start()
        return time.monotonic() - began


def killed_after(server, seconds):
    """Starts the server and kills it after a time; returns whether it was ready."""
    server.starts += 1
    ready = server.home / f"ready-{server.starts}"
    server.log = server.home / f"log-{server.starts}"
    with open(server.log, "wb") as log:
        server.process = spawn(server.command_line(ready), log)
    time.sleep(seconds)
    was_ready = ready.exists()
    assert server.process.poll() is None, server.log.read_text(errors="replace")[-2000:]
    server.kill()
    return was_ready


def test_kills_at_random_times(directory, report):
    rng, takes = random.Random(f"{SEED} upgrade"), time_of_a_start(directory)
    kills = in_the_start = directories = 0
    while kills < ROUNDS:
        with closing(Server(**OPTIONS)) as server:
            opened, waits = Opened(server, directory), []
            for _ in range(min(rng.randint(1, IN_A_ROW), ROUNDS - kills)):
                waits.append(round(rng.uniform(0, 1.3 * takes), 4))
                in_the_start += not killed_after(server, waits[-1])
                kills += 1
            directories += 1
            wrong = opened.judge(f"kills after {waits} s")
        assert wrong == [], f"SEED={SEED}, {len(wrong)} things:\n" + "\n".join(wrong[:8])
    report(
        "F20",
        kills,
        "kills at random times while a directory of a released format is opened",
        seed=SEED,
        before_it_was_ready=in_the_start,
        directories=directories,
    )
    assert in_the_start > 0, "no start was killed"
