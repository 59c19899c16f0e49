"""Clients of both APIs, a moving clock, and a large unchanging data set, while backups are taken:
one load over all restarts of its server."""

import random

from crash.check import await_rules
from crash.clients import wait

from backup.gate import Gate
from backup.steps import DocumentSteps, ItemSteps, Lives

DOCUMENT_CLIENTS, ITEM_CLIENTS = 3, 2
#: Number of rows that do not change, so that a backup takes a while.
BALLAST = 8_000
#: TTLs for a manual clock, which moves by seconds, and for one that is an hour behind the
#: machine's. With the latter nothing expires while clients work, and no deadline is near an instant
#: at which data is compared.
SHORT = Lives((3, 8, 20, 60), (500, 4_000, 30_000))
LONG = Lives((2_400, 3_000, 12_000, 60_000), (2_400_000, 14_000_000, 100_000_000))


class Load:
    """The clients of one server."""

    def __init__(self, server, seed, manual):
        lives = SHORT if manual else LONG
        documents = [DocumentSteps("docs", n, seed, lives) for n in range(DOCUMENT_CLIENTS)]
        items = [ItemSteps("items", n, seed, lives) for n in range(ITEM_CLIENTS)]
        self.server, self.clients = server, [*documents, *items]
        self.gate = Gate(seed, self.clients, manual)
        noise = random.Random(seed)
        server.client["ballast"]["rows"].insert_many(
            {"_id": number, "pad": noise.randbytes(300)} for number in range(BALLAST)
        )
        server.items.create_database("ballast")
        anchor = server.items.container("ballast", "anchors")
        assert anchor.define(defaultTtl=-1).status == 201
        reply = anchor.create({"id": "anchor", "pk": "a"})
        assert reply.status == 201, reply
        #: The second of its last write, from which the shift by a restore is calculated.
        self.anchor = reply.json["_ts"]
        for client in items:
            server.items.create_database(client.database)

    def begin(self):
        self.gate.attach(self.server)
        for client in self.clients:
            client.attach(self.server, self.gate)

    def stop(self):
        """Stops the clients; the server keeps running."""
        for client in self.clients:
            client.stopping = True
        wrong = wait(self.clients)
        self.gate.stop()
        assert wrong == [], "\n".join(wrong)

    def kill(self):
        """Kills the server during the load and starts it; steps without a reply may be done."""
        self.server.kill()
        wrong = wait(self.clients)
        self.gate.stop()
        assert wrong == [], "\n".join(wrong)
        self.server.start()
        await_all(self.server, self.clients)
        at, now = max(self.begun_at()), self.server.now_ms()
        for client in self.clients:
            found = client.found(self.server.client, self.server.items)
            told = client.book.settle(found, now, at)
            assert told is None, f"after a kill, {client.database}: {told}"
            client.learn(self.server.items)

    def begun_at(self):
        """Returns when the last step of each client was begun."""
        return [client.book.entries[-1].begun for client in self.clients]

    def done(self):
        return [client.book.last() for client in self.clients]

    def begun(self):
        return [client.book.begun() for client in self.clients]

    def steps(self):
        """Returns the number of acknowledged steps."""
        return sum(
            entry.answered is not None for client in self.clients for entry in client.book.entries
        )

    def ballast(self):
        """Returns the number of rows besides those of the clients."""
        return BALLAST + 1


def await_all(server, clients):
    """Waits for TTL indexes whose build resumes after a kill or in a restored directory."""
    for client in clients:
        database = server.client[client.database]
        for name in database.list_collection_names():
            await_rules(database[name])
