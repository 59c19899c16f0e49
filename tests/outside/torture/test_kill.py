"""kill -9 under load: every acknowledged write is there or has legally expired, nothing is half.

ROUNDS says how many (default 20; 300 with --torture), SEED where they begin.
"""

import os
import random
import time

import pytest

from lib.server import Server
from torture.check import compare
from torture.workload import WRITERS, Writer, build

ROUNDS = int(os.environ.get("ROUNDS", 300 if os.environ.get("TORTURE") == "1" else 20))
SEED = int(os.environ.get("SEED", 1))
#: Every so many rounds the directory is walked as the crash left it.
VERIFY_EVERY = 5


def wait_for_the_end(writers):
    until = time.monotonic() + 15
    while any(writer.ended is None for writer in writers):
        assert time.monotonic() < until, "a writer hangs after its server died"
        time.sleep(0.005)


@pytest.mark.parametrize("reap_delay", ["0", "60"])
def test_kill_under_load(reap_delay):
    dice = random.Random(SEED)
    flags = ["--reap-delay", reap_delay]
    slowest = 0.0
    with Server(data_dir=True, clock="system", flags=flags) as server:
        build(server.client)
        writers = [Writer(number, SEED) for number in range(WRITERS)]
        for round in range(max(1, ROUNDS // 2)):
            for writer in writers:
                writer.attach(server.address)
            time.sleep(dice.uniform(0.1, 1.0))
            server.kill()
            crashed = time.time()
            wait_for_the_end(writers)
            if round % VERIFY_EVERY == VERIFY_EVERY - 1:
                sound(server, f"round {round}, as the crash left it")
            began = time.monotonic()
            server.start()
            slowest = max(slowest, time.monotonic() - began)
            wrong = compare(server.client["torture"], writers, crashed)
            assert wrong == [], f"seed {SEED}, round {round}: " + "\n".join(wrong[:10])
        assert server.stop() == 0
        sound(server, "the end")
    acks = sum(writer.ledger.acks for writer in writers)
    assert acks > 20 * ROUNDS // 2, f"only {acks} acknowledged writes: no load"
    assert slowest < 5.0, f"a restart took {slowest:.1f} s"


def sound(server, when):
    verified = server.verify()
    assert verified.returncode == 0, f"{when}: {verified.stdout}{verified.stderr}"
