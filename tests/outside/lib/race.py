"""A race at the deadline: writers renew documents within milliseconds of it while readers read.

Every insert starts a new life and names it. Every operation is recorded with its start and end on
the machine's monotonic clock, which all processes share. No client may see a life expired and then,
in an operation that starts later, live.
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


#: Attempts until a race sees enough expirations, each twice as long as the one before: on a busy
#: machine a short race may see too few.
ATTEMPTS = 5


class NoRace(AssertionError):
    """Too few lives expired to prove anything."""


class Racer:
    """One process. It records `(life, alive, begin, end, by)` for each observation."""

    def __init__(self, server, clock, kind, number, until):
        self.server, self.clock, self.kind = server, clock, kind
        self.number, self.until = number, until
        self.random = random.Random(SEED * 100 + number)
        self.seen, self.last, self.lives = [], {}, 0

    # Implemented for each API; None is the life of a document that does not exist.

    def fields(self):
        """Returns the fields that the next write changes."""
        raise NotImplementedError

    def renew(self, id, fields):
        """Updates a live document and returns its life."""
        raise NotImplementedError

    def begin(self, id, life):
        """Inserts a new life, unless another process was first."""
        raise NotImplementedError

    def point(self, id):
        """Returns the life of one document."""
        raise NotImplementedError

    def scans(self):
        """Returns functions that read all live documents."""
        raise NotImplementedError

    # Tasks.

    def goes_on(self):
        return time.monotonic() < self.until

    def saw(self, id, life, begin, end, by):
        """Records that `life` is live (None: none is); another life seen before has expired."""
        last = self.last.pop(id, None)
        by = f"{by} of process {self.number} found {life}"
        if last not in (None, life):
            self.seen.append((last, False, begin, end, by))
        if life is not None:
            self.last[id] = life
            self.seen.append((life, True, begin, end, by))

    def wait(self):
        """Waits until shortly before the next full second, when documents expire."""
        rest = -time.time() % 1
        if self.clock == "system" and rest > 0.01:
            time.sleep(min(rest - 0.01, 0.05))

    def write(self):
        """Renews documents; creates missing ones."""
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
                # Each page is an operation of its own, but only the span of the whole scan is
                # known: live documents count as seen at its start, missing ones as seen at its end.
                number = self.random.randrange(len(scans))
                rows = {row["k"]: row["life"] for row in scans[number]()}
                end = time.monotonic()
                for id in range(IDS):
                    self.saw(id, rows.get(id), begin, end, f"scan {number}")
            self.wait()


def run(racer, kinds, tasks, server, clock, seconds):
    """Runs all tasks on each kind, each in its own process, and returns their observations. A
    manual clock is moved by one process only: two would disturb each other.
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
    """Checks that no task failed and that their observations are consistent."""
    assert [seen for _, seen in found if isinstance(seen, str)] == []
    judge([one for _, seen in found for one in seen])


def judge(seen):
    """Checks that enough lives expired for a race, and that none was seen live afterwards."""
    dead = {}
    for life, alive, _, end, *_ in seen:
        if not alive:
            dead[life] = min(end, dead.get(life, end))
    if len(dead) <= 20:
        raise NoRace(f"only {len(dead)} deaths were seen: no race")
    again = {
        life for life, alive, begin, *_ in seen if alive and life in dead and dead[life] < begin
    }
    assert not again, f"seen dead and then alive, of {len(seen)} sightings:\n" + "\n".join(
        line for life in sorted(again) for line in around(seen, life, dead[life])
    )


def around(seen, life, death):
    """Yields a life's observations within a second of its first expired one, relative to it."""
    yield f"life {life}"
    of = sorted((one for one in seen if one[0] == life), key=lambda one: one[2])
    for _, alive, begin, end, *by in of:
        if end - death > -1 and begin - death < 1:
            word = "alive" if alive else "dead"
            yield f"  {begin - death:+.4f} to {end - death:+.4f} {word} {' '.join(by)}"


def trial(race, clock, ordinary):
    """Returns the test of a race on this clock; RACE_SECONDS sets its duration."""
    seconds = float(os.environ.get("RACE_SECONDS", 60 if TORTURE else ordinary))

    @SHIFTING
    @ON_DISK
    def nobody_sees_dead_and_then_alive(disk, shifting):
        for attempt in range(ATTEMPTS):
            try:
                race(disk, clock, shifting, seconds * 2**attempt)
                break
            except NoRace:
                if attempt + 1 == ATTEMPTS:
                    raise

    return nobody_sees_dead_and_then_alive
