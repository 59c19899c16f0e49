"""The server is killed at the Nth write, sync, rename or removal of a file, for each N: while it
runs a script of about sixty requests, while it starts after a kill and stops, and while it starts
for the first time. Each time `ebb verify` finds no error, the next start succeeds, and the data
equals the acknowledged writes, with or without the request in progress.

strace counts the calls of each thread. POINTS is the number of points, chosen evenly (default 16;
all with --torture); SEED shifts them.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from lib.points import CHANGING, ENDS, KILLED, chosen
from lib.seed import SEED, TORTURE
from lib.server import FOUND, Server, copied
from lib.traced import Traced

from crash.script import Script

POINTS = int(os.environ.get("POINTS", 0 if TORTURE else 16))
FLAGS = ["--reap-delay", "0", "--memory", "128m"]
OPTIONS = {"data_dir": True, "clock": "manual", "flags": FLAGS, "nosql": True}
#: Concurrent runs: they mostly wait for the disk.
BESIDE = 2


def judge(server, script, point):
    """Returns the errors after a kill at this point, and whether it was reached."""
    code = server.process.poll()
    reached = code == KILLED
    if not reached:
        if code not in (None, 0):
            return [f"{point}: the server ended with {code}"], False
        if code is None:
            server.kill()
    server.injected = None
    wrong = []
    # A first start that was killed has not created anything to verify yet.
    verified = server.verify() if script.done else None
    if verified and verified.returncode:
        told = verified.stdout[-300:] + verified.stderr[-300:]
        wrong.append(f"verify: {verified.returncode} {told}")
    try:
        server.start()
        wrong += script.wrong()
        script.database()["after"].insert_one({"_id": 1})
        server.end()
    except ENDS as error:
        wrong.append(f"after {script.done} steps: {error}")
    if wrong and FOUND:
        server.keep_found()
    return [f"{point}: {text}" for text in wrong], reached


def killed_in_script(point, directory):
    call, n = point
    with closing(Traced([call], f"{call}:signal=KILL:when={n}", **OPTIONS)) as server:
        if directory:
            copied(directory, server.data_dir)
        script = Script(server)
        try:
            server.start()
            script.run()
        except ENDS as error:
            if server.process.poll() is None:
                server.process.wait(10)
            if server.process.poll() != KILLED:
                raise AssertionError(f"{point}, step {script.done}: {error!r}") from error
        return judge(server, script, point)


def killed_in_start_or_stop(point, directory, script):
    call, n = point
    with closing(Traced([call], f"{call}:signal=KILL:when={n}", **OPTIONS)) as server:
        copied(directory, server.data_dir)
        again = Script(server)
        again.states, again.done = script.states, script.done
        try:
            server.start()
            server.stop()
        except AssertionError:
            server.process.wait(10)
        return judge(server, again, point)


def tell(results, points, report, what):
    wrong = [text for texts, _ in results for text in texts]
    assert wrong == [], f"SEED={SEED}, {len(wrong)} things:\n" + "\n".join(wrong[:8])
    reached = sum(reached for _, reached in results)
    report("F3", reached, f"kills at the Nth call {what}", seed=SEED, points=len(points))
    assert reached > len(points) // 3, f"only {reached} of {len(points)} points were reached"


def whole_run(server):
    """Runs the script without a fault."""
    server.start()
    script = Script(server)
    script.run()
    assert script.wrong() == []
    return script


def together(kill, points):
    with ThreadPoolExecutor(BESIDE) as pool:
        return list(pool.map(kill, points))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A directory after a first start and a stop."""
    directory = tmp_path_factory.mktemp("every-call") / "made"
    with Server(**OPTIONS) as server:
        server.leave()
        copied(server.data_dir, directory)
    return directory


@pytest.fixture(scope="module")
def whole(made, tmp_path_factory):
    """The calls of a whole run, the directory that a kill after it left, and its script."""
    directory = tmp_path_factory.mktemp("every-call") / "data"
    with closing(Traced(CHANGING, **OPTIONS)) as server:
        copied(made, server.data_dir)
        script = whole_run(server)
        most = server.most_calls()
        server.kill()
        copied(server.data_dir, directory)
    return most, directory, script


def test_kills_in_a_script(whole, made, report):
    most, _, _ = whole
    assert most.keys() >= {"pwrite64", "pwritev", "fdatasync", "fsync", "unlink"}
    points = chosen(most, POINTS)
    results = together(lambda point: killed_in_script(point, made), points)
    tell(results, points, report, "of a script")


def test_kills_in_a_start_and_a_stop(whole, report):
    _, directory, script = whole
    with closing(Traced(CHANGING, **OPTIONS)) as server:
        copied(directory, server.data_dir)
        server.start()
        server.leave()
        points = chosen(server.most_calls(), POINTS)
    results = together(lambda point: killed_in_start_or_stop(point, directory, script), points)
    tell(results, points, report, "of a start and a stop")


def test_of_checks_script():
    """The script detects a lost document, one that reappeared, and half of a batch."""
    with closing(Server(**OPTIONS)) as server:
        script = whole_run(server)
        rows = script.documents("b")
        row = rows.find_one_and_delete({"_id": "b1"})
        assert script.wrong() != []
        rows.insert_one(row)
        assert script.wrong() == []
        rows.insert_one({"_id": "b4"})
        assert script.wrong() != []
        rows.delete_one({"_id": "b4"})
        script.items("a").delete("last", "a")
        assert script.wrong() != []


def test_kills_in_a_first_start(report):
    """A directory that was never served is initialized by the next start, with any contents."""
    with closing(Traced(CHANGING, **OPTIONS)) as server:
        server.start()
        points = chosen(server.most_calls(), POINTS)
    results = together(lambda point: killed_in_script(point, None), points)
    tell(results, points, report, "of a first start")
