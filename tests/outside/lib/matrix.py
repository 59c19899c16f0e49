"""The ghost matrix of either API: ways to expire, times states of the data, times instants; then
checks of the directory that it leaves. A ghost is an expired document in a reply."""

import random
import re

from lib.paths import FILLERS
from lib.seed import SEED, TORTURE
from lib.server import AT_ONCE, NEVER, Server

#: Milliseconds relative to the deadline.
INSTANTS = (-1_000, -1, 0, 1, 1_000) if TORTURE else (-1_000, -1, 0, 1_000)

#: name: (data directory, flags, steps after the clock has moved)
STATES = {
    "unreaped": (None, NEVER, None),
    "unreaped-disk": (True, NEVER, None),
    "reaped": (None, AT_ONCE, "reap"),
    "reaped-disk": (True, AT_ONCE, "reap"),
    "restarted": (True, NEVER, "restart"),
    "reaped-restarted": (True, AT_ONCE, "reap restart"),
}


def dealt(kinds, salt=""):
    """Returns pairs of state and kind: all kinds, shuffled, are dealt to the states in turn. The
    ordinary run has four kinds for each state in memory, two for each on disk.
    """
    if TORTURE:
        return [(state, kind) for state in STATES for kind in kinds]
    deck = list(kinds)
    random.Random(f"{SEED}{salt}").shuffle(deck)
    turns = [state for state, (disk, *_) in STATES.items() for _ in range(2 if disk else 4)]
    return [(state, deck[at % len(deck)]) for at, state in enumerate(turns)]


def all_are_dealt(pairs, kinds):
    """Checks that every state and every kind is used, and no pair twice."""
    assert len(set(pairs)) == len(pairs)
    assert {state for state, _ in pairs} == set(STATES)
    assert {kind for _, kind in pairs} == set(kinds)


class Matrix:
    """One kind in one state. `cells[(path, instant)]` is True, False or the error. A given `server`
    is used instead of a new one."""

    def __init__(self, kind, state, instants=INSTANTS, server=None, **options):
        self.kind = kind
        self.instants = instants
        data_dir, flags, self.then = STATES[state]
        self.server = server or Server(data_dir=data_dir, flags=flags, **options)
        self.cells = {}
        #: Number of documents reaped before the first read, by instant.
        self.deleted = {}

    def settle(self, instant):
        """Brings the data into its state after the clock has moved."""
        for step in (self.then or "").split():
            if step == "reap":
                self.reap(instant)
                deleted = self.server.ttl_metrics()["deletedDocuments"]
                # The server's counter starts at 0 after each start.
                self.deleted[instant] = deleted + max(self.deleted.values(), default=0) * (
                    "restart" in self.then
                )
            else:
                self.server.restart()

    def reap(self, instant):
        """Waits for the reaper."""
        raise NotImplementedError

    def worth_reaping(self, instant):
        """Returns whether the reaper must have found expired data by then."""
        return True

    def end(self):
        """Stops the server cleanly and verifies the data directory."""
        self.server.leave()
        self.verified = self.server.verify() if self.server.data_dir else None

    def dead_entries(self):
        """Returns the number of entries of expired documents still on disk in `r`."""
        found = re.search(r"^r\.r: .* (\d+) entries of expired", self.verified.stdout, re.MULTILINE)
        return int(found[1])


class Left:
    """Tests of a matrix's data directory, for classes parametrized by state and kind."""

    def test_data_is_sound(self, matrices, state, kind):
        verified = matrices(state, kind).verified
        if verified is not None:
            assert verified.returncode == 0, verified.stdout + verified.stderr

    def test_reaping_is_what_the_state_says(self, matrices, state, kind):
        matrix = matrices(state, kind)
        if not state.startswith("reaped"):
            assert matrix.deleted == {}
            assert matrix.verified is None or matrix.dead_entries() >= FILLERS
            return
        assert list(matrix.deleted) == list(INSTANTS)
        for instant, deleted in matrix.deleted.items():
            if instant < 0:
                assert deleted == 0, instant
            elif matrix.worth_reaping(instant):
                assert deleted >= FILLERS, instant
        assert matrix.verified is None or matrix.dead_entries() == 0
