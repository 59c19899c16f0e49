"""A race at the deadline: writers renew documents within milliseconds of it, beside readers.

Every life has a name that an insert gives it; every operation is kept with its begin and end, on
the machine's monotonic clock, which all processes share. No client may see a life dead and then, in
an operation that begins later, alive.
"""

import multiprocessing
import os
import random
import time

from lib.marks import ON_DISK, SHIFTING
from lib.seed import SEED, TORTURE

IDS = 24
TASKS = ("write", "write", "write", "read", "read", "read")
#: Milliseconds by which a manual clock moves.
MOVES = (1, 3, 10, 100, 400)


class Racer:
    """One process: what it saw is `(life, alive, begin, end, by)`."""

    def __init__(self, server, clock, kind, number, until):
        self.server, self.clock, self.kind = server, clock, kind
        self.number, self.until = number, until
        self.random = random.Random(SEED * 100 + number)
        self.seen, self.last, self.lives = [], {}, 0

    # What each door does in its own way; a life that is not there is None.

    def fields(self):
        """What the next write changes."""
        raise NotImplementedError

    def renew(self, id, fields):
        """Writes to what is there; answers its life."""
        raise NotImplementedError

    def begin(self, id, life):
        """Inserts a new life, if nobody else was faster."""
        raise NotImplementedError

    def point(self, id):
        """The life of one."""
        raise NotImplementedError

    def scans(self):
        """Functions that answer rows of all that live."""
        raise NotImplementedError

    # Tasks.

    def goes_on(self):
        return time.monotonic() < self.until

    def saw(self, id, life, begin, end, by):
        """A life alive, or none, by an operation; the one last seen is then dead."""
        last = self.last.pop(id, None)
        by = f"{by} of process {self.number} found {life}"
        if last not in (None, life):
            self.seen.append((last, False, begin, end, by))
        if life is not None:
            self.last[id] = life
            self.seen.append((life, True, begin, end, by))

    def wait(self):
        """Meets the second's edge, where seconds kill."""
        rest = -time.time() % 1
        if self.clock == "system" and rest > 0.01:
            time.sleep(min(rest - 0.01, 0.05))

    def write(self):
        """Renews; where nothing is there a life begins."""
        while self.goes_on():
            id, fields = self.random.randrange(IDS), self.fields()
            begin = time.monotonic()
            found = self.renew(id, fields)
            self.saw(id, found, begin, time.monotonic(), "renewal")
            if found is None:
                self.lives += 1
                self.begin(id, f"{self.number}-{self.lives}")
            self.wait()

    def read(self):
        scans = self.scans()
        while self.goes_on():
            begin = time.monotonic()
            if self.random.random() < 0.8:
                id = self.random.randrange(IDS)
                life = self.point(id)
                self.saw(id, life, begin, time.monotonic(), "point read")
            else:
                # A later page is an operation of its own; only the whole scan's span is known,
                # so what it shows counts as begun with it, and what it lacks as ended with it.
                number = self.random.randrange(len(scans))
                rows = {row["k"]: row["life"] for row in scans[number]()}
                end = time.monotonic()
                for id in range(IDS):
                    self.saw(id, rows.get(id), begin, end, f"scan {number}")
            self.wait()


def run(racer, kinds, tasks, server, clock, seconds):
    """All tasks on each kind, each in a process of its own; what they saw.

    A manual clock has one mover: two would be in each other's way.
    """
    jobs = [(task, kind) for kind in kinds for task in tasks]
    jobs += [("move", list(kinds)[-1])] * (clock == "manual")
    until = time.monotonic() + seconds
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    workers = []
    for number, (task, kind) in enumerate(jobs):
        args = (racer, task, server, clock, kind, number, until, results)
        workers.append(context.Process(target=work, args=args, daemon=True))
        workers[-1].start()
    found = [results.get(timeout=seconds + 60) for _ in workers]
    for worker in workers:
        worker.join(10)
    return found


def work(racer, task, server, clock, kind, number, until, results):
    client = racer(server, clock, kind, number, until)
    try:
        getattr(client, task)()
        results.put((task, client.seen))
    except Exception as error:
        results.put((task, f"{error!r} {getattr(error, 'details', '')}"))


def judge_all(found):
    """What all tasks answered: none has failed, and what they saw goes together."""
    assert [seen for _, seen in found if isinstance(seen, str)] == []
    judge([one for _, seen in found for one in seen])


def judge(seen):
    """Deaths enough for a race, and no sighting after death."""
    dead = {}
    for life, alive, _, end, *_ in seen:
        if not alive:
            dead[life] = min(end, dead.get(life, end))
    assert len(dead) > 20, f"only {len(dead)} deaths were seen: no race"
    again = {
        life for life, alive, begin, *_ in seen if alive and life in dead and dead[life] < begin
    }
    assert not again, f"seen dead and then alive, of {len(seen)} sightings:\n" + "\n".join(
        line for life in sorted(again) for line in around(seen, life, dead[life])
    )


def around(seen, life, death):
    """What was seen of a life about when it was first seen dead, in seconds from then."""
    yield f"life {life}"
    of = sorted((one for one in seen if one[0] == life), key=lambda one: one[2])
    for _, alive, begin, end, *by in of:
        if end - death > -1 and begin - death < 1:
            word = "alive" if alive else "dead"
            yield f"  {begin - death:+.4f} to {end - death:+.4f} {word} {' '.join(by)}"


def trial(race, clock, ordinary):
    """The test of a race on this clock; RACE_SECONDS sets how long it takes."""
    seconds = float(os.environ.get("RACE_SECONDS", 60 if TORTURE else ordinary))

    @SHIFTING
    @ON_DISK
    def nobody_sees_dead_and_then_alive(disk, shifting):
        race(disk, clock, shifting, seconds)

    return nobody_sees_dead_and_then_alive
