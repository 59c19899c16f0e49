"""Every reply about expiring documents is correct at the database time that it contains: nothing in
it has expired, no live document is missing, and nothing reappears after SIGKILL.

ROUNDS is the number of kills (default 4; 400 with --torture), half on the system clock and half on
a manual one, SEED seeds them.
"""

import os
import random
import time

import pytest
from lib.seed import SEED, TORTURE
from lib.server import Server

from crash.clients import wait
from crash.mortals import COLLECTIONS, CONTAINERS, MortalDocuments, MortalItems, make
from crash.times import ManualTimes
from crash.ttl_oracle import Oracle

ROUNDS = -(-int(os.environ.get("ROUNDS", 400 if TORTURE else 4)) // 2)
#: Clients of each collection; milliseconds after which an expired document is not checked any more.
CLIENTS, OLD = 2, 60_000


@pytest.mark.parametrize(("clock", "reap_delay"), [("system", "0"), ("manual", "0")])
def test_every_reply_is_of_its_instant(clock, reap_delay, report):
    rng, writes = random.Random(f"{SEED} {clock}"), 0
    kinds = dict.fromkeys(COLLECTIONS, MortalDocuments) | dict.fromkeys(CONTAINERS, MortalItems)
    oracles = {name: Oracle(name) for name in kinds}
    flags = ["--reap-delay", reap_delay]
    with Server(data_dir=True, clock=clock, flags=flags, nosql=True) as server:
        make(server)
        times = ManualTimes(SEED)
        for round in range(ROUNDS):
            if clock == "manual":
                times.attach(server)
                times.move(server)
            clients = [
                kind(server, oracles[name], name, f"{round}-{number}", SEED)
                for name, kind in kinds.items()
                for number in range(CLIENTS)
            ]
            time.sleep(rng.uniform(0.3, 1.5))
            times.stop()
            server.kill()
            wrong = wait(clients)
            writes += sum(client.writes for client in clients)
            for oracle in oracles.values():
                wrong += oracle.wrong
                oracle.died(OLD)
            assert wrong == [], f"SEED={SEED}, round {round}: " + "\n".join(wrong[:10])
            server.start()
        server.end()
    reads, expired = (sum(getattr(it, n) for it in oracles.values()) for n in ("reads", "expired"))
    report(
        "F1",
        ROUNDS,
        f"kills among mortal documents, {clock} clock",
        seed=SEED,
        reads_judged=reads,
        writes=writes,
        absences_of_expired_judged=expired,
    )
    assert reads > 5 * ROUNDS and expired > ROUNDS, "hardly anything was judged"
