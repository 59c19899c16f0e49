"""Tests that a reply belongs to one instant: one thread moves the clock while others read."""

import random
import threading

from lib.seed import SEED

READERS = 3
PAD = "x" * 300


class Clock:
    """Bounds of the time: the last requested move (`asked`) and the last confirmed one (`done`)."""

    def __init__(self, server):
        self.server = server
        self.start = server.now_ms() // 1000
        self.done = self.asked = 0

    def to(self, second):
        self.asked = second
        self.server.move_to((self.start + second) * 1000)
        self.done = second


class Reader(threading.Thread):
    """Reads in many ways until the clock stops; `wrong` collects replies that match no instant."""

    def __init__(self, clock, number, ended):
        super().__init__(daemon=True)
        self.clock, self.ended = clock, ended
        self.random = random.Random(SEED + number)
        #: Number of reads, and of replies that came in several parts.
        self.asked = self.parts = 0
        self.wrong = []

    def questions(self):
        """Returns the reads to choose from."""
        raise NotImplementedError

    def run(self):
        questions = self.questions()
        try:
            while not self.ended.is_set():
                self.random.choice(questions)()
                self.asked += 1
        except Exception as error:
            self.wrong.append(repr(error))

    def timed(self, ask):
        """Returns the reply, and the seconds that it may belong to."""
        begin = self.clock.done
        reply = ask()
        return reply, range(begin, self.clock.asked + 1)

    def judge(self, what, found, seconds, expect):
        if not any(expect(second) == found for second in seconds):
            near = {second: expect(second) for second in seconds}
            if isinstance(found, list):
                near = {second: sorted(set(ids) ^ set(found))[:9] for second, ids in near.items()}
            self.wrong.append(
                f"{what} at {seconds}, SEED={SEED}: {str(found)[:200]}, differs by {near}"
            )


def watched(clock, reader, seconds):
    """Moves the clock through these seconds while readers run; `reader(number, ended)` creates
    one."""
    ended = threading.Event()
    readers = [reader(number, ended) for number in range(READERS)]
    for one in readers:
        one.start()
    for step, second in enumerate(seconds):
        # On a slow machine too there is at least one read for every two moves.
        while sum(one.asked for one in readers) < step / 2:
            assert all(one.is_alive() for one in readers), [one.wrong for one in readers]
            ended.wait(0.001)
        clock.to(second)
    ended.set()
    for one in readers:
        one.join(30)
    return readers


def judge(readers):
    """Checks that no reply mixes two instants, and that some replies came in several parts."""
    assert [text for reader in readers for text in reader.wrong][:5] == []
    assert sum(reader.parts for reader in readers) > 5, "hardly an answer came in parts"
