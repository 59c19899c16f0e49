"""The loop of MongoDB's SERVER-139311: a counter is incremented by findAndModify with j: true until
the server is killed. The value after the next start is at least the last acknowledged one, and at
most one more for each request without a reply.

ROUNDS is the number of kills (default 8; 2,000 with --torture), half of them with one counter and
one client, half with several of both APIs. One data directory holds all rounds of a kind.
"""

import os
import random
import time

import pytest
from lib.seed import SEED, TORTURE
from lib.server import Server

from crash.clients import wait
from crash.counters import Counter, DocumentCounting, ItemCounting, make, read

ROUNDS = -(-int(os.environ.get("ROUNDS", 2_000 if TORTURE else 8)) // 2)
#: Names of counters by API, and the number of clients of each API.
KINDS = {
    "one": (["d0"], 1, [], 0),
    "several": (["d0", "d1", "d2"], 5, ["i0", "i1"], 3),
}
#: `ebb verify` checks the directory after each such number of rounds.
VERIFIED = 25


def chooser(counters, seed):
    """Returns a function that chooses counters by the seed."""
    choice = random.Random(seed)
    return lambda: choice.choice(counters)


@pytest.mark.parametrize("kind", KINDS)
def test_counters(kind, report):
    documents, document_clients, items, item_clients = KINDS[kind]
    counters = {name: Counter(name) for name in [*documents, *items]}
    rng, acknowledged, unanswered, slowest = random.Random(f"{SEED} {kind}"), 0, 0, 0.0
    with Server(data_dir=True, clock="system", nosql=True) as server:
        make(server, documents, items)
        for round in range(ROUNDS):
            among = [[counters[name] for name in names] for names in (documents, items)]
            clients = [
                *(
                    DocumentCounting(server, chooser(among[0], f"{SEED} {round} d{n}"))
                    for n in range(document_clients)
                ),
                *(
                    ItemCounting(server, chooser(among[1], f"{SEED} {round} i{n}"))
                    for n in range(item_clients)
                ),
            ]
            time.sleep(rng.uniform(0.1, 1.0))
            server.kill()
            wrong = wait(clients)
            if round % VERIFIED == 0:
                server.sound()
            began = time.monotonic()
            server.start()
            slowest = max(slowest, time.monotonic() - began)
            found = read(server, documents, items)
            for name, counter in counters.items():
                acknowledged += len(counter.answers)
                unanswered += counter.sent - len(counter.answers)
                wrong += counter.settle(found[name])
            assert wrong == [], f"SEED={SEED}, {kind}, round {round}: " + "\n".join(wrong)
        server.end()
    report(
        "F2",
        ROUNDS,
        f"kills of {kind} counting",
        seed=SEED,
        acknowledged=acknowledged,
        unanswered=unanswered,
        slowest_start=f"{slowest:.2f} s",
    )
    assert acknowledged > 5 * ROUNDS, "hardly any count"
