"""SIGKILL while a backup is being restored, at each call that changes files: the result is the
whole data, or a directory that no server accepts, never one that looks like an empty database.
POINTS is the number of calls, chosen evenly (default 16; with --torture all).
"""

import os
import shutil
import subprocess
from contextlib import closing

import pytest
from lib.inject import injected
from lib.points import CHANGING, KILLED, chosen
from lib.seed import SEED, TORTURE
from lib.server import EBB_BIN, Server
from lib.traced import most_calls

from backup.tools import backup, environment, restored, run

POINTS = int(os.environ.get("POINTS", 0 if TORTURE else 16))
ROWS = 200
#: Exit code of `verify` for a directory that is no data directory or was not completely restored.
REFUSED = 3


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A backup of a database of each API."""
    target = tmp_path_factory.mktemp("kept") / "kept.ebb"
    with Server(data_dir=True, nosql=True) as server:
        server.client["d"]["c"].insert_many([{"_id": number} for number in range(ROWS)])
        server.items.create_database("i")
        container = server.items.container("i", "c")
        assert container.define().status == 201
        assert container.upsert({"id": "one", "pk": "a"}).status == 201
        backup(server, target)
    return target


def killed(kept, directory, calls, what):
    """Runs a restore under strace, with `what` injected; returns its exit code."""
    command = [EBB_BIN, "restore", kept, "--data-dir", directory]
    traced = injected(calls, what, directory.with_suffix(".trace"))
    return subprocess.run(
        [*traced, *map(str, command)], capture_output=True, timeout=60, env=environment()
    ).returncode


def wrong_with(directory):
    """Returns the errors in the directory that a killed restore has left."""
    if not directory.exists():
        return []
    with closing(Server(data_dir=directory)) as left:
        verified = left.verify()
    if verified.returncode:
        is_clear = not (directory / "EBB").exists() or "was interrupted" in verified.stderr
        return [] if verified.returncode == REFUSED and is_clear else [str(verified)]
    with restored(directory, nosql=True) as copy:
        found = copy.client["d"]["c"].count_documents({})
        listed = copy.items.call(
            "GET", "dbs/i/colls/c/docs/one", headers={"x-ms-documentdb-partitionkey": '["a"]'}
        )
    return [] if (found, listed.status) == (ROWS, 200) else [f"{found} rows, {listed}"]


def test_kills_at_every_call_of_a_restore(kept, tmp_path, report):
    whole = tmp_path / "whole"
    assert killed(kept, whole, CHANGING, "") == 0
    assert wrong_with(whole) == []
    most = most_calls(whole.with_suffix(".trace").read_text(errors="replace"), whole)
    # Each mark is a rename: the states between two of them are the subject of this test.
    assert most["rename"] >= 2, most
    renames = [("rename", number) for number in range(1, most.pop("rename") + 1)]
    points = renames + chosen(most, max(POINTS - len(renames), 1) if POINTS else 0)
    wrong, reached = [], 0
    for call, number in points:
        directory = tmp_path / f"{call}{number}"
        ended = killed(kept, directory, [call], f"{call}:signal=KILL:when={number}")
        reached += ended == KILLED
        wrong += [f"{call} {number}: {text}" for text in wrong_with(directory)]
        shutil.rmtree(directory, ignore_errors=True)
    assert wrong == [], f"SEED={SEED}: " + "\n".join(wrong[:8])
    assert reached > len(points) // 2, f"only {reached} of {len(points)} points were reached"
    report("F21", reached, "kills at the Nth call of a restore", seed=SEED, points=len(points))
    run("verify", kept)
