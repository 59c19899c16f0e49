"""What writers of both doors share: a thread that works until its server ends, and a ledger."""

import random
import threading

from lib.random_choice import weighted

from crash.ledger import Ledger


class Worker:
    """One client; ends when its server does. Faults it sees are in `wrong`."""

    def __init__(self, name, seed, times):
        self.name = name
        self.times = times
        self.random = random.Random(seed)
        self.ledger = Ledger(times)
        self.wrong = []
        self.counted = []
        self.ended = None
        #: Set where it is to end although its server goes on.
        self.stopping = False

    def begin(self):
        """A thread runs once; the worker goes on in a new one after a restart."""
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
        """Does one thing."""
        weighted(self.random, self.weights())()

    def weights(self):
        """What that may be, and how often."""
        raise NotImplementedError

    def is_end(self, error):
        """Whether this is how a server ends."""
        raise NotImplementedError

    def close(self):
        """Closes what it asked through."""

    def will_be(self, body, life):
        return lambda begin, end: life.state(body, begin, end)

    def judge(self, key, alive, what):
        """The reply says the document was there, or not: that has to be legal."""
        state, begin, end = self.ledger.get(key), self.ledger.begin, self.times.high()
        if not alive and state.body is not None and end < state.low:
            self.wrong.append(f"lost: {what} of {key} found nothing, known {state}")
        if alive and (state.body is None or state.high <= begin):
            self.wrong.append(f"ghost: {what} of {key} found something, known {state}")
        if not alive:
            self.ledger.gone(key)
