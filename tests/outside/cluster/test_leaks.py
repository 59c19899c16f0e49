"""Nodes that repeatedly become the owner hold no more threads, files and memory than after the
first few times. TAKE_OVERS is the number of take-overs (default 6; 100 with --torture)."""

import os
import pathlib
import time

from lib.cluster import Cluster
from lib.seed import TORTURE

from cluster.questions import Crowd, prepare, wrong

TAKE_OVERS = int(os.environ.get("TAKE_OVERS", 100 if TORTURE else 6))
#: Take-overs before the first measurement; each node has then been the owner equally often.
FIRST = 12 if TORTURE else 3
#: Allowed growth, however many take-overs there were: idle worker threads come and go.
MORE = {"threads": 12, "files": 16, "MiB": 64}
#: Seconds within which the engine of a previous term has been closed.
SETTLED = 20.0


def held(node):
    """Returns the resources that a process holds."""
    of = pathlib.Path(f"/proc/{node.process.pid}")
    return {
        "threads": len(os.listdir(of / "task")),
        "files": len(os.listdir(of / "fd")),
        "MiB": node.rss() >> 20,
    }


def more(before, now):
    """Returns the resources that grew beyond the limits."""
    return {
        (name, what): (figures[what], now[name][what])
        for name, figures in before.items()
        for what, most in MORE.items()
        if now[name][what] > figures[what] + most
    }


def take_over(cluster, number):
    """Makes the next node the owner, while clients of both APIs connect to all nodes and leave."""
    to = cluster.nodes[number % len(cluster.nodes)]
    if cluster.owner() is not to:
        cluster.hand_over(to)
    assert cluster.owner() is to
    assert wrong(Crowd(cluster.nodes, f"{number}", warm=False).ask().answers()) == []


def test_take_overs_leave_nothing(capsys):
    with Cluster() as cluster:
        prepare(cluster.owner(), "v")
        for number in range(FIRST):
            take_over(cluster, number)
        time.sleep(1)
        before = {node.name: held(node) for node in cluster.nodes}
        began = time.monotonic()
        for number in range(FIRST, TAKE_OVERS):
            take_over(cluster, number)
        each = (time.monotonic() - began) / (TAKE_OVERS - FIRST)
        until = time.monotonic() + SETTLED
        while True:
            now = {node.name: held(node) for node in cluster.nodes}
            if not more(before, now) or until < time.monotonic():
                break
            time.sleep(0.1)
        assert more(before, now) == {}, f"before and after {TAKE_OVERS} take-overs"
        assert {node.starts for node in cluster.nodes} == {1}
    with capsys.disabled():
        print(f"\n{TAKE_OVERS} take-overs, {each:.2f} s each; held after {FIRST} and after all:")
        for name, figures in before.items():
            told = ", ".join(f"{what} {figures[what]} {now[name][what]}" for what in MORE)
            print(f"  {name}: {told}")
