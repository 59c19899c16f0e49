"""Concurrent transactions over two databases until the server is killed: each is present as a whole
or not at all, none was lost, and a commit without a reply is answered after the restart by its
outcome. All that transactions read was a snapshot.

ROUNDS is the number of kills (default 6; 300 with --torture). One data directory holds all rounds.
"""

import os
import random
import time

from lib.seed import SEED, TORTURE
from lib.server import Server

from crash.clients import wait
from crash.transfers import Transaction, Transferring, anomalies, final_lists, repeat_commits

ROUNDS = int(os.environ.get("ROUNDS", 300 if TORTURE else 6))
CLIENTS = 6
PLACE = ("one", "lists", 0)
OTHER = ("two", "lists", 1)


def test_transactions(report):
    rng, done = random.Random(SEED), []
    with Server(data_dir=True, clock="system") as server:
        for round in range(ROUNDS):
            clients = [Transferring(server, f"{SEED} {round} {n}") for n in range(CLIENTS)]
            time.sleep(rng.uniform(0.3, 1.5))
            server.kill()
            wrong = wait(clients)
            server.start()
            transactions = [it for client in clients for it in client.done]
            repeat_commits(server, transactions)
            done += transactions
            wrong += anomalies(final_lists(server.client), done)
            assert wrong == [], f"SEED={SEED}, round {round}: " + "\n".join(wrong[:10])
        server.end()
    committed = sum(it.committed is True for it in done)
    report("F2", ROUNDS, "kills of transactions", seed=SEED, committed=committed, all=len(done))
    assert committed > 5 * ROUNDS, "hardly any transaction"


def transaction(name, reads, appends, committed=True):
    made = Transaction(name, {}, 1)
    made.reads, made.appends, made.committed = reads, dict.fromkeys(appends, name), committed
    return made


def test_of_the_check():
    """The check finds each anomaly that it is meant to find."""
    lists = {PLACE: ["a", "b"], OTHER: ["a"]}
    both = transaction("a", {PLACE: [], OTHER: []}, [PLACE, OTHER])
    then = transaction("b", {PLACE: ["a"], OTHER: ["a"]}, [PLACE])
    assert anomalies(lists, [both, then]) == []
    for wrong in [
        transaction("a", {}, [PLACE], committed=False),
        transaction("c", {}, [PLACE]),
        transaction("a", {}, [PLACE, OTHER, ("two", "lists", 3)], committed=None),
        transaction("r", {PLACE: ["b"]}, []),
        transaction("r", {PLACE: ["a"], OTHER: []}, []),
        transaction("b", {PLACE: []}, [PLACE]),
    ]:
        assert anomalies({**lists, ("two", "lists", 3): []}, [wrong]) != [], wrong.name
    assert anomalies({PLACE: ["a", "a"]}, []) != []
