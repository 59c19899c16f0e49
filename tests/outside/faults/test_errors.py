"""One system call on the disk fails, once or for a while: failed writes are refused with a clear
error, reads continue, and soon after the last error the store accepts writes again, without a
restart, with all acknowledged writes and none that was refused."""

import contextlib
import time

import pytest
from lib.inject import Injection
from lib.seed import TORTURE
from lib.server import Server
from pymongo.errors import PyMongoError

from faults.ledger import Writers

#: Number of writes before the errors, and seconds that errors last.
BEFORE, LASTING = 50, 3.0
#: Seconds within which writes are accepted again.
HEALED = 5.0
#: Calls that occur on files of the data directory only.
CALLS = [
    "fdatasync",
    "fsync",
    "pwrite64",
    "pwritev",
    "ftruncate",
    "fallocate",
    "rename",
    "unlink",
    "mkdir",
    "openat",
]
#: Calls that sockets and pipes have too: injected for tables only.
SHARED = ["write", "writev"]
#: Calls that every store makes: each of these must have failed at least once.
MET = {"fdatasync", "fsync", "pwritev", "openat"}
ERRORS = ["EIO", "ENOSPC"]
TIMES = ["1", "3", "1+"]

CASES = [(call, error, when) for call in CALLS + SHARED for error in ERRORS for when in TIMES]
#: Cases of the ordinary run.
FEW = [("fdatasync", "EIO", "3"), ("fdatasync", "ENOSPC", "1+"), ("pwritev", "EIO", "1+")]


@pytest.fixture(scope="module")
def met():
    """Calls for which an error was injected."""
    return set()


def churn(writers, number):
    """Creates and drops collections, and with them files; ignores their errors."""
    with contextlib.suppress(PyMongoError):
        writers.client["d"][f"churn{number}"].insert_one({"_id": number})
        writers.client["d"][f"churn{number - 2}"].drop()


def tables(server):
    return list((server.data_dir / "store" / "trees").glob("*.ebb"))


@pytest.mark.parametrize(("call", "error", "when"), CASES if TORTURE else FEW)
def test_an_error_of_the_disk(call, error, when, met):
    problems = []
    with Server(data_dir=True, nosql=True) as server:
        writers = Writers(server)
        writers.make()
        for _ in range(BEFORE):
            assert all(writers.write()), writers.wrong
        paths = tables(server) if call in SHARED else ()
        refused, red, number = 0, False, 0
        with Injection(server, call, error, when, paths) as injection:
            began = time.monotonic()
            while time.monotonic() - began < LASTING:
                done = writers.write()
                refused += done.count(False)
                churn(writers, number := number + 1)
                if not all(done):
                    red = red or server.ready()[0] == 503
                    time.sleep(0.05)
                problems += [it for it in writers.compare() if it not in problems]
            injected = injection.count()
        if injected:
            met.add(call)
        if when.endswith("+") and refused and not red:
            problems.append(f"/readyz stays green while {refused} writes are refused")
        if not injected and refused:
            problems.append(f"{refused} writes were refused though nothing had failed")
        try:
            writers.heal(HEALED)
        except AssertionError as failure:
            problems.append(f"{injected} errors, {refused} refused: {failure}")
        problems += writers.wrong[:3] + writers.compare()
        writers.close()
        code = server.stop(within=20)
        problems += [f"SIGTERM: exit {code}"] if code else []
        verified = server.verify()
        if verified.returncode:
            problems.append(f"verify: {verified.returncode} {verified.stdout[-300:]}")
        server.start()
        writers.connect()
        problems += [f"after a restart: {it}" for it in writers.compare()]
        writers.close()
    assert not problems, f"{injected} errors injected:\n" + "\n".join(problems[:8])


def test_what_was_met(met):
    """Checks that the faults of the cases above have occurred."""
    wanted = MET if TORTURE else {call for call, _, _ in FEW}
    assert wanted <= met, f"never failed: {sorted(wanted - met)}"
