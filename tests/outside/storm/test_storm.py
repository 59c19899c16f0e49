"""The catalog storm: twelve clients of both APIs create, fill, rename, change and drop everything
that has a name, until SIGTERM or SIGKILL. Then every acknowledged document is present under its
last name, dropped data does not exist, counts are correct and the directory is undamaged. ROUNDS is
the number of rounds (default 10; 200 with --torture), SEED seeds them.
"""

import os
import random
import threading
import time

from lib.seed import SEED, TORTURE
from lib.server import Server

from storm.check import compare
from storm.documents import COMMON, Documents
from storm.items import Items
from storm.shared import Shared

ROUNDS = int(os.environ.get("ROUNDS", 200 if TORTURE else 10))
DOCUMENT_CLIENTS, ITEM_CLIENTS = 7, 5
#: Names that are new to all clients in their round; they are reused after this many rounds.
NEW = 4


class Storm:
    """A server and its clients over all rounds."""

    def __init__(self, server):
        self.server, self.shared, self.rng = server, Shared(), random.Random(SEED)
        self.clients = [Documents(n, SEED, self.shared, server) for n in range(DOCUMENT_CLIENTS)]
        self.clients += [
            Items(DOCUMENT_CLIENTS + n, SEED, self.shared, server) for n in range(ITEM_CLIENTS)
        ]

    def fresh(self, round):
        """Returns a name that is unused in both APIs, for all clients to create."""
        name = f"new{round % NEW}"
        for door in ("mongo", "nosql"):
            place = door, COMMON[0], name
            entries = self.shared.change(gone=lambda other, place=place: other == place)
            if door == "mongo":
                self.server.client[COMMON[0]][name].drop()
            else:
                reply = self.server.items.call("DELETE", f"dbs/{COMMON[0]}/colls/{name}")
                assert reply.status in (204, 404), reply
            self.shared.answer(entries)
        return name

    def round(self, round):
        """Works for a while and stops or kills the server; returns which."""
        name, gate = self.fresh(round), threading.Barrier(len(self.clients))
        before = [client.acks for client in self.clients]
        for client in self.clients:
            client.begin(gate, name)
        time.sleep(self.rng.uniform(0.3, 1.2))
        # On a busy machine the clients may not have started yet: wait until each has had replies.
        until = time.monotonic() + 10
        while not self.has_begun(before) and time.monotonic() < until:
            time.sleep(0.005)
        end = self.rng.choice(["kill", "stop"])
        if end == "kill":
            self.server.kill()
        else:
            self.server.process.terminate()
            code = self.server.process.wait(10)
            assert code == 0, f"exit {code} on SIGTERM"
        until = time.monotonic() + 15
        while not all(client.ended for client in self.clients):
            assert time.monotonic() < until, "a client hangs after its server ended"
            time.sleep(0.005)
        return end

    def has_begun(self, before):
        """Returns whether each client has had two more replies than before."""
        pairs = zip(self.clients, before, strict=True)
        return all(acks + 2 <= client.acks for client, acks in pairs)

    def wrong(self):
        """Returns the errors in the closed directory and after a new start."""
        verified = self.server.verify()
        self.server.start()
        wrong = compare(self.server, self.clients, self.shared)
        if verified.returncode:
            wrong.append(
                f"verify ends with {verified.returncode}: {verified.stdout[-500:]}"
                f"{verified.stderr[-500:]}"
            )
        return wrong


def test_storm(report):
    ends = {"kill": 0, "stop": 0}
    with Server(data_dir=True, nosql=True) as server:
        storm = Storm(server)
        for round in range(ROUNDS):
            told = f"SEED={SEED}, round {round}"
            try:
                end = storm.round(round)
                wrong = storm.wrong()
            except AssertionError as error:
                raise AssertionError(f"{told}: {error}") from error
            ends[end] += 1
            assert wrong == [], f"{told} ({end}), {len(wrong)} things:\n" + "\n".join(wrong[:12])
        server.end()
    acks, yields = (
        sum(getattr(client, name) for client in storm.clients) for name in ("acks", "yields")
    )
    report(
        "F1",
        ROUNDS,
        f"ends of a storm of the catalog ({ends['kill']} by SIGKILL, {ends['stop']} by SIGTERM)",
        seed=SEED,
        acknowledged=acks,
        refused_because_others_were_faster=yields,
    )
    assert all(client.acks > ROUNDS for client in storm.clients), "hardly any storm"
