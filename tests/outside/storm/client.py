"""What clients of both doors share: a thread that works until its server ends, names of its own and
names of all."""

import random
import threading

from lib.random_choice import weighted

from storm.world import World


class Ended(Exception):
    """The server is gone, or says that it goes: whether the last request was done is open."""


class Refused(Exception):
    """An error came as the answer: the request was not done."""

    def __init__(self, code, text):
        super().__init__(f"{code}: {text}")
        self.code = code


class Client:
    """One client. What it sees that cannot be is in `wrong`."""

    def __init__(self, number, seed, shared):
        self.number, self.shared = number, shared
        self.random = random.Random(f"{seed} {number}")
        self.world = World()
        self.wrong, self.tags = [], 0
        #: Requests that were answered, and those that were refused because others were faster.
        self.acks = self.yields = 0
        self.ended = True
        #: Set where it is to end although its server goes on.
        self.stopping = False

    def begin(self, gate, name):
        """Works in a thread until the end, together with others that wait at the gate; its first
        request makes the same name as theirs."""
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
        """Opens a connection of its own to the server as it runs now."""
        raise NotImplementedError

    def close(self):
        raise NotImplementedError

    def meet(self, name):
        """Puts something into a name that all clients make at this moment."""
        raise NotImplementedError

    def weights(self):
        """What it does, and how often."""
        raise NotImplementedError

    #: Codes of errors that say: others were faster, ask again.
    BUSY = frozenset()
    #: Codes of errors that a name which others change at the same time may give.
    CHANGED = frozenset()

    def new_ids(self, count=1):
        self.tags += count
        return [f"{self.number}-{tag}" for tag in range(self.tags - count, self.tags)]

    def own(self, what, request, *worlds):
        """A request about names of its own: it is done, whatever others do to theirs."""
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
        """A request about names of all: others may have changed them."""
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
