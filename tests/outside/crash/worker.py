"""The base of both APIs' writers: a thread that works until its server stops, and a ledger."""

import random
import threading

from lib.random_choice import weighted

from crash.ledger import Ledger


class Worker:
    """One client; it ends when its server does. Errors that it observes are in `wrong`."""

    def __init__(self, name, seed, times):
        self.name = name
        self.times = times
        self.random = random.Random(seed)
        self.ledger = Ledger(times)
        self.wrong = []
        self.counted = []
        self.ended = None
        #: Set to stop the worker while its server keeps running.
        self.stopping = False

    def begin(self):
        """Starts a new thread, also after each restart of the server."""
        self.ended, self.stopping = None, False
        threading.Thread(target=self.work, daemon=True, name=self.name).start()

    def work(self):
        ended = "told to"
        try:
            while not self.stopping:
                self.one()
        except Exception as error:
            if not self.is_end(error):
                self.wrong.append(f"{self.name}: {error!r}")
            ended = error
        self.close()
        self.ended = ended

    def one(self):
        """Performs one step."""
        weighted(self.random, self.weights())()

    def weights(self):
        """Returns the possible steps and the weight of each."""
        raise NotImplementedError

    def is_end(self, error):
        """Returns whether this error means that the server stopped."""
        raise NotImplementedError

    def close(self):
        """Closes the client."""

    def will_be(self, body, life):
        return lambda begin, end: life.state(body, begin, end)

    def judge(self, key, alive, what):
        """Checks a reply that reports whether the document exists against the ledger."""
        state, begin, end = self.ledger.get(key), self.ledger.begin, self.times.high()
        if not alive and state.body is not None and end < state.low:
            self.wrong.append(f"lost: {what} of {key} found nothing, known {state}")
        if alive and (state.body is None or state.high <= begin):
            self.wrong.append(f"ghost: {what} of {key} found something, known {state}")
        if not alive:
            self.ledger.gone(key)
