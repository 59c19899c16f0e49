"""Clients of either API that work in a thread until their server dies."""

import http.client
import threading
import time

from lib import ending
from lib.nosql import Client
from pymongo.errors import PyMongoError


class Untiring:
    """Performs one step after the other. Errors that it observes are in `wrong`."""

    #: Seconds between two steps.
    PAUSE = 0.0

    def begin(self, name, server):
        self.name, self.wrong = name, []
        self.open(server)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def work(self):
        try:
            while True:
                self.step()
                time.sleep(self.PAUSE)
        except Exception as error:
            if not self.is_end(error):
                self.wrong.append(f"{self.name}: {error!r}")
        self.client.close()

    def step(self):
        raise NotImplementedError

    def open(self, server):
        """Opens `client`, a connection of its own to the running server."""
        raise NotImplementedError

    def is_end(self, error):
        """Returns whether this error means that the server stopped."""
        raise NotImplementedError


class OfDocuments(Untiring):
    """A client of the MongoDB API."""

    def open(self, server):
        self.client = server.connect(
            retryWrites=False, retryReads=False, maxPoolSize=1, serverSelectionTimeoutMS=2_000
        )

    def is_end(self, error):
        return isinstance(error, PyMongoError) and ending.is_end(error)


class OfItems(Untiring):
    """A client of the NoSQL API."""

    def open(self, server):
        self.client = Client(server.items.address, timeout=20)

    @staticmethod
    def expect(reply, *statuses):
        """Returns the reply, which must have one of these statuses."""
        if reply.status in (500, 503) and ending.tells_end(str(reply)):
            raise ConnectionError("the server ends")
        assert reply.status in statuses, f"{reply}, expected {statuses}"
        return reply

    def is_end(self, error):
        return isinstance(error, (ConnectionError, http.client.HTTPException, TimeoutError))


def wait(clients, within=30):
    """Waits until all clients have ended; returns their errors."""
    for client in clients:
        client.thread.join(within)
        assert not client.thread.is_alive(), "a client hangs after its server died"
    return [text for client in clients for text in client.wrong]
