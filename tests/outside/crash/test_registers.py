"""Histories of single documents of both APIs are linearizable over SIGKILL: an operation with a
reply took effect once, at some moment between request and reply; one without took effect before the
server died or never.

ROUNDS is the number of kills (default 3; 400 with --torture), SEED seeds them.
"""

import os
import random
import time

from lib.registers import UNKNOWN, Operation, wrong
from lib.seed import SEED, TORTURE
from lib.server import Server

from crash.clients import wait
from crash.registering import DATABASE, DocumentRegistering, ItemRegistering

ROUNDS = int(os.environ.get("ROUNDS", 400 if TORTURE else 3))
#: Number of registers of each API at a time, and number of kills within one history.
REGISTERS, LASTING = 4, 3
CLIENTS = 3


def names(kind, round):
    return [f"{kind}{round // LASTING}-{number}" for number in range(REGISTERS)]


def last(server, registers):
    """Reads each register after the last kill of its history."""
    container = server.items.container(DATABASE, "r")
    for id in registers:
        begin = time.monotonic()
        if id[0] == "d":
            found = server.client[DATABASE]["r"].find_one({"_id": id})
        else:
            reply = container.read(id, "a")
            assert reply.status in (200, 404), reply
            found = reply.json if reply.status == 200 else None
        yield id, Operation("read", begin, time.monotonic(), found and found["v"])


def test_registers_are_linearizable(report):
    rng, operations, unanswered, count = random.Random(SEED), 0, 0, 0
    registers = {}
    with Server(data_dir=True, clock="system", nosql=True) as server:
        server.client[DATABASE].create_collection("r")
        assert server.items.create_database(DATABASE).status == 201
        assert server.items.container(DATABASE, "r").define().status == 201
        for round in range(ROUNDS):
            if round % LASTING == 0:
                registers = {}
            clients = [
                kind(server, f"{name}{round}-{number}", SEED, names(name, round))
                for kind, name in ((DocumentRegistering, "d"), (ItemRegistering, "i"))
                for number in range(CLIENTS)
            ]
            time.sleep(rng.uniform(0.2, 0.8))
            server.kill()
            died = time.monotonic()
            found = wait(clients)
            assert found == [], f"SEED={SEED}, round {round}: {found}"
            for client in clients:
                client.ended(died)
                for id, operation in client.history:
                    registers.setdefault(id, []).append(operation)
                    operations += 1
                    unanswered += operation.answer is UNKNOWN
            server.start()
            if round % LASTING == LASTING - 1 or round == ROUNDS - 1:
                for id, operation in last(server, registers):
                    registers[id].append(operation)
                count += len(registers)
                found = wrong(registers)
                assert found == [], f"SEED={SEED}, round {round}: {found[0]}"
        server.end()
    report(
        "F1",
        ROUNDS,
        "kills among reads and swaps of single documents",
        seed=SEED,
        operations=operations,
        registers=count,
        unanswered=unanswered,
    )
    assert operations > 20 * ROUNDS, "hardly any operation"
    assert unanswered > 0, "no request was under way at any kill"
