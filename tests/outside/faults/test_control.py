"""Tests of the faults that strace injects: a small program meets each fault exactly where
requested. Otherwise the tests of the server would prove nothing."""

import errno
import os
import statistics

import pytest
from lib.control import Control
from lib.inject import Injection, injected

#: Records before a fault, and in total.
BEFORE, ALL = 3, 8
#: Milliseconds of a slow disk, and limit of a call that is not delayed, also under strace.
SLOW, QUICK = 50, 20


@pytest.mark.parametrize("error", ["EIO", "ENOSPC"])
@pytest.mark.parametrize("call", ["fdatasync", "pwrite64"])
@pytest.mark.parametrize(("when", "hit"), [("3", {3}), ("3+", set(range(3, ALL + 1)))])
def test_of_checks_errors(tmp_path, call, error, when, hit):
    """With strace attached to a running process, as to the server."""
    with Control(tmp_path / "file") as control:
        assert control.ask()[0] == 0
        with Injection(control, call, error, when) as injection:
            answers = [control.ask()[0] for _ in range(ALL)]
            assert injection.count() == len(hit)
        number = getattr(errno, error)
        assert answers == [number if n in hit else 0 for n in range(1, ALL + 1)]
        assert control.ask()[0] == 0, "the fault stays after its end"
        if call == "pwrite64":
            missing = {n + 1 for n in hit}
            assert control.held() == set(range(1, ALL + 3)) - missing


@pytest.mark.parametrize("call", ["fdatasync", "pwrite64"])
def test_of_checks_kills(tmp_path, call):
    """The process is killed in the Nth call; a write in which it is killed is not done."""
    before = injected([call], f"{call}:signal=KILL:when={BEFORE + 1}", os.devnull)
    with Control(tmp_path / "file", before) as control:
        assert [control.ask()[0] for _ in range(BEFORE)] == [0] * BEFORE
        assert control.ask() is None
        assert control.process.wait(10) == -9
        written = BEFORE + (call == "fdatasync")
        assert control.held() == set(range(1, written + 1))


def test_of_checks_delays(tmp_path, report):
    """Each sync is delayed; writes are not, so strace itself does not slow them."""
    times = {}
    for name, what in (
        ("none", None),
        ("traced", ""),
        ("slow", f"fdatasync:delay_exit={SLOW * 1000}"),
    ):
        before = () if what is None else injected(["fdatasync"], what, os.devnull)
        with Control(tmp_path / name, before) as control:
            answers = [control.ask() for _ in range(20)]
        assert all(error == 0 for error, _, _ in answers)
        times[name] = [statistics.median(it) for it in list(zip(*answers, strict=True))[1:]]
    report(
        "F9",
        20,
        "slow syncs of the control",
        **{
            f"{name}_write_and_sync": f"{write:.2f} and {sync:.2f} ms"
            for name, (write, sync) in times.items()
        },
    )
    assert times["slow"][1] >= SLOW
    assert times["traced"][1] < SLOW
    assert all(write < QUICK for write, _ in times.values()), times
