"""The base of the clients of both APIs: a thread that works until its server stops, names of its
own and names that all clients share."""

import random
import threading

from lib.random_choice import weighted

from storm.world import World


class Ended(Exception):
    """The server stops or has died: whether the last request was done is unknown."""


class Refused(Exception):
    """The reply was an error: the request was not done."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code


class Client:
    """One client. Errors that it observes are in `wrong`."""

    def __init__(self, number, seed, shared):
        self.number, self.shared = number, shared
        self.random = random.Random(f"{seed} {number}")
        self.world = World()
        self.wrong, self.tags = [], 0
        #: Number of acknowledged requests, and of those refused because other clients were first.
        self.acks = self.yields = 0
        self.ended = True
        #: Set to stop the client while its server keeps running.
        self.stopping = False

    def begin(self, gate, name):
        """Works in a thread until its end. It starts together with the clients that wait at the
        gate; the first request of all creates the same name."""
        self.ended = self.stopping = False
        self.connect()
        threading.Thread(target=self.work, args=(gate, name), daemon=True).start()

    def work(self, gate, name):
        try:
            gate.wait(30)
            self.meet(name)
            while not self.stopping:
                weighted(self.random, self.weights())()
        except Ended:
            pass
        except Exception as error:
            self.wrong.append(f"client {self.number}: {error!r}")
        self.close()
        self.ended = True

    def connect(self):
        """Opens a connection of its own to the running server."""
        raise NotImplementedError

    def close(self):
        raise NotImplementedError

    def meet(self, name):
        """Writes into a name that all clients create at this moment."""
        raise NotImplementedError

    def weights(self):
        """Returns the possible steps and the weight of each."""
        raise NotImplementedError

    #: Error codes of conflicts after which a client retries.
    BUSY = frozenset()
    #: Error codes that are allowed when other clients change the same name.
    CHANGED = frozenset()

    def new_ids(self, count=1):
        self.tags += count
        return [f"{self.number}-{tag}" for tag in range(self.tags - count, self.tags)]

    def own(self, what, request, *worlds):
        """Sends a request about the client's own names, which must always succeed."""
        self.world.intend(what, *worlds)
        try:
            answer = request()
        except Refused as refusal:
            self.world.refuse()
            self.yields += 1
            if refusal.code not in self.BUSY:
                self.wrong.append(f"client {self.number}: {what} was refused: {refusal}")
            return None
        self.world.acknowledge()
        self.acks += 1
        return answer

    def common(self, what, request, entries):
        """Sends a request about shared names: other clients may have changed them."""
        try:
            request()
        except Refused as refusal:
            self.shared.answer(entries, False)
            self.yields += 1
            if refusal.code not in self.BUSY | self.CHANGED:
                self.wrong.append(f"client {self.number}: {what} was refused: {refusal}")
            return False
        self.shared.answer(entries)
        self.acks += 1
        return True
