"""A server under attack through either API, with a witness: a connection that was opened at the
start, whose data must never change. Defines the checks that run after each attack."""

import contextlib
import threading
import time

import pytest

from lib.wire import WITHIN

#: Limit of resident memory at the end of a module, in bytes, after any requests.
MOST_MEMORY = 800 << 20
#: Limit of a module's log, in bytes: a flood of bad input must not flood the log.
MOST_LOG = 1 << 20


class AttackedServer:
    """A server and its witness. `expected` is the state of the witness's data."""

    most_log = MOST_LOG

    def __init__(self, server):
        self.server = server

    def __enter__(self):
        self.start()
        self.settle()
        self.expected = self.sentinel()
        return self

    def __exit__(self, *_):
        self.witness.close()
        self.server.close()

    def start(self):
        self.server.start()
        self.pid = self.server.process.pid
        self.witness = self.wire()

    # Implemented for each API.

    def wire(self, **options):
        """Opens a connection."""
        raise NotImplementedError

    def settle(self):
        """Stores the witness's data before the attack starts."""
        raise NotImplementedError

    def sentinel(self):
        """Returns the state of the witness's data as bytes."""
        raise NotImplementedError

    def look(self, wire):
        """Reads some of the witness's data on another connection and checks it."""
        raise NotImplementedError

    # Checks.

    def health(self):
        """Checks that the process has not restarted and still serves the witness without delay."""
        began = time.monotonic()
        assert self.server.alive(), f"the server died: {self.log()[-3000:]}"
        assert self.server.process.pid == self.pid
        assert self.sentinel() == self.expected, "the witness's data have changed"
        took = time.monotonic() - began
        assert took < WITHIN, f"the witness waited for {took:.2f} s"

    @contextlib.contextmanager
    def undisturbed(self, longest=WITHIN):
        """Checks that another client is served without delay while the body runs."""
        over, waits, problems = threading.Event(), [0.0], []

        def ask():
            try:
                with self.wire() as wire:
                    while not over.wait(0.02):
                        began = time.monotonic()
                        self.look(wire)
                        waits.append(time.monotonic() - began)
            except (AssertionError, OSError) as problem:
                problems.append(problem)

        bystander = threading.Thread(target=ask, daemon=True)
        bystander.start()
        try:
            yield
        finally:
            over.set()
            bystander.join(40)
        assert not problems, problems
        assert max(waits) < longest, f"another client waited for {max(waits):.2f} s"

    def log(self):
        return self.server.log.read_text(errors="replace")

    def leave(self):
        """Checks that memory and log are within their limits, the log has no panic, the server
        exits cleanly and the directory is undamaged."""
        memory = self.server.rss()
        assert memory < MOST_MEMORY, f"{memory >> 20} MiB are held at the end"
        log = self.log()
        assert "panick" not in log, log[-3000:]
        assert len(log) < self.most_log, f"{len(log)} bytes of log: {log[:1000]}"
        self.witness.close()
        self.server.end()


def fixtures(kind):
    """Returns two fixtures: `attacked`, a server of class `kind` for each module, and `wire`, a
    connection to it."""

    @pytest.fixture(scope="module")
    def attacked():
        """Checks at the end that the server is small and undamaged and stops cleanly."""
        with kind() as attacked:
            yield attacked
            attacked.leave()

    @pytest.fixture
    def wire(attacked):
        with attacked.wire() as wire:
            yield wire

    return attacked, wire
